//===- LaunchPlan.cpp - How a kernel is launched --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/LaunchPlan.h"

#include <algorithm>

using namespace dsv4::rt;

static constexpr const char *axisNames[] = {"x", "y", "z"};

static Status invalid(const std::string &message) {
  return Status(Code::InvalidArgument, message);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Parameter Parameter::buffer(int binding, bool reads, bool writes,
                            uint32_t alignment) {
  Parameter parameter;
  parameter.kind = Kind::Buffer;
  parameter.binding = binding;
  parameter.reads = reads;
  parameter.writes = writes;
  parameter.alignment = alignment;
  return parameter;
}

static Parameter makeNumber(Parameter::Kind kind, Expression value) {
  Parameter parameter;
  parameter.kind = kind;
  parameter.value = std::move(value);
  return parameter;
}

Parameter Parameter::int32(Expression value) {
  return makeNumber(Kind::Int32, std::move(value));
}

Parameter Parameter::int64(Expression value) {
  return makeNumber(Kind::Int64, std::move(value));
}

static Parameter makeBound(Parameter::Kind kind, int binding) {
  Parameter parameter;
  parameter.kind = kind;
  parameter.binding = binding;
  return parameter;
}

Parameter Parameter::scalar(int binding) {
  return makeBound(Kind::Scalar, binding);
}

Parameter Parameter::tensorMap(int binding) {
  return makeBound(Kind::TensorMap, binding);
}

std::string Parameter::print(const PlanNames &names) const {
  const std::string name =
      binding >= 0 && size_t(binding) < names.bindings.size()
          ? names.bindings[size_t(binding)]
          : "?";
  switch (kind) {
  case Kind::Buffer:
    return std::string(reads && writes ? "update("
                       : writes        ? "write("
                                       : "read(") +
           name + (offset.isConstant(0) ? "" : " + " + offset.print(names)) +
           ", " + std::to_string(alignment) +
           (within.comparisons.empty() ? "" : ", " + within.print(names)) + ")";
  case Kind::Int32:
    return "i32(" + value.print(names) + ")";
  case Kind::Int64:
    return "i64(" + value.print(names) + ")";
  case Kind::Scalar:
    return "scalar(" + name + ")";
  case Kind::Workspace:
    return "workspace";
  case Kind::TensorMap:
    return "tensor_map(" + name + ")";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

static Status validateParameter(const Parameter &parameter, size_t extents,
                                size_t bindings) {
  using Kind = Parameter::Kind;
  if (parameter.kind == Kind::Int32 || parameter.kind == Kind::Int64) {
    std::string why = parameter.value.explainInvalid(extents);
    return why.empty() ? Status() : invalid("a parameter " + why);
  }
  if (parameter.kind == Kind::Workspace)
    return Status();
  if (parameter.binding < 0 || size_t(parameter.binding) >= bindings)
    return invalid("a parameter refers to binding " +
                   std::to_string(parameter.binding) +
                   ", which does not exist");
  if (parameter.kind != Kind::Buffer)
    return Status();
  if (!parameter.reads && !parameter.writes)
    return invalid("a buffer is neither read nor written");
  if (std::string why = parameter.offset.explainInvalid(extents); !why.empty())
    return invalid("the offset of a buffer " + why);
  if (std::string why = parameter.within.explainInvalid(extents); !why.empty())
    return invalid("the condition of a buffer " + why);
  if (parameter.alignment < 1 || parameter.alignment > MaxBufferAlignment ||
      (parameter.alignment & (parameter.alignment - 1)))
    return invalid("alignment " + std::to_string(parameter.alignment) +
                   ": expected a power of two up to " +
                   std::to_string(MaxBufferAlignment));
  return Status();
}

Status LaunchPlan::validate(size_t extents, size_t bindings) const {
  for (unsigned axis = 0; axis < 3; ++axis)
    if (block[axis] < 1 || block[axis] > MaxBlock[axis])
      return invalid(std::string("threads of a block along ") +
                     axisNames[axis] + ": expected 1 to " +
                     std::to_string(MaxBlock[axis]) + ", got " +
                     std::to_string(block[axis]));
  if (block.count() > MaxThreadsOfBlock)
    return invalid("threads of a block: expected at most " +
                   std::to_string(MaxThreadsOfBlock) + ", got " +
                   std::to_string(block.count()));
  for (unsigned axis = 0; axis < 3; ++axis)
    if (cluster[axis] < 1 || cluster[axis] > MaxBlocksOfCluster)
      return invalid(std::string("blocks of a cluster along ") +
                     axisNames[axis] + ": expected 1 to " +
                     std::to_string(MaxBlocksOfCluster) + ", got " +
                     std::to_string(cluster[axis]));
  if (cluster.count() > MaxBlocksOfCluster)
    return invalid("blocks of a cluster: expected at most " +
                   std::to_string(MaxBlocksOfCluster) + ", got " +
                   std::to_string(cluster.count()));

  for (auto [expression, what] :
       {std::pair(&grid[0], "grid x"), std::pair(&grid[1], "grid y"),
        std::pair(&grid[2], "grid z"), std::pair(&sharedBytes, "shared memory"),
        std::pair(&workspaceBytes, "workspace")})
    if (std::string why = expression->explainInvalid(extents); !why.empty())
      return invalid(std::string(what) + " " + why);
  for (auto [each, what] : {std::pair(&condition, "condition"),
                            std::pair(&requirements, "requirements")})
    if (std::string why = each->explainInvalid(extents); !why.empty())
      return invalid(std::string(what) + " " + why);

  if (parameters.size() > MaxParameters)
    return invalid("more than " + std::to_string(MaxParameters) +
                   " parameters");
  for (const Parameter &parameter : parameters)
    if (Status status = validateParameter(parameter, extents, bindings);
        !status)
      return status;
  const auto workspaces = std::count_if(
      parameters.begin(), parameters.end(), [](const Parameter &parameter) {
        return parameter.kind == Parameter::Kind::Workspace;
      });
  const int expected = workspaceBytes.isConstant(0) ? 0 : 1;
  if (workspaces != expected)
    return invalid("parameters for the workspace: expected " +
                   std::to_string(expected) + ", got " +
                   std::to_string(workspaces));
  return Status();
}

//===----------------------------------------------------------------------===//
// Errors of a launch; out of line, so that the path without one stays short.
//===----------------------------------------------------------------------===//

/// "grid x = ceildiv(tokens, 4)", or "grid x" where that would say nothing.
static std::string describe(const std::string &what, const Expression &value,
                            const PlanNames &names) {
  return value.isConstant() ? what : what + " = " + value.print(names);
}

[[gnu::cold, gnu::noinline]] static Status
explainFault(Fault fault, const std::string &what) {
  return invalid(what + (fault == Fault::DivisionByZero
                             ? " divides by 0 for these shapes"
                             : " is 2^63 or more: split the launch"));
}

/// Why isWithin() does not hold.
[[gnu::cold, gnu::noinline]] static Status
explainBounded(const Expression &expression, int64_t most, const char *what,
               const LaunchInputs &inputs, const PlanNames &names) {
  const std::string described = describe(what, expression, names);
  int64_t value = 0;
  Fault fault = expression.evaluate(inputs, value);
  if (fault != Fault::None)
    return explainFault(fault, described);
  return invalid(described + " is " + std::to_string(value) +
                 ", expected at most " + std::to_string(most) +
                 ": split the launch");
}

[[gnu::cold, gnu::noinline]] static Status
explainCluster(const LaunchPlan &plan, unsigned axis, int64_t value,
               const PlanNames &names) {
  return invalid(
      describe(std::string("grid ") + axisNames[axis], plan.grid[axis], names) +
      " is " + std::to_string(value) + ", expected a multiple of the " +
      std::to_string(plan.cluster[axis]) + " blocks of a cluster");
}

[[gnu::cold, gnu::noinline]] static Status
explainCondition(Fault fault, const Comparison &failed,
                 const PlanNames &names) {
  return explainFault(fault, "the condition " + failed.print(names));
}

[[gnu::cold, gnu::noinline]] static Status
explainRequirement(Fault fault, const Comparison &failed,
                   const LaunchInputs &inputs, const PlanNames &names) {
  if (fault != Fault::None)
    return explainFault(fault, "what is needed, " + failed.print(names) + ",");
  int64_t value = 0;
  (void)failed.lhs.evaluate(inputs, value);
  return invalid(
      "needs " + failed.print(names) + ", but " + failed.lhs.print(names) +
      " is " + std::to_string(value) +
      (failed.op == Comparison::Op::Lt || failed.op == Comparison::Op::Le
           ? ": split the launch"
           : ""));
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static bool isWithin(const Expression &expression, int64_t most,
                     const LaunchInputs &inputs, int64_t &value) {
  return expression.evaluate(inputs, value) == Fault::None && value <= most;
}

/// Whether some extent is 0, so that nothing is launched, whatever the others
/// are.
static bool isEmptyGrid(const LaunchPlan &plan, const LaunchInputs &inputs,
                        int64_t (&extents)[3], Fault (&faults)[3]) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    faults[axis] = plan.grid[axis].evaluate(inputs, extents[axis]);
    if (faults[axis] == Fault::None && extents[axis] == 0)
      return true;
  }
  return false;
}

Status LaunchPlan::evaluate(const LaunchInputs &inputs, const PlanNames &names,
                            LaunchShape &shape) const {
  static constexpr const char *gridNames[] = {"grid x", "grid y", "grid z"};
  shape = LaunchShape();
  bool holds;
  const Comparison *failed = nullptr;
  Fault fault = condition.evaluate(inputs, holds, failed);
  if (fault != Fault::None)
    return explainCondition(fault, *failed, names);
  int64_t extents[3];
  Fault faults[3];
  if (!holds || isEmptyGrid(*this, inputs, extents, faults))
    return Status();
  fault = requirements.evaluate(inputs, holds, failed);
  if (fault != Fault::None || !holds)
    return explainRequirement(fault, *failed, inputs, names);

  for (unsigned axis = 0; axis < 3; ++axis) {
    if (faults[axis] != Fault::None || extents[axis] > MaxGrid[axis])
      return explainBounded(grid[axis], MaxGrid[axis], gridNames[axis], inputs,
                            names);
    if (cluster[axis] > 1 && extents[axis] % cluster[axis] != 0)
      return explainCluster(*this, axis, extents[axis], names);
  }
  shape.grid =
      Dim3(uint32_t(extents[0]), uint32_t(extents[1]), uint32_t(extents[2]));

  int64_t value;
  if (!isWithin(sharedBytes, INT32_MAX, inputs, value))
    return explainBounded(sharedBytes, INT32_MAX, "dynamic shared memory",
                          inputs, names);
  shape.sharedBytes = uint32_t(value);
  if (!isWithin(workspaceBytes, INT64_MAX, inputs, value))
    return explainBounded(workspaceBytes, INT64_MAX, "workspace", inputs,
                          names);
  shape.workspaceBytes = uint64_t(value);
  for (const Parameter &parameter : parameters) {
    const bool isInt32 = parameter.kind == Parameter::Kind::Int32;
    if (!isInt32 && parameter.kind != Parameter::Kind::Int64)
      continue;
    const int64_t most = isInt32 ? INT32_MAX : INT64_MAX;
    if (!isWithin(parameter.value, most, inputs, value))
      return explainBounded(parameter.value, most, "a parameter", inputs,
                            names);
  }
  shape.runs = true;
  return Status();
}
