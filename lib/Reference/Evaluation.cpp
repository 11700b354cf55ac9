//===- Evaluation.cpp - An op that is not dsv4's, in the oracle -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Evaluation.h"

#include "InterpreterImpl.h"

#include <limits>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

ArrayRef<int64_t> Evaluation::getShape(Value operand) const {
  return interpreter.values.find(operand)->second.shape;
}

double Evaluation::getValue(Value operand, int64_t index) const {
  const Tensor &tensor = interpreter.values.find(operand)->second;
  // Smaller integers have formats.
  return tensor.element.isInteger() &&
                 tensor.element.getIntOrFloatBitWidth() > 8
             ? double(tensor.integer(index))
             : tensor.elements().value(index);
}

int32_t Evaluation::getIndex(Value operand, int64_t index) const {
  return interpreter.values.find(operand)->second.index(index);
}

rt::Status Evaluation::makeResult(unsigned number, ArrayRef<int64_t> shape) {
  OpResult result = op->getResult(number);
  auto tied = cast<DestinationStyleOpInterface>(op);
  if (rt::Status status = interpreter.checkShape(
          op, "outs", tied.getTiedOpOperand(result)->get(), shape);
      !status)
    return status;
  // No elements need no bounds.
  if (interpreter.makeResult(result, shape).size() == 0)
    interpreter.knowledge[result].bounds =
        std::make_shared<std::vector<BoundedValue>>();
  return {};
}

void Evaluation::setValue(unsigned number, int64_t index, double value) {
  const Tensor &tensor = interpreter.values.find(op->getResult(number))->second;
  if (tensor.element.isInteger() && tensor.element.getIntOrFloatBitWidth() > 8)
    return tensor.setIndex(index, int32_t(value));
  Elements elements = tensor.elements();
  elements.setCode(index, encode(elements.format, value));
}

void Evaluation::setBounded(unsigned number, int64_t index, double exact,
                            double bound) {
  setValue(number, index, exact);
  Value result = op->getResult(number);
  Knowledge &knowledge = interpreter.knowledge[result];
  if (!knowledge.bounds) {
    int64_t size = interpreter.values.find(result)->second.size();
    // Until it is given, a bound is none.
    knowledge.bounds = std::make_shared<std::vector<BoundedValue>>(
        size, BoundedValue{0, std::numeric_limits<double>::quiet_NaN()});
  }
  (*knowledge.bounds)[index] = {exact, bound};
}

//===----------------------------------------------------------------------===//
// The interpreter's side
//===----------------------------------------------------------------------===//

rt::Status Interpreter::evaluateUserOp(ReferenceInterface op) {
  auto name = op->getName().getStringRef();
  if (!isa<DestinationStyleOpInterface>(op.getOperation()))
    return invalid("'" + name +
                   "' has no destinations ("
                   "DestinationStyleOpInterface), which the oracle needs");
  auto isNumbers = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && reference::getFormat(tensor.getElementType());
  };
  for (OpOperand &operand : op->getOpOperands())
    if (!isNumbers(operand.get().getType()))
      return invalid("'" + name + "', operand " +
                     Twine(operand.getOperandNumber()) +
                     ": the oracle reads tensors of numbers only; see "
                     "ReferenceInterface");
  Evaluation evaluation(*this, op);
  if (rt::Status status = op.evaluate(evaluation); !status)
    return status;
  for (OpResult result : op->getResults())
    if (!values.contains(result))
      return invalid("'" + name + "' leaves result " +
                     Twine(result.getResultNumber()) +
                     " without a value: call Evaluation::makeResult");
  return {};
}
