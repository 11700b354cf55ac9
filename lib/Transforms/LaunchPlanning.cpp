//===- LaunchPlanning.cpp - The launch plan of a kernel ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchPlanning.h"

#include "dsv4/Dialect/CUDA/ElementOps.h"
#include "dsv4/Dialect/DSV4/BufferStrides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dsv4;

bool dsv4::isParameter(Operation *op) {
  return isa<BufferOp, ExtentOp, StrideOp, RowCountOp, WorkspaceOp>(op);
}

namespace {
/// What a schedule says about the blocks of a launch.
struct LaunchGeometry {
  int64_t threads;      ///< Of a block.
  int64_t rowsPerBlock; ///< Of a block, or of the blocks that share rows.
  int64_t blocksPerRow; ///< Blocks that share rows.
  int64_t cluster;      ///< Blocks of a cluster.
  bool isPersistent;    ///< One block per multiprocessor.
  bool programmaticLaunch;
};
} // namespace

static LaunchGeometry getGeometry(ScheduleAttr schedule, StringRef arch) {
  // No driver takes it below sm_90, where a wait is nothing anyway.
  return {schedule.getThreads(),
          schedule.getRowsPerBlock(),
          schedule.getBlocksPerRow(),
          schedule.getCluster(),
          schedule.isPersistent(),
          schedule.getPdl() &&
              cuda::getArchNumber(arch) >= limits::kFirstArchWithClusters};
}

