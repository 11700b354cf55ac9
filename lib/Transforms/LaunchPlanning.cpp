//===- LaunchPlanning.cpp - The launch plan of a kernel ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchPlanning.h"

#include "dsv4/Dialect/CUDA/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace dsv4;

namespace {
/// What a schedule says about the blocks of a launch.
struct LaunchGeometry {
  int64_t threads;      ///< Of a block.
  int64_t rowsPerBlock; ///< Of a block, or of the blocks that share rows.
  int64_t blocksPerRow; ///< Blocks that share rows.
  int64_t cluster;      ///< Blocks of a cluster.
  bool programmaticLaunch;
};
} // namespace

static LaunchGeometry getGeometry(ScheduleAttr schedule, StringRef arch) {
  // No driver takes it below sm_90, where a wait is nothing anyway.
  return {schedule.getThreads(), schedule.getRowsPerBlock(),
          schedule.getBlocksPerRow(), schedule.getCluster(),
          schedule.getPdl() &&
              cuda::getArchNumber(arch) >= limits::kFirstArchWithClusters};
}

/// Visits what accesses `memory`, also where it is one of two.
static void visitAccesses(Value memory, function_ref<void(OpOperand &)> visit) {
  for (OpOperand &use : memory.getUses())
    if (isa<cuda::BytesOp, arith::SelectOp>(use.getOwner()))
      visitAccesses(use.getOwner()->getResult(0), visit);
    else
      visit(use);
}

/// The alignment that an access relies on: that of an element, unless its op
/// says more.
static int64_t getAlignment(OpOperand &access) {
  if (auto op = dyn_cast<cuda::BufferAccessOpInterface>(access.getOwner()))
    return op.getBufferAlignment(access);
  Type element = cast<MemRefType>(access.get().getType()).getElementType();
  if (!element.isIntOrFloat())
    return 1;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// Whether an access may have an effect on its memory: an op that says nothing
/// of effects has all of them.
template <typename Effect>
static bool mayHave(OpOperand &access) {
  auto op = dyn_cast<MemoryEffectOpInterface>(access.getOwner());
  if (!op)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  op.getEffects(effects);
  return llvm::any_of(effects, [&](const auto &effect) {
    return isa<Effect>(effect.getEffect()) &&
           (effect.getValue()
                ? effect.getValue() == access.get()
                : effect.getResource() == SideEffects::DefaultResource::get());
  });
}

/// What a kernel does with the memory of a parameter.
static rt::Parameter describeBuffer(int binding, BlockArgument memory) {
  int64_t alignment = 1;
  bool reads = false, writes = false;
  visitAccesses(memory, [&](OpOperand &access) {
    alignment = std::max(alignment, getAlignment(access));
    reads |= mayHave<MemoryEffects::Read>(access);
    writes |= mayHave<MemoryEffects::Write>(access);
  });
  return rt::Parameter::buffer(binding, reads || !writes, writes,
                               static_cast<uint32_t>(alignment));
}

namespace {
/// Makes expressions of the extents of a function's arguments.
class ExtentExpressions {
public:
  ExtentExpressions(func::FuncOp func, const rt::PlanNames &names)
      : func(func), names(names) {}

  rt::Expression ofAxis(unsigned argument, int64_t axis) {
    auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[argument]);
    if (tensor && !tensor.isDynamicDim(axis))
      return tensor.getDimSize(axis);
    return rt::Expression::extent(
        indexIn(names.extents, getExtentName(func, argument, axis)));
  }

  /// The product of all extents but the last, or nothing if `tensor` has
  /// extents that no argument has.
  std::optional<rt::Expression> ofRows(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    auto argument = dyn_cast<BlockArgument>(tensor);
    rt::Expression rows = 1;
    for (int64_t axis = 0; axis < type.getRank() - 1; ++axis) {
      if (!argument && type.isDynamicDim(axis))
        return std::nullopt;
      rows = rows * (argument ? ofAxis(argument.getArgNumber(), axis)
                              : rt::Expression(type.getDimSize(axis)));
    }
    return rows;
  }

  int bindingOf(unsigned argument, StringRef field) {
    return indexIn(names.bindings, getBindingName(func, argument, field));
  }

private:
  static unsigned indexIn(const std::vector<std::string> &names,
                          const std::string &name) {
    return llvm::find(names, name) - names.begin();
  }

  func::FuncOp func;
  const rt::PlanNames &names;
};
} // namespace

/// Sets what follows from the schedule and the number of rows.
static void setGeometry(rt::LaunchPlan &plan, const LaunchGeometry &geometry,
                        const rt::Expression &rows) {
  plan.grid[0] = rt::Expression::ceilDiv(rows, geometry.rowsPerBlock) *
                 geometry.blocksPerRow;
  plan.block = static_cast<uint32_t>(geometry.threads);
  plan.cluster = static_cast<uint32_t>(geometry.cluster);
  plan.programmaticLaunch = geometry.programmaticLaunch;
  // The last block may not count rows past 2^31 - 1.
  const int64_t maxRows = INT32_MAX - (geometry.rowsPerBlock - 1);
  if (geometry.rowsPerBlock > 1 &&
      !(rows.isConstant() && rows.getConstant() <= maxRows))
    plan.requirements.comparisons.push_back(
        {rows, rt::Comparison::Op::Le, maxRows});
}

std::optional<rt::LaunchPlan>
dsv4::planLaunch(func::FuncOp func, ScheduleAttr schedule, StringRef arch,
                 Value rowsOf, ArrayRef<PlannedParameter> parameters,
                 const rt::PlanNames &names) {
  ExtentExpressions extents(func, names);
  std::optional<rt::Expression> rows = extents.ofRows(rowsOf);
  if (!rows)
    return std::nullopt;
  rt::LaunchPlan plan;
  setGeometry(plan, getGeometry(schedule, arch), *rows);
  for (const PlannedParameter &parameter : parameters) {
    Operation *source = parameter.source;
    if (auto workspace = dyn_cast<WorkspaceOp>(source)) {
      plan.workspaceBytes =
          *rows * rt::Expression(static_cast<int64_t>(workspace.getBytes()));
      plan.parameters.push_back(rt::Parameter::workspace());
    } else if (auto buffer = dyn_cast<BufferOp>(source)) {
      StringRef field = buffer.getField().value_or("");
      plan.parameters.push_back(describeBuffer(
          extents.bindingOf(parameter.argument, field), parameter.value));
    } else if (auto extent = dyn_cast<ExtentOp>(source)) {
      plan.parameters.push_back(rt::Parameter::int32(
          extents.ofAxis(parameter.argument, extent.getAxis())));
    } else {
      plan.parameters.push_back(rt::Parameter::int32(*rows));
    }
  }
  return plan;
}
