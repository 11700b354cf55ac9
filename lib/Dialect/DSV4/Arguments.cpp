//===- Arguments.cpp - Names and extents of arguments ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Dialect/DSV4/BufferStrides.h"
#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace dsv4;

std::string dsv4::getArgumentName(Operation *func, unsigned index) {
  auto name = cast<FunctionOpInterface>(func).getArgAttrOfType<StringAttr>(
      index, DSV4Dialect::kNameAttr);
  return name ? name.str() : "arg" + std::to_string(index);
}

StringRef dsv4::getDimName(Operation *func, unsigned index, int64_t axis) {
  auto dims = cast<FunctionOpInterface>(func).getArgAttrOfType<ArrayAttr>(
      index, DSV4Dialect::kDimsAttr);
  return dims ? cast<StringAttr>(dims[axis]).getValue() : StringRef();
}

std::string dsv4::getExtentName(Operation *func, unsigned index, int64_t axis) {
  Type type = cast<FunctionOpInterface>(func).getArgumentTypes()[index];
  std::string name = getArgumentName(func, index);
  if (isa<CacheType>(type))
    return name + ".pages";
  StringRef dim = getDimName(func, index, axis);
  return dim.empty() ? name + "." + std::to_string(axis) : dim.str();
}

std::string dsv4::getBindingName(Operation *func, unsigned index,
                                 StringRef field) {
  std::string name = getArgumentName(func, index);
  return field.empty() ? name : name + "." + field.str();
}

StridesAttr dsv4::getStrides(Operation *func, unsigned index) {
  Attribute given = cast<FunctionOpInterface>(func).getArgAttr(
      index, DSV4Dialect::kStridesAttr);
  auto each = dyn_cast_or_null<ArrayAttr>(given);
  if (!each)
    return dyn_cast_or_null<StridesAttr>(given);
  // One for each buffer: all have the smallest alignment of them.
  auto strides = each.getAsRange<StridesAttr>();
  return *llvm::min_element(strides, [](StridesAttr a, StridesAttr b) {
    return a.getAlign() < b.getAlign();
  });
}

StridesAttr dsv4::getBufferStrides(Operation *func, unsigned index,
                                   StringRef buffer) {
  auto op = cast<FunctionOpInterface>(func);
  auto each = dyn_cast_or_null<ArrayAttr>(
      op.getArgAttr(index, DSV4Dialect::kStridesAttr));
  if (!each)
    return getStrides(func, index);
  auto buffers = getPagedBuffers(cast<CacheType>(op.getArgumentTypes()[index]));
  const auto *at = llvm::find(buffers, buffer);
  return at == buffers.end() ? StridesAttr()
                             : cast<StridesAttr>(each[at - buffers.begin()]);
}

std::optional<int64_t> dsv4::getEntryStride(StridesAttr strides) {
  if (!strides || strides.getStrides().size() < 2)
    return std::nullopt;
  return strides.getStrides()[1];
}

int64_t dsv4::getEntryBytes(CacheType cache, StringRef buffer) {
  if (!buffer.empty())
    return cache.getRecord().getField(buffer).getByteSize();
  RecordLayout layout = getLayout(cache);
  return layout.getTailBytes() ? 0 : layout.getRowBytes();
}

int64_t dsv4::getPageSpan(CacheType cache, StringRef buffer,
                          StridesAttr strides) {
  std::optional<int64_t> entry = getEntryStride(strides);
  return entry ? (cache.getPage() - 1) * *entry + getEntryBytes(cache, buffer)
               : getPageBytes(cache, buffer);
}

bool dsv4::hasElementStride(RankedTensorType tensor, StridesAttr strides) {
  return strides && tensor.getRank() == 1 && strides.getStrides().size() == 1;
}

ViewAttr dsv4::getView(Operation *func, unsigned index) {
  return cast<FunctionOpInterface>(func).getArgAttrOfType<ViewAttr>(
      index, DSV4Dialect::kViewAttr);
}

std::string dsv4::getStrideName(Operation *func, unsigned index, int64_t axis,
                                StringRef field) {
  return getBindingName(func, index, field) + ".stride." + std::to_string(axis);
}

SmallVector<StringRef> dsv4::getPagedBuffers(CacheType cache) {
  SmallVector<StringRef> buffers;
  if (getLayout(cache).hasPages())
    buffers.push_back("");
  for (FieldAttr field : cache.getRecord().getFields())
    if (field.getPlacement() == Placement::Array &&
        field.getGroup() != FieldAttr::kPerTensor)
      buffers.push_back(field.getName());
  return buffers;
}

int64_t dsv4::getPageBytes(CacheType cache, StringRef buffer) {
  if (buffer.empty())
    return getLayout(cache).getPageBytes();
  return cache.getPage() * cache.getRecord().getField(buffer).getByteSize();
}

/// Adds the names of the strides that are known at run time only.
static void addStrideNames(Operation *func, unsigned index, Type type,
                           std::vector<std::string> &names) {
  StridesAttr strides = getStrides(func, index);
  if (!strides)
    return;
  for (auto [axis, stride] : llvm::enumerate(strides.getStrides())) {
    if (!ShapedType::isDynamic(stride)) // Those of entries are constants.
      continue;
    auto cache = dyn_cast<CacheType>(type);
    SmallVector<StringRef> buffers = {""};
    if (cache)
      buffers = getPagedBuffers(cache);
    for (StringRef buffer : buffers)
      names.push_back(getStrideName(func, index, axis, buffer));
  }
}

rt::PlanNames dsv4::getPlanNames(Operation *func) {
  rt::PlanNames names;
  auto addExtent = [&](unsigned index, int64_t axis) {
    std::string name = getExtentName(func, index, axis);
    if (!llvm::is_contained(names.extents, name))
      names.extents.push_back(name);
  };
  TypeRange types = cast<FunctionOpInterface>(func).getArgumentTypes();
  for (auto [index, type] : llvm::enumerate(types)) {
    // Extents and strides of a view are those of other arguments.
    if (getView(func, index))
      continue;
    names.bindings.push_back(getBindingName(func, index));
    if (auto cache = dyn_cast<CacheType>(type)) {
      addExtent(index, 0);
      for (FieldAttr field : cache.getRecord().getFields())
        if (field.getPlacement() == Placement::Array)
          names.bindings.push_back(
              getBindingName(func, index, field.getName()));
    } else if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      for (int64_t axis = 0; axis < tensor.getRank(); ++axis)
        if (tensor.isDynamicDim(axis))
          addExtent(index, axis);
    }
    addStrideNames(func, index, type, names.extents);
  }
  return names;
}

int64_t dsv4::getDimBound(Operation *func, unsigned index, int64_t axis) {
  auto bounds = func->getAttrOfType<DictionaryAttr>(DSV4Dialect::kBoundsAttr);
  StringRef name = getDimName(func, index, axis);
  if (!bounds || name.empty())
    return INT32_MAX;
  auto bound = bounds.getAs<IntegerAttr>(name);
  return bound ? bound.getInt() : INT32_MAX;
}

int64_t dsv4::getDimMultiple(Operation *func, unsigned index, int64_t axis) {
  auto policies =
      func->getAttrOfType<DictionaryAttr>(DSV4Dialect::kPoliciesAttr);
  StringRef name = getDimName(func, index, axis);
  if (!policies || name.empty())
    return 1;
  auto policy = policies.getAs<PolicyAttr>(name);
  return policy ? policy.getMultiple() : 1;
}