/// Visits what accesses `memory`, also where it is one of two.
static void visitAccesses(Value memory, function_ref<void(OpOperand &)> visit) {
  auto getReceiver = [](OpOperand &use) -> Value {
    Operation *user = use.getOwner();
    if (isa<cuda::BytesOp, arith::SelectOp>(user))
      return user->getResult(0);
    auto call = dyn_cast<cuda::DeviceCallOpInterface>(user->getParentOp());
    return call && user->hasTrait<OpTrait::ReturnLike>() ? call.getReceiver(use)
                                                         : Value();
  };
  for (OpOperand &use : memory.getUses())
    if (Value receiver = getReceiver(use))
      visitAccesses(receiver, visit);
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

MemoryUse dsv4::getMemoryUse(Value memory) {
  MemoryUse use;
  visitAccesses(memory, [&](OpOperand &access) {
    use.alignment = std::max(use.alignment, getAlignment(access));
    use.reads |= mayHave<MemoryEffects::Read>(access);
    use.writes |= mayHave<MemoryEffects::Write>(access);
  });
  return use;
}

static rt::Parameter describeBuffer(int binding, const MemoryUse &use) {
  return rt::Parameter::buffer(binding, use.reads || !use.writes, use.writes,
                               static_cast<uint32_t>(use.alignment));
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

  /// In elements of the buffer, from one index of an axis to the next.
  rt::Expression ofStride(unsigned argument, int64_t axis,
                          StringRef field = "") {
    if (ViewAttr view = getView(func, argument))
      return ofStride(view.getOf(), view.getAxes()[axis]);
    Type type = func.getArgumentTypes()[argument];
    auto tensor = dyn_cast<RankedTensorType>(type);
    StridesAttr strides = getStrides(func, argument);
    if (strides && (!tensor || axis < tensor.getRank() - 1 ||
                    hasElementStride(tensor, strides))) {
      if (int64_t constant = strides.getStrides()[axis];
          !ShapedType::isDynamic(constant))
        return constant / (tensor ? getElementBytes(tensor) : 1);
      return rt::Expression::extent(
          indexIn(names.extents, getStrideName(func, argument, axis, field)));
    }
    if (auto cache = dyn_cast<CacheType>(type))
      return getPageBytes(cache, field);
    rt::Expression product = 1;
    while (++axis < tensor.getRank() - 1)
      product = product * ofAxis(argument, axis);
    if (axis >= tensor.getRank())
      return product;
    if (tensor.getElementTypeBitWidth() == 4)
      return product * rt::Expression(tensor.getShape().back() / 2);
    return product * ofAxis(argument, axis);
  }

  /// Where the memory of an argument begins in that of its binding, and what
  /// must hold for it to be there.
  void addView(unsigned argument, rt::Parameter &buffer) {
    ViewAttr view = getView(func, argument);
    if (!view)
      return;
    unsigned whole = view.getOf();
    auto tensor = cast<RankedTensorType>(func.getArgumentTypes()[whole]);
    for (auto [axis, text] : llvm::enumerate(view.getOffsets())) {
      rt::Expression begin = *rt::Expression::parse(text.strref(), names);
      const auto *kept = llvm::find(view.getAxes(), int64_t(axis));
      rt::Expression size = 1;
      if (kept != view.getAxes().end())
        size = ofAxis(argument, kept - view.getAxes().begin());
      rt::Expression end = begin + size, extent = ofAxis(whole, axis);
      bool isWithin =
          end == extent || (end.isConstant() && extent.isConstant() &&
                            end.getConstant() <= extent.getConstant());
      if (!isWithin)
        buffer.within.comparisons.push_back(
            {end, rt::Comparison::Op::Le, extent});
      if (tensor.getElementTypeBitWidth() == 4 &&
          int64_t(axis) == tensor.getRank() - 1)
        begin = begin.getConstant() / 2;
      if (!begin.isConstant(0))
        buffer.offset = buffer.offset +
                        begin * ofStride(whole, axis) * getElementBytes(tensor);
    }
  }

  /// The product of all extents but the last, or nothing if `tensor` has
  /// extents that no argument has.
  std::optional<rt::Expression> ofRows(Value tensor) {
    return ofAxes(tensor,
                  cast<RankedTensorType>(tensor.getType()).getRank() - 1);
  }

  /// The product of the first extents.
  std::optional<rt::Expression> ofAxes(Value tensor, int64_t axes) {
    auto type = cast<RankedTensorType>(tensor.getType());
    auto argument = dyn_cast<BlockArgument>(tensor);
    rt::Expression rows = 1;
    for (int64_t axis = 0; axis < axes; ++axis) {
      if (!argument && type.isDynamicDim(axis))
        return std::nullopt;
      rows = rows * (argument ? ofAxis(argument.getArgNumber(), axis)
                              : rt::Expression(type.getDimSize(axis)));
    }
    return rows;
  }

  /// What `count` gives for `tensor`: the rows, or groups of some.
  std::optional<rt::Expression> ofRowGroups(Value tensor, RowCountOp count) {
    std::optional<rt::Expression> rows = ofRows(tensor);
    auto per = static_cast<int64_t>(count.getPer());
    return rows && per > 1 ? rt::Expression::ceilDiv(*rows, per) : rows;
  }

  int bindingOf(unsigned argument, StringRef field) {
    if (ViewAttr view = getView(func, argument))
      argument = view.getOf();
    return indexIn(names.bindings, getBindingName(func, argument, field));
  }

private:
  static unsigned indexIn(const std::vector<std::string> &names,
                          const std::string &name) {
    return llvm::find(names, name) - names.begin();
  }
  /// Of the buffer: two elements of 4 bits are one.
  static int64_t getElementBytes(RankedTensorType tensor) {
    return std::max<int64_t>(tensor.getElementTypeBitWidth() / 8, 1);
  }

  func::FuncOp func;
  const rt::PlanNames &names;
};
} // namespace

/// Requires that `extent` is at most `max`. A condition has a limited number of
/// comparisons, so each extent gets one, the tightest.
static void requireAtMost(const rt::Expression &extent, int64_t max,
                          rt::Condition &requirements) {
  for (rt::Comparison &comparison : requirements.comparisons)
    if (comparison.lhs == extent && comparison.rhs.isConstant()) {
      comparison.rhs = std::min(comparison.rhs.getConstant(), max);
      return;
    }
  requirements.comparisons.push_back({extent, rt::Comparison::Op::Le, max});
}

/// Requires that the last of the blocks with `rowsPerBlock` rows each does not
/// count rows past 2^31 - 1.
static void requireCountable(const rt::Expression &rows, int64_t rowsPerBlock,
                             rt::Condition &requirements) {
  const int64_t maxRows = INT32_MAX - (rowsPerBlock - 1);
  if (rowsPerBlock > 1 && !(rows.isConstant() && rows.getConstant() <= maxRows))
    requireAtMost(rows, maxRows, requirements);
}

