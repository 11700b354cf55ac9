//===- ScheduleTableTest.cpp - The tables that are built in ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Schedule/ScheduleTable.h"

#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace dsv4;

namespace {

class ScheduleTableTest : public testing::Test {
protected:
  ScheduleTableTest() {
    mlir::DialectRegistry registry;
    registry.insert<DSV4Dialect>();
    registerScheduleKinds(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<DSV4Dialect>();
  }
  mlir::InFlightDiagnostic emitError() {
    return mlir::emitError(mlir::UnknownLoc::get(&context));
  }

  mlir::MLIRContext context;
};

} // namespace

// A schedule that nobody measured on an architecture says so.
TEST_F(ScheduleTableTest, EveryEntrySaysWhereItIsFrom) {
  ScheduleTable table;
  ASSERT_TRUE(
      succeeded(table.readBuiltin(&context, [&] { return emitError(); })));
  EXPECT_GT(table.getEntries().size(), 100u);
  for (const TableEntry &entry : table.getEntries()) {
    bool isMeasured = entry.provenance.rfind("Measured on ", 0) == 0;
    bool isNot = entry.provenance.rfind("Not measured here", 0) == 0;
    EXPECT_TRUE(isMeasured || isNot) << entry.provenance;
    EXPECT_EQ(isMeasured, entry.arch == "sm_9") << entry.arch;
    bool isOld = entry.arch == "sm_8";
    EXPECT_TRUE(!isOld || (entry.launch.cluster == 1 && !entry.launch.pdl));
  }
}

TEST_F(ScheduleTableTest, KindsAreTriedInOrder) {
  std::vector<std::string> keys;
  for (const ScheduleKind *kind : getScheduleKinds(&context))
    keys.push_back(kind->getKey().str());
  EXPECT_EQ(keys, (std::vector<std::string>{"rows", "window", "select", "score",
                                            "router"}));
}
