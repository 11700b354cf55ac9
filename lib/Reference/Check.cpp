//===- Check.cpp - A launch against the oracle, by contract ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Check.h"

#include "InterpreterImpl.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

rt::Result<Expected> dsv4::reference::evaluate(func::FuncOp func,
                                               ArrayRef<Buffer> buffers) {
  auto signature = readSignature(func);
  if (!signature)
    return signature.status();
  Interpreter interpreter(func, *signature, buffers);
  if (rt::Status status = interpreter.run(); !status)
    return status;
  std::vector<Expectation> destinations = interpreter.takeExpectations();
  return Expected{func, signature.take(), buffers.vec(),
                  std::move(destinations)};
}

rt::Status dsv4::reference::interpret(func::FuncOp func,
                                      ArrayRef<Buffer> buffers) {
  return evaluate(func, buffers).status();
}

std::map<std::string, std::string> Expected::describeContracts() const {
  std::map<std::string, std::string> contracts;
  for (const Expectation &destination : destinations)
    if (!destination.contract.isExact())
      contracts[signature.bindings[destination.binding].name] =
          toText(destination.contract);
  return contracts;
}

/// The indices of the selection that a destination is part of. The interpreter
/// sees to it that they have a binding.
static const Expectation &findIndices(const Expected &expected,
                                      const SelectionOracle *selection) {
  return *llvm::find_if(expected.destinations, [&](const Expectation &other) {
    return other.knowledge.selection.get() == selection &&
           other.knowledge.part == Knowledge::Part::Indices;
  });
}

namespace {

/// One destination in memory.
struct Memory {
  Destination destination;
  ArrayRef<char> bytes;
  /// Where the bytes are, of memory that is not contiguous.
  std::vector<char> packed = {};
};

} // namespace

/// The elements of `buffer`, of the format if one is given, else as stored.
static Memory view(const rt::Binding &binding, const Buffer &buffer,
                   std::optional<Format> format,
                   SmallVectorImpl<int64_t> &shape) {
  shape.assign(buffer.shape.begin(), buffer.shape.end());
  if (format && bitWidth(*format) == 4)
    shape.back() *= 2;
  size_t size = getByteSize(binding, buffer.shape).value_or(0);
  Memory memory{{binding.name, shape},
                ArrayRef<char>(static_cast<const char *>(buffer.data), size)};
  if (!buffer.strides.empty()) {
    memory.packed = pack(binding, buffer);
    memory.bytes = memory.packed;
  }
  return memory;
}

/// Indices of i32, ui32 or i64; what i32 does not hold is never right.
static std::vector<int32_t> readIndices(ArrayRef<char> bytes, unsigned width) {
  std::vector<int32_t> indices(bytes.size() / width);
  for (auto [at, index] : llvm::enumerate(indices)) {
    int64_t wide = 0;
    std::memcpy(&wide, bytes.data() + at * width, width);
    bool fits = width == sizeof(index) || llvm::isInt<32>(wide);
    index = fits ? int32_t(wide) : INT32_MIN;
  }
  return indices;
}

static std::string explainSelection(const Expected &expected,
                                    const Expectation &destination,
                                    const Memory &got,
                                    ArrayRef<Buffer> buffers) {
  const SelectionOracle &oracle = *destination.knowledge.selection;
  const Expectation &indices = findIndices(expected, &oracle);
  SmallVector<int64_t> shape;
  auto widthOf = [&](const Expectation &of) {
    return rt::getByteSize(expected.signature.bindings[of.binding].storage);
  };
  Memory memory = view(expected.signature.bindings[indices.binding],
                       buffers[indices.binding], indices.format, shape);
  std::vector<int32_t> chosen = readIndices(memory.bytes, widthOf(indices));
  removeOffsets(chosen, oracle);
  // Without right indices nothing can be said of what belongs to them.
  std::string why = compareSelection(memory.destination, chosen, oracle);
  if (!why.empty())
    return why;
  switch (destination.knowledge.part) {
  case Knowledge::Part::Indices:
    return "";
  case Knowledge::Part::Values:
    return compareSelectedValues(got.destination, *destination.format,
                                 got.bytes, chosen, oracle);
  case Knowledge::Part::Slots: {
    std::vector<int32_t> slots = readIndices(got.bytes, widthOf(destination));
    ArrayRef<char> bytes(reinterpret_cast<const char *>(slots.data()),
                         slots.size() * sizeof(int32_t));
    return compareSelectedSlots(got.destination, bytes, chosen, oracle);
  }
  }
  return "";
}

static std::string explainDestination(const Expected &expected,
                                      const Expectation &destination,
                                      ArrayRef<Buffer> buffers) {
  unsigned index = destination.binding;
  const rt::Binding &binding = expected.signature.bindings[index];
  SmallVector<int64_t> shape;
  Memory got = view(binding, buffers[index], destination.format, shape);
  SmallVector<int64_t> sameShape;
  Memory oracle =
      view(binding, expected.buffers[index], destination.format, sameShape);
  ArrayRef<char> wanted = oracle.bytes;
  switch (destination.contract.getKind()) {
  case ResultContract::Kind::Exact:
    return compareExact(got.destination, got.bytes, wanted,
                        rt::getByteSize(binding.storage));
  case ResultContract::Kind::Ulp:
    return compareUlps(got.destination, *destination.format, got.bytes, wanted,
                       destination.contract.getUlps());
  case ResultContract::Kind::Bounded:
    return compareBounded(got.destination, *destination.format, got.bytes,
                          *destination.knowledge.bounds);
  case ResultContract::Kind::Selection:
    return explainSelection(expected, destination, got, buffers);
  }
  return "";
}

std::string dsv4::reference::explainDifference(const Expected &expected,
                                               ArrayRef<Buffer> got) {
  for (const Expectation &destination : expected.destinations) {
    unsigned index = destination.binding;
    if (index >= got.size() ||
        got[index].shape != expected.buffers[index].shape ||
        got[index].strides != expected.buffers[index].strides)
      return "'" + expected.signature.bindings[index].name +
             "' does not have the shape and the strides that the oracle was "
             "given";
  }
  sortUnordered(expected.func, expected.signature, got);
  for (const Expectation &destination : expected.destinations)
    if (std::string why = explainDestination(expected, destination, got);
        !why.empty())
      return why;
  for (auto [binding, memory, oracle] :
       llvm::zip(expected.signature.bindings, got, expected.buffers))
    if (binding.written && !memory.strides.empty())
      if (std::string why = explainGaps(binding, memory, oracle); !why.empty())
        return why;
  return "";
}