namespace {
/// Makes expressions of the extents of a dsv4.grid.
class GridReader {
public:
  GridReader(func::FuncOp func, KernelOp kernel, GridOp grid,
             const rt::PlanNames &names)
      : kernel(kernel), grid(grid), extents(func, names),
        extentCount(names.extents.size()) {}

  FailureOr<rt::Expression> read(Value value, unsigned depth = 0);
  /// What the kernel relies on where it counts groups of rows.
  const rt::Condition &getRequirements() const { return requirements; }

private:
  LogicalResult refuse(Operation *op, const Twine &why) {
    return op->emitOpError()
           << "grid_c2: " << why
           << "; expected constants, 'dsv4.extent', 'dsv4.row_count' and "
              "'dsv4.multiprocessors', and sums, products, 'ceildivui', minima "
              "and maxima of them";
  }
  /// What the launch passes for an argument of the kernel.
  Value getGiven(Value value) {
    auto inner = dyn_cast<BlockArgument>(value);
    return inner && inner.getOwner()->getParentOp() == kernel
               ? kernel.getInputs()[inner.getArgNumber()]
               : value;
  }
  FailureOr<rt::Expression> readExtent(Operation *op);
  FailureOr<rt::Expression> readBinary(Operation *op, unsigned depth);
  FailureOr<rt::Expression> readOp(Operation *op, unsigned depth);

  /// By the value: operands may share values, and a sum of constants stays one
  /// node, so a walk without it is exponential.
  llvm::DenseMap<Value, rt::Expression> found;
  KernelOp kernel;
  GridOp grid;
  ExtentExpressions extents;
  size_t extentCount;
  rt::Condition requirements;
};
} // namespace

FailureOr<rt::Expression> GridReader::readExtent(Operation *op) {
  Value given = getGiven(op->getOperand(0));
  if (auto extent = dyn_cast<ExtentOp>(op)) {
    if (auto argument = dyn_cast<BlockArgument>(given))
      return extents.ofAxis(argument.getArgNumber(), extent.getAxis());
  } else if (auto rows = extents.ofRows(given)) {
    auto count = cast<RowCountOp>(op);
    requireCountable(*rows, count.getPer(), requirements);
    return *extents.ofRowGroups(given, count);
  }
  return refuse(op, "is an extent that no argument of the function has");
}

FailureOr<rt::Expression> GridReader::readBinary(Operation *op,
                                                 unsigned depth) {
  using rt::Expression;
  // Not by names, and no further into a value that no plan can have.
  enum {
    Add,
    Multiply,
    CeilDiv,
    Min,
    Max,
    None
  } kind = isa<arith::AddIOp>(op)                    ? Add
           : isa<arith::MulIOp>(op)                  ? Multiply
           : isa<arith::CeilDivUIOp>(op)             ? CeilDiv
           : isa<arith::MinUIOp, arith::MinSIOp>(op) ? Min
           : isa<arith::MaxUIOp, arith::MaxSIOp>(op) ? Max
                                                     : None;
  if (kind == None || depth > rt::MaxExpressionDepth)
    return refuse(op, kind == None ? "is not arithmetic of launch plans"
                                   : "is too deep for a launch plan");
  FailureOr<Expression> lhs = read(op->getOperand(0), depth + 1);
  if (failed(lhs))
    return failure();
  FailureOr<Expression> rhs = read(op->getOperand(1), depth + 1);
  if (failed(rhs))
    return failure();
  if (kind == CeilDiv && rhs->isConstant(0))
    return refuse(op, "divides by zero");
  Expression result = kind == Add        ? *lhs + *rhs
                      : kind == Multiply ? *lhs * *rhs
                      : kind == CeilDiv  ? Expression::ceilDiv(*lhs, *rhs)
                      : kind == Min      ? Expression::min(*lhs, *rhs)
                                         : Expression::max(*lhs, *rhs);
  if (std::string why = result.explainInvalid(extentCount); !why.empty())
    return refuse(op, why);
  return result;
}

