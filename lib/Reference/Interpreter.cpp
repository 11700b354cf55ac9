//===- Interpreter.cpp - What a function of dsv4 ops computes -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

static_assert(llvm::endianness::native == llvm::endianness::little,
              "elements are read as they lie in memory");

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string dsv4::reference::showShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(shape, stream << '[');
  stream << ']';
  return text;
}

/// Runs `check` and makes the first diagnostic it emits the error.
static rt::Status diagnose(func::FuncOp func,
                           function_ref<LogicalResult()> check) {
  std::string text;
  ScopedDiagnosticHandler handler(func.getContext(), [&](Diagnostic &diag) {
    if (text.empty() && diag.getSeverity() == DiagnosticSeverity::Error)
      text = diag.str();
    return success();
  });
  if (succeeded(check()))
    return {};
  llvm::replace(text, '\n', ' ');
  return invalid(text.empty() ? "the function is not valid" : text);
}

static rt::Status refuseOp(Operation *op) {
  return invalid("'" + op->getName().getStringRef() +
                 "' is not an op the interpreter knows");
}

//===----------------------------------------------------------------------===//
// Signatures, sizes, formats
//===----------------------------------------------------------------------===//

/// Whether an op only says how large an intermediate result is, which follows
/// from what it is computed from, or which part of an argument others read.
static bool isShapeOp(Operation *op) {
  return isa<tensor::EmptyOp, tensor::DimOp, tensor::ExtractSliceOp,
             arith::ConstantOp, arith::AddIOp, arith::MulIOp>(op);
}

/// Whether the interpreter computes an op.
static bool isReferenceOp(Operation *op) {
#define DSV4_NAME_OP(Op, method) Op,
  return isa<DSV4_REFERENCE_OPS(DSV4_NAME_OP) ReferenceInterface>(op);
#undef DSV4_NAME_OP
}

rt::Result<Signature> dsv4::reference::readSignature(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return invalid("function '" + func.getName() + "' does not have one block");
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (!tensor.getElementType().isIntOrFloat())
        return invalid("argument '" + getArgumentName(func, i) +
                       "' has elements that are not numbers");
  for (Operation &op : func.getBody().front())
    if (!isReferenceOp(&op) && !isShapeOp(&op) && !isa<func::ReturnOp>(op))
      return refuseOp(&op);
  Signature signature;
  rt::Status status = diagnose(func, [&]() -> LogicalResult {
    if (failed(verify(func)))
      return failure();
    auto result = getSignature(func);
    if (failed(result))
      return failure();
    signature = std::move(*result);
    return success();
  });
  if (!status)
    return status;
  return signature;
}

std::optional<int64_t> dsv4::reference::getByteSize(const rt::Binding &binding,
                                                    ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    return std::nullopt;
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t size = rt::getByteSize(binding.storage);
  for (int64_t extent : shape)
    if (llvm::MulOverflow(size, extent, size))
      return std::nullopt;
  return size;
}

