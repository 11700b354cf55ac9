//===- SelectSchedule.cpp - Choose the schedule of every kernel -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"
#include "dsv4/Schedule/ScheduleTable.h"
#include "dsv4/Support/ParseProgram.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

struct SelectSchedule : dsv4::impl::SelectScheduleBase<SelectSchedule> {
  using SelectScheduleBase::SelectScheduleBase;

  // Once for all functions.
  LogicalResult initialize(MLIRContext *context) override {
    if (!schedule.empty())
      return success();
    auto read = std::make_shared<ScheduleTable>();
    builtin = read;
    return read->readBuiltin(
        context, [&] { return emitError(UnknownLoc::get(context)); }, arch);
  }

  void runOnOperation() override {
    auto emitError = [&] { return getOperation().emitError(); };
    if (!cuda::TargetAttr::getChecked(emitError, &getContext(),
                                      StringRef(arch)))
      return signalPassFailure();
    given = {};
    user = {};
    if (!schedule.empty() && failed(readSchedule()))
      return signalPassFailure();
    if (!table.empty() &&
        failed(user.readFile(table, &getContext(), emitError)))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(choose(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult readSchedule();
  LogicalResult choose(KernelOp kernel);
  LogicalResult verifyOnArch(KernelOp kernel, ScheduleAttr chosen);
  LogicalResult useGiven(KernelOp kernel);
  LogicalResult select(KernelOp kernel);

  ScheduleAttr given; ///< For all kernels, if there is the option.
  ScheduleTable user;
  std::shared_ptr<const ScheduleTable> builtin;
};

} // namespace

LogicalResult SelectSchedule::readSchedule() {
  if (rt::Status status = checkParserLimits(schedule, "schedule"); !status)
    return getOperation().emitError() << status.message();
  std::string why;
  {
    ScopedDiagnosticHandler quiet(&getContext(), [&](Diagnostic &told) {
      why = why.empty() ? ": " + told.str() : why;
      return success();
    });
    given = dyn_cast_if_present<ScheduleAttr>(
        parseAttribute(schedule, &getContext()));
  }
  if (!given)
    return getOperation().emitError()
           << "expected the 'schedule' option to be a #dsv4.schedule, got '"
           << schedule << "'" << why;
  return success();
}

/// A kernel that carries a schedule keeps it.
LogicalResult SelectSchedule::choose(KernelOp kernel) {
  if (ScheduleAttr carried = kernel.getScheduleAttr())
    return verifyOnArch(kernel, carried);
  return given ? useGiven(kernel) : select(kernel);
}

/// The verifier of the kernel knows no architecture.
LogicalResult SelectSchedule::verifyOnArch(KernelOp kernel,
                                           ScheduleAttr chosen) {
  std::string why = explainMisfit(chosen, kernel, arch);
  return why.empty() ? success() : kernel.emitOpError() << why;
}

/// One schedule is for all kernels, and a kernel takes the parts that it has a
/// use for.
LogicalResult SelectSchedule::useGiven(KernelOp kernel) {
  SmallVector<Attribute> parts = getUsedParts(given, kernel);
  LaunchPart launch = given.getLaunch();
  bool sharesRows = llvm::any_of(parts, [&](Attribute part) {
    return cast<ScheduleInterface>(part).getGeometry(launch).maxCluster > 1;
  });
  if (!sharesRows)
    launch.cluster = 1;
  if (parts.empty())
    return kernel.emitOpError()
           << "schedule_c5: no part of the 'schedule' option is for the ops of "
              "the kernel; add #dsv4.rows<...>";
  auto reduced = ScheduleAttr::getChecked(
      [&] { return kernel.emitOpError(); }, &getContext(), launch.threads,
      launch.cluster, launch.minBlocks, launch.pdl,
      ArrayAttr::get(&getContext(), parts));
  if (!reduced || failed(verifyOnArch(kernel, reduced)))
    return failure();
  kernel.setScheduleAttr(reduced);
  return success();
}

LogicalResult SelectSchedule::select(KernelOp kernel) {
  if (kernel.getBody().front().getOps<RowwiseOpInterface>().empty())
    return success();
  const TableEntry *entry = user.find(kernel, arch);
  if (!entry)
    entry = builtin->find(kernel, arch);
  if (!entry)
    return kernel.emitOpError()
           << "no schedule table has an entry for this kernel on architecture '"
           << arch << "'; give a schedule, or a table with such an entry";
  std::string why;
  ScheduleAttr chosen = entry->fit(kernel, arch, why);
  if (!chosen)
    return kernel.emitOpError() << "no schedule of the table fits: " << why;
  kernel.setScheduleAttr(chosen);
  remark::analysis(
      kernel.getLoc(),
      remark::RemarkOpts::name("schedule").category("dsv4-select-schedule"))
      << "kernel '" + kernel.getSymName().str() + "': " + chosen.describe() +
             (entry->provenance.empty() ? "" : ". " + entry->provenance);
  return success();
}