FailureOr<rt::Expression> GridReader::read(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return refuse(grid, "takes an argument of a region");
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.isNegative())
      return refuse(op, "is negative");
    return rt::Expression(constant.getSExtValue());
  }
  if (auto known = found.find(value); known != found.end())
    return known->second;
  FailureOr<rt::Expression> result = readOp(op, depth);
  if (succeeded(result))
    found.try_emplace(value, *result);
  return result;
}

FailureOr<rt::Expression> GridReader::readOp(Operation *op, unsigned depth) {
  if (isa<MultiprocessorsOp>(op))
    return rt::Expression::multiprocessors();
  if (isa<ExtentOp, RowCountOp>(op))
    return readExtent(op);
  return readBinary(op, depth);
}

/// Erases `op`, and the ops that only it used.
static void eraseWithOperands(Operation *op) {
  // An op may have an operand twice.
  SmallPtrSet<Operation *, 4> makers;
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp())
      makers.insert(maker);
  op->erase();
  for (Operation *maker : makers)
    if (isOpTriviallyDead(maker))
      eraseWithOperands(maker);
}

/// Refuses an axis that is read and has no extent, and bounds those that have.
template <typename Op>
static LogicalResult bindAxis(Op op, PlannedGrid &grid) {
  auto axis = static_cast<unsigned>(op.getDimension());
  // Along x the schedule has blocks for the rows.
  if (grid.extents.empty() && axis == 0)
    return success();
  if (axis >= grid.extents.size())
    return op.emitOpError()
           << "grid_c3: has no extent along "
           << gpu::stringifyDimension(op.getDimension())
           << "; expected a 'dsv4.grid' of the kernel with at least "
           << axis + 1 << " extents";
  const rt::Expression &extent = grid.extents[axis];
  if (std::optional<APInt> bound = op.getUpperBound()) {
    int64_t max = bound->getSExtValue();
    if (!extent.isConstant() || extent.getConstant() > max)
      requireAtMost(extent, max, grid.requirements);
    return success();
  }
  int64_t max = rt::MaxGrid[axis];
  if (extent.isConstant())
    max = std::clamp<int64_t>(extent.getConstant(), 1, max);
  op.setUpperBoundAttr(Builder(op.getContext()).getIndexAttr(max));
  return success();
}

/// Only the host knows how many there are.
static LogicalResult refuseOutsideGrid(MultiprocessorsOp op) {
  return op.emitOpError()
         << "grid_c2: is used outside of the extents of a 'dsv4.grid'; "
            "expected 'gpu.grid_dim' where the kernel counts its blocks";
}

FailureOr<PlannedGrid> dsv4::planGrid(func::FuncOp func, KernelOp kernel,
                                      const rt::PlanNames &names) {
  PlannedGrid planned;
  auto grids = kernel.getBody().front().getOps<GridOp>();
  if (!grids.empty()) {
    GridOp grid = *grids.begin();
    GridReader reader(func, kernel, grid, names);
    for (Value value : grid.getExtents()) {
      FailureOr<rt::Expression> extent = reader.read(value);
      if (failed(extent))
        return failure();
      planned.extents.push_back(*extent);
    }
    planned.requirements = reader.getRequirements();
    eraseWithOperands(grid);
  }
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    LogicalResult bound = success();
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      bound = bindAxis(id, planned);
    else if (auto size = dyn_cast<gpu::GridDimOp>(op))
      bound = bindAxis(size, planned);
    else if (auto count = dyn_cast<MultiprocessorsOp>(op))
      bound = refuseOutsideGrid(count);
    return failed(bound) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return planned;
}

/// Sets what follows from the schedule alone.
static void setLaunch(rt::LaunchPlan &plan, const LaunchGeometry &geometry) {
  plan.block = static_cast<uint32_t>(geometry.threads);
  plan.cluster = static_cast<uint32_t>(geometry.cluster);
  plan.programmaticLaunch = geometry.programmaticLaunch;
}