std::optional<Format> dsv4::reference::getFormat(Type type) {
  if (type.isF32())
    return Format::F32;
  if (type.isBF16())
    return Format::BF16;
  if (type.isF16())
    return Format::F16;
  if (isa<Float8E5M2Type>(type))
    return Format::E5M2;
  if (isa<Float8E4M3FNType>(type))
    return Format::E4M3FN;
  if (isa<Float8E8M0FNUType>(type))
    return Format::E8M0FNU;
  if (isa<Float4E2M1FNType>(type))
    return Format::E2M1;
  if (type.isSignlessInteger(4))
    return Format::Int4;
  if (type.isSignlessInteger(8))
    return Format::Int8;
  if (type.isSignlessInteger(32))
    return Format::Int32;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

int64_t Elements::storedIndex(int64_t index) const {
  if (interleave == 1)
    return index;
  return index % interleave * (extent / interleave) + index / interleave;
}

uint32_t Elements::code(int64_t index) const {
  int64_t at = storedIndex(index);
  return loadCode(format, bytes, highFirst ? at ^ 1 : at);
}

void Elements::setCode(int64_t index, uint32_t code) const {
  int64_t at = storedIndex(index);
  unsigned width = bitWidth(format);
  if (width != 4) {
    std::memcpy(bytes + at * (width / 8), &code, width / 8);
    return;
  }
  unsigned shift = (at % 2 != 0) != highFirst ? 4 : 0;
  char &pair = bytes[at / 2];
  pair = char((uint8_t(pair) & ~(0xF << shift)) | code << shift);
}

//===----------------------------------------------------------------------===//
// Interpreter
//===----------------------------------------------------------------------===//

rt::Status Interpreter::checkRanks() const {
  if (buffers.size() != signature.bindings.size())
    return invalid("expected " + Twine(signature.bindings.size()) +
                   " buffers, one a binding, got " + Twine(buffers.size()));
  for (auto [binding, buffer] : llvm::zip(signature.bindings, buffers))
    if (buffer.shape.size() != binding.shape.size())
      return invalid("binding '" + binding.name + "': expected rank " +
                     Twine(binding.shape.size()) + ", got shape " +
                     showShape(buffer.shape));
    else if (!buffer.strides.empty() &&
             buffer.strides.size() != buffer.shape.size())
      return invalid("binding '" + binding.name + "': expected " +
                     Twine(buffer.shape.size()) + " strides, got " +
                     Twine(buffer.strides.size()));
  return {};
}

/// Checks a buffer against its binding; all ranks are known to be right.
rt::Status Interpreter::checkBinding(unsigned index) const {
  const rt::Binding &binding = signature.bindings[index];
  const Buffer &buffer = buffers[index];
  std::string where = "binding '" + binding.name + "': ";
  for (auto [axis, extent] : llvm::enumerate(binding.shape)) {
    int64_t actual = buffer.shape[axis];
    if (extent.dim < 0) {
      if (actual != extent.constant)
        return invalid(where + "expected extent " + Twine(extent.constant) +
                       " of axis " + Twine(axis) + ", got " + Twine(actual));
      continue;
    }
    const rt::Dim &dim = signature.dims[extent.dim];
    int64_t expected = buffers[dim.binding].shape[dim.axis];
    if (actual != expected)
      return invalid(where + "axis " + Twine(axis) + " has extent " +
                     Twine(actual) + ", but dim '" + dim.name + "' is " +
                     Twine(expected) + " in binding '" +
                     signature.bindings[dim.binding].name + "'");
    if (actual < 0 || actual > dim.max)
      return invalid(where + "extent " + Twine(actual) + " of axis " +
                     Twine(axis) + " is not between 0 and " + Twine(dim.max));
  }
  auto bytes = reference::getByteSize(binding, buffer.shape);
  if (!bytes)
    return invalid(where + "shape " + showShape(buffer.shape) +
                   " is too large");
  if (*bytes != 0 && !buffer.data)
    return invalid(where + "the data is null");
  return {};
}

rt::Status Interpreter::bindArguments() {
  if (rt::Status status = checkRanks(); !status)
    return status;
  for (unsigned i = 0; i < buffers.size(); ++i)
    if (rt::Status status = checkBinding(i); !status)
      return status;
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    const Buffer &buffer =
        buffers[signature.firstBinding[argument.getArgNumber()]];
    Tensor tensor{type.getElementType(), llvm::to_vector(buffer.shape),
                  static_cast<char *>(buffer.data)};
    if (!buffer.strides.empty()) {
      unsigned binding = signature.firstBinding[argument.getArgNumber()];
      tensor.owned = std::make_shared<std::vector<char>>(
          pack(signature.bindings[binding], buffer));
      tensor.data = tensor.owned->data();
    }
    if (type.getElementTypeBitWidth() == 4)
      tensor.shape.back() = type.getShape().back();
    values[argument] = std::move(tensor);
  }
  for (auto slice : func.getBody().front().getOps<tensor::ExtractSliceOp>())
    if (!slice->use_empty())
      if (rt::Status status = takeSlice(slice); !status)
        return status;
  return {};
}

