//===- RecordLayout.cpp - Records as attributes and as plain structs ------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordConversion.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

int64_t dsv4::getElementBits(Type type) { return type.getIntOrFloatBitWidth(); }

std::optional<layout::ElementType> dsv4::toElementType(Type type) {
  using layout::ElementType;
  if (type.isSignlessInteger(4))
    return ElementType::I4;
  if (type.isSignlessInteger(32))
    return ElementType::I32;
  return llvm::TypeSwitch<Type, std::optional<ElementType>>(type)
      .Case<Float4E2M1FNType>([](auto) { return ElementType::F4E2M1FN; })
      .Case<Float8E4M3FNType>([](auto) { return ElementType::F8E4M3FN; })
      .Case<Float8E8M0FNUType>([](auto) { return ElementType::F8E8M0FNU; })
      .Case<BFloat16Type>([](auto) { return ElementType::BF16; })
      .Case<Float16Type>([](auto) { return ElementType::F16; })
      .Case<Float32Type>([](auto) { return ElementType::F32; })
      .Default(std::nullopt);
}

static Type fromElementType(MLIRContext *context, layout::ElementType type) {
  using layout::ElementType;
  switch (type) {
  case ElementType::I4:
    return IntegerType::get(context, 4);
  case ElementType::I32:
    return IntegerType::get(context, 32);
  case ElementType::F4E2M1FN:
    return Float4E2M1FNType::get(context);
  case ElementType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E8M0FNU:
    return Float8E8M0FNUType::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  }
  llvm_unreachable("unknown element type");
}

//===----------------------------------------------------------------------===//
// Fields and records
//===----------------------------------------------------------------------===//

layout::Placement dsv4::toPlacement(Placement placement) {
  switch (placement) {
  case Placement::Row:
    return layout::Placement::Row;
  case Placement::Tail:
    return layout::Placement::Tail;
  case Placement::Array:
    return layout::Placement::Array;
  }
  llvm_unreachable("unknown placement");
}

static Placement fromPlacement(layout::Placement placement) {
  switch (placement) {
  case layout::Placement::Row:
    return Placement::Row;
  case layout::Placement::Tail:
    return Placement::Tail;
  case layout::Placement::Array:
    return Placement::Array;
  }
  llvm_unreachable("unknown placement");
}

layout::Record dsv4::toRecord(ArrayRef<FieldAttr> fields, int64_t align) {
  layout::Record record;
  record.align = align;
  for (FieldAttr field : fields)
    record.fields.push_back(
        {field.getName().str(), field.getExtent(),
         *toElementType(field.getElement()), toPlacement(field.getPlacement()),
         field.isScale() ? field.getScales().str() : "", field.getGroup(),
         field.getPad(), field.getInterleave(), field.getOffset(),
         field.getHighFirst()});
  return record;
}

layout::Record dsv4::toRecord(RecordAttr record) {
  return toRecord(record.getFields(), record.getAlign());
}

static RecordAttr fromRecord(MLIRContext *context,
                             const layout::Record &record) {
  SmallVector<FieldAttr> fields;
  for (const layout::Field &field : record.fields)
    fields.push_back(FieldAttr::get(
        context, field.name, field.extent,
        fromElementType(context, field.element), fromPlacement(field.placement),
        field.isScale() ? StringAttr::get(context, field.scales) : StringAttr(),
        field.group, field.interleave, field.offset, field.pad,
        field.highFirst));
  return RecordAttr::get(context, fields, record.align);
}

//===----------------------------------------------------------------------===//
// Known records
//===----------------------------------------------------------------------===//

RecordAttr RecordAttr::getKnown(MLIRContext *context, StringRef name) {
  const layout::Record *known = layout::findKnownRecord(name);
  return known ? fromRecord(context, *known) : RecordAttr();
}

StringRef RecordAttr::getKnownName() const {
  for (StringRef name : layout::getKnownRecordNames())
    if (getKnown(getContext(), name) == *this)
      return name;
  return {};
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

RecordLayout dsv4::getLayout(CacheType cache) {
  return RecordLayout(toRecord(cache.getRecord()), cache.getPage());
}

RecordLayout::Position dsv4::getPosition(CacheType cache, FieldAttr field) {
  ArrayRef<FieldAttr> fields = cache.getRecord().getFields();
  return getLayout(cache).getPosition(llvm::find(fields, field) -
                                      fields.begin());
}

FieldAttr dsv4::getFirstField(CacheType cache) {
  for (FieldAttr field : cache.getRecord().getFields())
    if (field.getGroup() != FieldAttr::kPerTensor)
      return field;
  llvm_unreachable("a record has data, and no group of scales for it all");
}
