//===- RecordAttrTest.cpp - Records as attributes -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dsv4;

namespace {

class RecordAttrTest : public ::testing::Test {
protected:
  RecordAttrTest() { context.loadDialect<DSV4Dialect>(); }

  RecordAttr known(StringRef name) {
    return RecordAttr::getKnown(&context, name);
  }

  MLIRContext context;
};

TEST_F(RecordAttrTest, NamesRoundTrip) {
  for (StringRef name : layout::getKnownRecordNames()) {
    RecordAttr record = known(name);
    ASSERT_TRUE(record) << name.str();
    EXPECT_EQ(record.getKnownName().str(), name.str());
  }
  EXPECT_FALSE(known("v5_1"));
  EXPECT_FALSE(known(""));
}

/// Nothing of a record is lost in an attribute.
TEST_F(RecordAttrTest, FieldsRoundTrip) {
  auto expectEqual = [](const layout::Record &got, const layout::Record &want) {
    EXPECT_EQ(got.align, want.align);
    ASSERT_EQ(got.fields.size(), want.fields.size());
    for (size_t i = 0; i < got.fields.size(); ++i) {
      const layout::Field &a = got.fields[i], &b = want.fields[i];
      EXPECT_EQ(std::tie(a.name, a.extent, a.element, a.placement, a.scales,
                         a.group, a.pad, a.interleave, a.offset, a.highFirst),
                std::tie(b.name, b.extent, b.element, b.placement, b.scales,
                         b.group, b.pad, b.interleave, b.offset, b.highFirst))
          << a.name;
    }
  };
  for (StringRef name : layout::getKnownRecordNames())
    expectEqual(toRecord(known(name)), *layout::findKnownRecord(name));
  RecordAttr record = RecordAttr::get(
      &context,
      {FieldAttr::get(&context, "a", 8, Float4E2M1FNType::get(&context),
                      Placement::Tail, StringAttr(), 0, 1, /*offset=*/16,
                      /*pad=*/3, /*highFirst=*/true),
       FieldAttr::get(&context, "position", 1, IntegerType::get(&context, 32),
                      Placement::Array, StringAttr(), 0, 1, -1, 0, false)},
      64);
  layout::Field a, position;
  a.name = "a";
  a.extent = 8;
  a.element = layout::ElementType::F4E2M1FN;
  a.placement = layout::Placement::Tail;
  a.offset = 16;
  a.pad = 3;
  a.highFirst = true;
  position.name = "position";
  position.extent = 1;
  position.element = layout::ElementType::I32;
  position.placement = layout::Placement::Array;
  expectEqual(toRecord(record), {{a, position}, 64});
}

TEST_F(RecordAttrTest, SlightlyDifferentRecordHasNoName) {
  RecordAttr record = known("v4_584");
  EXPECT_EQ(RecordAttr::get(&context, record.getFields(), 64).getKnownName(),
            "");
  EXPECT_EQ(RecordAttr::get(&context, record.getFields().drop_back(), 576)
                .getKnownName(),
            "");
}

TEST_F(RecordAttrTest, PositionsOfFields) {
  auto cache = CacheType::get(&context, 64, known("v4_584"));
  for (auto [i, field] : llvm::enumerate(known("v4_584").getFields()))
    EXPECT_EQ(getPosition(cache, field).base,
              getLayout(cache).getPosition(i).base);
  EXPECT_EQ(getPosition(cache, known("v4_584").getField("nope_scale")).base,
            36864);
}

TEST_F(RecordAttrTest, ScalesKeepTheirOrder) {
  RecordAttr record = known("nvfp4_432");
  SmallVector<FieldAttr> scales = record.getScalesOf("nope");
  ASSERT_EQ(scales.size(), 2u);
  EXPECT_EQ(scales[0].getName(), "nope_scale");
  EXPECT_EQ(scales[0].getGroup(), 16);
  EXPECT_EQ(scales[1].getName(), "latent_scale");
  EXPECT_EQ(scales[1].getGroup(), FieldAttr::kPerRow);
  EXPECT_TRUE(record.getScalesOf("rope").empty());
  EXPECT_FALSE(record.getField("nothing"));
}

} // namespace