rt::Status Interpreter::checkShape(Operation *op, StringRef operand,
                                   Value value,
                                   ArrayRef<int64_t> expected) const {
  auto it = values.find(value);
  if (it == values.end())
    return {};
  const Tensor &tensor = it->second;
  if (ArrayRef<int64_t>(tensor.shape) == expected)
    return {};
  std::string name;
  if (auto argument = dyn_cast<BlockArgument>(value))
    name =
        ", binding '" + getArgumentName(func, argument.getArgNumber()) + "',";
  return invalid(op->getName().getStringRef() + ": expected '" + operand + "'" +
                 name + " of shape " + showShape(expected) + ", got " +
                 showShape(tensor.shape));
}

Tensor &Interpreter::makeResult(Value result, ArrayRef<int64_t> shape) {
  Tensor tensor{cast<RankedTensorType>(result.getType()).getElementType(),
                llvm::to_vector(shape)};
  tensor.owned = std::make_shared<std::vector<char>>(tensor.bytes());
  tensor.data = tensor.owned->data();
  return values[result] = std::move(tensor);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

BlockArgument Interpreter::getDestination(Value value) const {
  while (auto result = dyn_cast<OpResult>(value)) {
    auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!op)
      return nullptr;
    value = op.getTiedOpOperand(result)->get();
  }
  return cast<BlockArgument>(value);
}

/// Whether the destination of a result is part of it, and it is the last one
/// there.
static bool keepsRows(Value result) {
  auto op = result.getDefiningOp<RowwiseOpInterface>();
  return op && op.skipsRows() &&
         llvm::none_of(result.getUses(), [](OpOperand &use) {
           auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
           return user && user.isDpsInit(&use);
         });
}

rt::Status Interpreter::writeDestinations() {
  SmallVector<Value> written(signature.bindings.size());
  SmallVector<std::pair<unsigned, Tensor>> writes;
  for (auto op : func.getBody().front().getOps<DestinationStyleOpInterface>())
    for (Value result : op->getResults()) {
      bool returned = llvm::any_of(result.getUsers(), [](Operation *user) {
        return isa<func::ReturnOp>(user);
      });
      // What has rows of before is all known, also if an op reads it.
      if (!returned && !result.use_empty() && !keepsRows(result))
        continue;
      BlockArgument destination = getDestination(result);
      if (!destination && !returned)
        continue;
      if (!destination)
        return invalid("a result of " + op->getName().getStringRef() +
                       " is returned, but no argument is its destination");
      unsigned argument = destination.getArgNumber();
      unsigned binding = signature.firstBinding[argument];
      if (written[binding])
        return invalid("binding '" + getArgumentName(func, argument) +
                       "' is the destination of two results");
      written[binding] = result;
      writes.push_back({binding, values.at(result)});
    }
  if (rt::Status status = expectDestinations(written); !status)
    return status;
  for (auto &[binding, tensor] : writes)
    if (tensor.bytes() != 0)
      unpack(signature.bindings[binding], buffers[binding],
             ArrayRef<char>(tensor.data, tensor.bytes()));
  return {};
}

rt::Status Interpreter::expectDestinations(ArrayRef<Value> written) {
  for (auto [i, binding] : llvm::enumerate(signature.bindings)) {
    if (Value result = written[i]) {
      Expectation expectation{unsigned(i), getResultContract(result)};
      if (!expectation.contract.isExact()) {
        expectation.knowledge = knowledge.lookup(result);
        expectation.format = reference::getFormat(values.at(result).element);
      }
      expectations.push_back(std::move(expectation));
    } else if (binding.written && signature.holdsInput[i]) {
      // Of a cache, which is memory: every byte.
      expectations.push_back({unsigned(i), ResultContract::exact()});
    }
  }
  for (const Expectation &expectation : expectations)
    if (auto selection = expectation.knowledge.selection.get())
      if (llvm::none_of(expectations, [&](const Expectation &other) {
            return other.knowledge.selection.get() == selection &&
                   other.knowledge.part == Knowledge::Part::Indices;
          }))
        return invalid("binding '" +
                       signature.bindings[expectation.binding].name +
                       "' belongs to a selection from bounded scores: give its "
                       "indices an argument as destination, by which it is "
                       "compared");
  return {};
}