/// Sets the grid that follows from the schedule and the number of rows.
static void setRowGrid(rt::LaunchPlan &plan, const LaunchGeometry &geometry,
                       const rt::Expression &rows) {
  if (geometry.isPersistent) {
    // None without rows.
    plan.grid[0] = rt::Expression::multiprocessors() *
                   rt::Expression::min(rows, rt::Expression(1));
    requireCountable(rows, geometry.rowsPerBlock, plan.requirements);
    return;
  }
  plan.grid[0] = rt::Expression::ceilDiv(rows, geometry.rowsPerBlock) *
                 geometry.blocksPerRow;
  requireCountable(rows, geometry.rowsPerBlock, plan.requirements);
}

/// Adds what Specialize found that extents of an argument must be.
static LogicalResult requireBounds(func::FuncOp func, unsigned argument,
                                   const rt::PlanNames &names,
                                   rt::Condition &requirements) {
  auto text =
      func.getArgAttrOfType<StringAttr>(argument, DSV4Dialect::kRequiresAttr);
  if (!text)
    return success();
  rt::Result<rt::Condition> required =
      rt::Condition::parse(text.getValue().str(), names);
  if (!required)
    return func.emitError()
           << "'" << DSV4Dialect::kRequiresAttr << "' of argument '"
           << getArgumentName(func, argument)
           << "': " << required.status().message();
  for (rt::Comparison &comparison : required->comparisons)
    if (llvm::none_of(requirements.comparisons, [&](const auto &other) {
          return other.print(names) == comparison.print(names);
        }))
      requirements.comparisons.push_back(std::move(comparison));
  return success();
}

std::optional<rt::LaunchPlan>
dsv4::planLaunch(func::FuncOp func, ScheduleAttr schedule, StringRef arch,
                 Value rowsOf, int64_t axes, const PlannedGrid &grid,
                 ArrayRef<PlannedParameter> parameters,
                 const rt::PlanNames &names) {
  ExtentExpressions extents(func, names);
  std::optional<rt::Expression> rows = extents.ofAxes(rowsOf, axes);
  if (!rows)
    return std::nullopt;
  rt::LaunchPlan plan;
  LaunchGeometry geometry = getGeometry(schedule, arch);
  setLaunch(plan, geometry);
  if (grid.extents.empty())
    setRowGrid(plan, geometry, *rows);
  llvm::copy(grid.extents, plan.grid.begin());
  llvm::append_range(plan.requirements.comparisons,
                     grid.requirements.comparisons);
  for (const PlannedParameter &parameter : parameters) {
    Operation *source = parameter.source;
    if (auto workspace = dyn_cast<WorkspaceOp>(source)) {
      // A kernel of no rows has the parameter, too.
      rt::Expression count =
          rows->isConstant(0) ? rt::Expression(1) : rt::Expression(*rows);
      plan.workspaceBytes =
          count * rt::Expression(static_cast<int64_t>(workspace.getBytes()));
      plan.parameters.push_back(rt::Parameter::workspace());
    } else if (auto buffer = dyn_cast<BufferOp>(source)) {
      StringRef field = buffer.getField().value_or("");
      if (failed(requireBounds(func, parameter.argument, names,
                               plan.requirements)))
        return std::nullopt;
      rt::Parameter described =
          describeBuffer(extents.bindingOf(parameter.argument, field),
                         getMemoryUse(parameter.value));
      extents.addView(parameter.argument, described);
      // Accesses of rows with strides rely on no more, whatever they access.
      if (StridesAttr strides =
              getBufferStrides(func, parameter.argument, field))
        described.alignment = std::min(
            described.alignment, static_cast<uint32_t>(strides.getAlign()));
      plan.parameters.push_back(std::move(described));
    } else if (auto extent = dyn_cast<ExtentOp>(source)) {
      plan.parameters.push_back(rt::Parameter::int32(
          extents.ofAxis(parameter.argument, extent.getAxis())));
    } else if (auto stride = dyn_cast<StrideOp>(source)) {
      plan.parameters.push_back(rt::Parameter::int32(
          extents.ofStride(parameter.argument, stride.getAxis(),
                           stride.getField().value_or(""))));
    } else {
      auto count = cast<RowCountOp>(source);
      plan.parameters.push_back(rt::Parameter::int32(
          *extents.ofRowGroups(func.getArgument(parameter.argument), count)));
    }
  }
  return plan;
}
