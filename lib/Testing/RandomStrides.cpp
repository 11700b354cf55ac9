//===- RandomStrides.cpp - Inputs that are not contiguous -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include "dsv4/Dialect/DSV4/BufferStrides.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

/// Bytes around the elements, to see that nothing is written there.
static constexpr int64_t kMargin = 256;

/// A multiple of every alignment.
static constexpr int64_t kMaxAlign = 16;

Buffer InputSet::getBuffer(size_t i) {
  int64_t offset = getOffset(i);
  Buffer buffer{shapes[i], bytes[i].data() + offset};
  if (getStrides(i)) {
    buffer.strides = strides[i];
    buffer.margin = std::min(offset, kMargin);
  }
  return buffer;
}

std::vector<Buffer> InputSet::buffers() {
  std::vector<Buffer> result;
  for (size_t i = 0; i < bytes.size(); ++i)
    result.push_back(getBuffer(i));
  return result;
}

void InputSet::setElements(size_t i, const rt::Binding &binding,
                           std::vector<char> elements) {
  if (!getStrides(i)) {
    if (getOffset(i))
      elements.insert(elements.begin(), getOffset(i), kPoison);
    bytes[i] = std::move(elements);
    return;
  }
  size_t axes = countRowAxes(binding);
  int64_t span = rt::getByteSize(binding.storage) *
                 (axes < shapes[i].size() ? shapes[i].back() : 1);
  for (size_t axis = axes; axis-- > 0;) {
    int64_t &stride = strides[i][axis];
    if (stride < span)
      stride = llvm::alignTo(span, kMaxAlign);
    span += stride * std::max<int64_t>(shapes[i][axis] - 1, 0);
  }
  bytes[i].assign(getOffset(i) + span + kMargin, kPoison);
  unpack(binding, getBuffer(i), elements);
}

/// Of a run-time stride, the number of elements that the caller gave, if any.
std::optional<int64_t> InputMaker::findGivenStride(rt::Extent stride) const {
  if (stride.dim < 0)
    return std::nullopt;
  auto it = dims.find(signature.dims[stride.dim].name);
  return it == dims.end() ? std::nullopt : std::optional(it->second);
}

/// The other checks are those of a launch.
rt::Status InputMaker::checkGivenStrides() const {
  for (auto [index, binding] : llvm::enumerate(signature.bindings))
    for (auto [axis, stride] : llvm::enumerate(binding.strides)) {
      std::optional<int64_t> elements = findGivenStride(stride);
      if (!elements)
        continue;
      int64_t rows = std::max<int64_t>(set.shapes[index][axis], 1);
      const rt::Dim &dim = signature.dims[stride.dim];
      int64_t size = rt::getByteSize(binding.storage);
      int64_t max = std::min(kMaxBytes / size / rows, dim.max);
      std::string what = "dim '" + dim.name + "' is " +
                         std::to_string(*elements) + " elements of argument '" +
                         binding.name + "'";
      if (*elements < 0 || *elements > max)
        return {rt::Code::InvalidArgument,
                what + ", expected 0 to " + std::to_string(max)};
      if (!hasMemory(*elements * size * rows))
        return {rt::Code::InvalidArgument,
                what + ", for which there is no memory: expected fewer"};
    }
  return {};
}

std::vector<int64_t> InputMaker::makeStrides(unsigned index, int64_t align,
                                             bool mayRepeat,
                                             Random &random) const {
  const rt::Binding &binding = signature.bindings[index];
  ArrayRef<int64_t> shape = set.shapes[index];
  int64_t size = rt::getByteSize(binding.storage);
  std::vector<int64_t> strides(shape.size(), size);
  size_t axes = countRowAxes(binding);
  int64_t span = axes < shape.size() ? size * shape.back() : size;
  for (size_t axis = axes; axis-- > 0;) {
    rt::Extent given = binding.strides[axis];
    int64_t stride = given.constant;
    if (std::optional<int64_t> elements = findGivenStride(given)) {
      stride = *elements * size;
    } else if (given.dim >= 0) {
      int64_t least = std::max(span, signature.dims[given.dim].min * size);
      stride = llvm::alignTo(least, align);
      switch (random.below(8)) {
      case 0:
      case 1: // As small as can be.
        break;
      case 2:
        if (mayRepeat) {
          stride = 0;
          break;
        }
        [[fallthrough]];
      case 3: // Others of the same kind lie in between.
        stride *= 2 + random.below(2);
        break;
      default:
        stride += align * (1 + 2 * random.below(16));
      }
    }
    strides[axis] = stride;
    span += stride * std::max<int64_t>(shape[axis] - 1, 0);
  }
  return strides;
}

/// What `dsv4.strides` promises of the memory of a binding. One without strides
/// in a cache that has some is one scale.
int64_t InputMaker::getAlignment(unsigned argument,
                                 const rt::Binding &binding) const {
  std::string own = getArgumentName(func, argument);
  StringRef field = StringRef(binding.name).substr(own.size());
  StridesAttr strides = getBufferStrides(func, argument, field.ltrim('.'));
  return strides ? strides.getAlign() : kMaxAlign;
}

void InputMaker::spread() {
  set.strides.resize(set.bytes.size());
  set.offsets.resize(set.bytes.size());
  for (BlockArgument argument : func.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (!getStrides(func, index))
      continue;
    // A stream of its own: the elements do not depend on the strides.
    Random random(seeds[index] + 1);
    // What is computed with may be the same in all rows. Repeated indices would
    // let rows race.
    const Role repeatable[] = {Role::Values, Role::Weights, Role::Angles,
                               Role::Scores, Role::Logits,  Role::Scales};
    unsigned first = signature.firstBinding[index];
    unsigned end = index + 1 < signature.firstBinding.size()
                       ? signature.firstBinding[index + 1]
                       : signature.bindings.size();
    for (unsigned i = first; i < end; ++i) {
      const rt::Binding &binding = signature.bindings[i];
      int64_t align = getAlignment(index, binding);
      bool mayRepeat = isa<RankedTensorType>(argument.getType()) &&
                       !binding.written &&
                       llvm::is_contained(repeatable, uses[index].role);
      set.offsets[i] = kMargin;
      // Rows that are where the caller wants them begin at a cache line.
      if (llvm::none_of(binding.strides, [&](rt::Extent stride) {
            return findGivenStride(stride).has_value();
          }))
        set.offsets[i] += align * (1 + 2 * random.below(8));
      std::vector<char> elements = std::move(set.bytes[i]);
      if (binding.strides.empty()) {
        set.setElements(i, binding, std::move(elements));
        continue;
      }
      set.strides[i] = makeStrides(i, align, mayRepeat, random);
      Buffer buffer{set.shapes[i], nullptr, set.strides[i]};
      set.bytes[i].assign(set.offsets[i] + getSpan(binding, buffer) + kMargin,
                          kPoison);
      unpack(binding, set.getBuffer(i), elements);
    }
  }
}