bool Interpreter::isInexact(Value value) const {
  ResultContract contract = getResultContract(value);
  if (contract.isExact())
    return false;
  auto isBounded = [](const BoundedValue &element) {
    return element.bound != 0;
  };
  auto it = knowledge.find(value);
  if (it == knowledge.end())
    return true;
  if (contract == ResultContract::bounded())
    return llvm::any_of(*it->second.bounds, isBounded);
  return llvm::any_of(it->second.selection->keys, isBounded);
}

rt::Status Interpreter::checkOperands(Operation *op) const {
  auto tied = dyn_cast<DestinationStyleOpInterface>(op);
  auto contracts = dyn_cast<ResultContractInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isa<RankedTensorType>(value.getType()) ||
        (tied && tied.isDpsInit(&operand)))
      continue;
    std::string which = (op->getName().getStringRef() + " reads operand " +
                         Twine(operand.getOperandNumber()))
                            .str();
    if (!values.contains(value))
      return invalid(which + ", which nothing has written");
    if (!isInexact(value))
      continue;
    ResultContract contract = getResultContract(value);
    if (contract != ResultContract::bounded() || !contracts ||
        !contracts.acceptsBounds(operand))
      return invalid(which + ", which '" +
                     value.getDefiningOp()->getName().getStringRef() +
                     "' computes under the contract '" + toText(contract) +
                     "', so its result is not unique: check the "
                     "two ops in functions of their own");
  }
  return {};
}

rt::Status Interpreter::checkContracts(Operation *op) const {
  auto contracts = dyn_cast<ResultContractInterface>(op);
  if (!contracts)
    return {};
  auto name = op->getName().getStringRef();
  for (OpOperand &operand : op->getOpOperands())
    if (isa<CacheType>(operand.get().getType()) &&
        !contracts.getContract(operand).isExact())
      return invalid("'" + name + "' declares the contract '" +
                     toText(contracts.getContract(operand)) +
                     "' for a cache, expected 'exact'");
  for (OpResult result : op->getResults()) {
    ResultContract contract = getResultContract(result);
    if (contract.isExact())
      continue;
    std::string which =
        ("'" + name + "' declares the contract '" + toText(contract) +
         "' for result " + Twine(result.getResultNumber()))
            .str();
    bool selects = contract == ResultContract::selection();
    auto format = reference::getFormat(values.at(result).element);
    if (!selects && !(format && isFloatingPoint(*format)))
      return invalid(which + ", whose elements are not floating-point numbers: "
                             "expected 'exact'");
    Knowledge known = knowledge.lookup(result);
    if (contract == ResultContract::bounded()) {
      auto isBad = [](const BoundedValue &element) {
        return !(element.bound >= 0);
      };
      if (!known.bounds || llvm::any_of(*known.bounds, isBad))
        return invalid(which + ", but its reference does not give every "
                               "element a bound of at least 0: call "
                               "Evaluation::setBounded");
    }
    if (selects && !known.selection)
      return invalid(which + ", which is for results of dsv4.topk: expected "
                             "'exact', 'ulp' or 'bounded'");
  }
  return {};
}

rt::Status Interpreter::execute(Operation *op) {
  if (rt::Status status = checkOperands(op); !status)
    return status;
#define DSV4_COMPUTE_OP(Op, method) .Case([&](Op op) { return method(op); })
  rt::Status status =
      TypeSwitch<Operation *, rt::Status>(op)
          DSV4_REFERENCE_OPS(DSV4_COMPUTE_OP)
              .Case([&](ReferenceInterface op) { return evaluateUserOp(op); })
              .Default(refuseOp);
#undef DSV4_COMPUTE_OP
  return status ? checkContracts(op) : status;
}

rt::Status Interpreter::run() {
  if (rt::Status status = bindArguments(); !status)
    return status;
  for (Operation &op : func.getBody().front().without_terminator())
    if (!isShapeOp(&op))
      if (rt::Status status = execute(&op); !status)
        return status;
  return writeDestinations();
}
