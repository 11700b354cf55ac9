//===- MergeKernels.cpp - Independent kernels in one launch -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch costs a few microseconds, and a kernel of few rows leaves most of
// the device idle. Kernels of different iteration spaces share a launch by
// their blocks: those below a number have rows of the first kernel, and so on.
//
//===----------------------------------------------------------------------===//

#include "LaunchPlanning.h"

#include "dsv4/Dialect/DSV4/IterationSpace.h"
#include "dsv4/Passes.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_MERGEKERNELS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

static constexpr llvm::StringLiteral kMergeRemarks = "dsv4-merge-kernels";

/// Kernels of one launch: the source has a branch for each.
static constexpr size_t kMaxParts = 4;

/// A thread of a part with few blocks may hold this many times the elements of
/// the part with most: registers are those of the part that needs most.
static constexpr int64_t kMaxFragmentRatio = 2;

namespace {

/// A kernel that may become a part of a launch.
struct Part {
  KernelOp kernel;
  ScheduleAttr schedule;
  SmallVector<gpu::BlockIdOp> blockIds;
  int64_t maxBlocks = 0;
  /// Whether all threads of a block do an op together.
  bool isBlockCooperative = false;
  /// Elements of the largest fragment that a thread holds.
  int64_t fragment = 1;
  /// The number of rows: a constant times dims.
  int64_t constantRows = 1;
  SmallVector<std::string> dims;
  /// What the kernel does with the memory of its operands.
  llvm::MapVector<Value, MemoryUse> memory;

  int64_t getThreads() const { return schedule.getThreads(); }
  StringRef getName() const { return KernelOp(kernel).getSymName(); }
  Value getRowsOf() const {
    return KernelOp(kernel).getInputs()[::getRowsOf(kernel).operand];
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// What can be a part
//===----------------------------------------------------------------------===//

/// Why a block of the kernel with `schedule` is more than threads with rows of
/// their own, or an empty string.
static std::string explainSchedule(ScheduleAttr schedule) {
  if (schedule.getParts().size() != 1 || !schedule.getRowMapping().isGeneral)
    return "its threads have more to do than rows of their own";
  if (schedule.getCluster() > 1)
    return "its blocks form clusters";
  return "";
}

/// The same of one op.
static std::string explainOp(Operation *op) {
  if (isa<GridOp, WorkspaceOp, gpu::GridDimOp, MultiprocessorsOp,
          cuda::SharedMemoryOpInterface>(op))
    return llvm::formatv("'{0}' depends on the launch as a whole",
                         op->getName());
  // Others are not where parameters are looked for.
  if (isParameter(op)) {
    auto source = dyn_cast<BlockArgument>(op->getOperand(0));
    if (!source || source.getOwner() != op->getBlock())
      return llvm::formatv("'{0}' is not of an operand", op->getName());
  }
  auto id = dyn_cast<gpu::BlockIdOp>(op);
  if (id && (id.getDimension() != gpu::Dimension::x || !id.getUpperBound() ||
             !id.getUpperBound()->isStrictlyPositive()))
    return "a block id of it has no bound";
  return "";
}

/// Finds the memory of operands that the kernel accesses.
static void collectMemory(Part &part) {
  for (auto buffer : part.kernel.getBody().front().getOps<BufferOp>()) {
    auto argument = cast<BlockArgument>(buffer.getSource());
    MemoryUse use = getMemoryUse(buffer.getMemory());
    MemoryUse &all =
        part.memory[part.kernel.getInputs()[argument.getArgNumber()]];
    all.reads |= use.reads;
    all.writes |= use.writes;
  }
}

/// Finds the constant and the dims of the number of rows.
static bool collectRows(Part &part) {
  auto argument = dyn_cast<BlockArgument>(part.getRowsOf());
  if (!argument)
    return false;
  Operation *func = argument.getOwner()->getParentOp();
  auto type = cast<RankedTensorType>(argument.getType());
  for (int64_t axis = 0; axis < type.getRank() - 1; ++axis)
    if (type.isDynamicDim(axis))
      part.dims.push_back(getExtentName(func, argument.getArgNumber(), axis));
    else if (llvm::MulOverflow(part.constantRows, type.getDimSize(axis),
                               part.constantRows))
      return false;
  llvm::sort(part.dims);
  return true;
}

/// Whether all axes of the operand with the rows count, which dsv4.row_count
/// does not.
static bool hasRowsOfNumbers(const Part &part) {
  auto type = cast<RankedTensorType>(part.getRowsOf().getType());
  return getRowsOf(part.kernel).axes == type.getRank();
}

/// Finds what is to know of `part.kernel`. Returns why it cannot be a part, or
/// an empty string.
static std::string analyze(Part &part) {
  part.schedule = part.kernel.getScheduleAttr();
  if (!part.schedule || !part.kernel->hasAttr(DSV4Dialect::kRowsOfAttr) ||
      part.kernel->hasAttr(DSV4Dialect::kPartsAttr))
    return "it is not a kernel that was just distributed";
  if (std::string why = explainSchedule(part.schedule); !why.empty())
    return why;
  if (!collectRows(part))
    return "no argument has its rows";
  if (hasRowsOfNumbers(part))
    return "each of its rows is one number of a tensor of rank 1";
  std::string why;
  part.kernel.getBody().walk([&](Operation *op) {
    why = explainOp(op);
    if (!why.empty())
      return WalkResult::interrupt();
    if (auto id = dyn_cast<gpu::BlockIdOp>(op)) {
      part.blockIds.push_back(id);
      part.maxBlocks =
          std::max(part.maxBlocks, id.getUpperBound()->getSExtValue());
    }
    if (auto cooperative = dyn_cast<cuda::BlockCooperativeOpInterface>(op))
      part.isBlockCooperative |= cooperative.isBlockCooperative();
    for (Type type : op->getResultTypes())
      if (auto held = dyn_cast<VectorType>(type))
        part.fragment = std::max(part.fragment, held.getNumElements());
    return WalkResult::advance();
  });
  if (why.empty() && part.blockIds.empty())
    why = "it does not depend on the block";
  if (why.empty())
    collectMemory(part);
  return why;
}

//===----------------------------------------------------------------------===//
// What can be parts of one launch
//===----------------------------------------------------------------------===//

/// Which of two parts has more blocks, whatever the extents are: negative,
/// zero or positive as in a comparison. Nothing if extents decide.
static std::optional<int> compareBlocks(const Part &a, const Part &b) {
  if (a.dims != b.dims)
    return std::nullopt;
  int64_t left, right;
  if (llvm::MulOverflow(a.constantRows, b.schedule.getRowsPerBlock(), left) ||
      llvm::MulOverflow(b.constantRows, a.schedule.getRowsPerBlock(), right))
    return std::nullopt;
  return left < right ? -1 : left > right;
}

static std::string nameMemory(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? "'" +
                        getArgumentName(argument.getOwner()->getParentOp(),
                                        argument.getArgNumber()) +
                        "'"
                  : "an intermediate result";
}

/// Why one of two parts would have to wait for the other, or an empty string.
static std::string explainDependence(const Part &a, const Part &b) {
  for (const auto &[value, use] : a.memory) {
    auto other = b.memory.find(value);
    if (other == b.memory.end() || (!use.writes && !other->second.writes))
      continue;
    const Part &writer = use.writes ? a : b, &user = use.writes ? b : a;
    return llvm::formatv("'{0}' {1} {2}, which '{3}' writes", user.getName(),
                         (use.writes ? other->second : use).reads ? "reads"
                                                                  : "writes",
                         nameMemory(value), writer.getName());
  }
  return "";
}

/// Why blocks of `few` would need more threads or registers than those of
/// `most`, or an empty string.
static std::string explainSize(const Part &few, const Part &most) {
  if (few.fragment > kMaxFragmentRatio * most.fragment)
    return llvm::formatv(
        "a thread of '{0}' holds {1} elements of a row, and one of '{2}' holds "
        "{3}; expected at most {4} times as many: give '{0}' a schedule with "
        "more 'lanes'",
        few.getName(), few.fragment, most.getName(), most.fragment,
        kMaxFragmentRatio);
  // Threads that a part does not need leave its blocks at once.
  if (few.getThreads() > most.getThreads() ||
      (few.getThreads() < most.getThreads() && few.isBlockCooperative))
    return llvm::formatv(
        "blocks of '{0}' have {1} threads, and those of '{2}' "
        "have {3}: give both schedules with the same 'threads'",
        few.getName(), few.getThreads(), most.getName(), most.getThreads());
  return "";
}

/// The same of two parts of which extents decide which has more blocks.
static std::string explainSizes(const Part &a, const Part &b) {
  if (a.schedule.getMinBlocks() != b.schedule.getMinBlocks())
    return llvm::formatv("'min_blocks' is {0} and {1}, and extents decide "
                         "which has more blocks: give both the same",
                         a.schedule.getMinBlocks(), b.schedule.getMinBlocks());
  std::string why = explainSize(a, b);
  return why.empty() ? explainSize(b, a) : why;
}

/// Why two kernels, `a` before `b`, have launches of their own, or an empty
/// string.
static std::string explainApart(const Part &a, const Part &b) {
  if (std::string why = explainDependence(a, b); !why.empty())
    return why;
  if (a.schedule.getPdl() != b.schedule.getPdl())
    return "only one has a programmatic launch";
  std::optional<int> order = compareBlocks(a, b);
  if (!order)
    return explainSizes(a, b);
  return *order < 0 ? explainSize(a, b) : explainSize(b, a);
}

//===----------------------------------------------------------------------===//
// The kernel of several parts
//===----------------------------------------------------------------------===//

namespace {

/// Makes one kernel of several.
class Merger {
public:
  Merger(ArrayRef<Part> parts, StringRef name)
      : parts(parts), name(name), last(parts.back().kernel), b(last),
        loc(parts.front().kernel->getLoc()) {}

  KernelOp run();

private:
  const Part &getLargest();
  void createKernel();
  /// Moves what all branches may use before them.
  void moveParameters(const Part &part);
  /// The blocks of each part, and of the launch.
  void countBlocks();
  /// Moves the body of a part to where the builder is. Its blocks are counted
  /// from `block`.
  void movePart(const Part &part, Value block);
  void describe(const Part &largest);

  ArrayRef<Part> parts;
  StringRef name;
  KernelOp last;
  OpBuilder b;
  Location loc;
  llvm::SetVector<Value> inputs;
  KernelOp merged;
  Block *body = nullptr;
  SmallVector<Value> blocks;
};

} // namespace

/// The part with most blocks, as far as that is known.
const Part &Merger::getLargest() {
  const Part *largest = &parts.front();
  for (const Part &part : parts.drop_front())
    if (compareBlocks(*largest, part).value_or(0) < 0)
      largest = &part;
  return *largest;
}

void Merger::createKernel() {
  SmallVector<Attribute> reasons;
  for (Part part : parts) {
    inputs.insert_range(part.kernel.getInputs());
    if (ArrayAttr own = part.kernel.getUnfusedReasonsAttr())
      llvm::append_range(reasons, own);
  }
  merged = KernelOp::create(
      b, loc, TypeRange(), name, inputs.getArrayRef(), getLargest().schedule,
      reasons.empty() ? ArrayAttr() : b.getArrayAttr(reasons));
  body = b.createBlock(&merged.getBody());
  for (Value input : inputs)
    body->addArgument(input.getType(), input.getLoc());
  YieldOp::create(b, loc);
  b.setInsertionPoint(body->getTerminator());
}

void Merger::moveParameters(const Part &part) {
  KernelOp kernel = part.kernel;
  Block &from = kernel.getBody().front();
  for (auto [argument, given] :
       llvm::zip_equal(from.getArguments(), kernel.getInputs()))
    argument.replaceAllUsesWith(
        body->getArgument(llvm::find(inputs, given) - inputs.begin()));
  for (Operation &op : llvm::make_early_inc_range(from))
    if (isParameter(&op))
      op.moveBefore(body->getTerminator());
}

void Merger::countBlocks() {
  Value total;
  for (const Part &part : parts) {
    Value rowsOf = part.getRowsOf();
    Value count = b.createOrFold<RowCountOp>(
        loc, body->getArgument(llvm::find(inputs, rowsOf) - inputs.begin()),
        part.maxBlocks, part.schedule.getRowsPerBlock());
    blocks.push_back(count);
    total = total ? arith::AddIOp::create(b, loc, total, count) : count;
  }
  GridOp::create(b, loc, ValueRange{total});
}

void Merger::movePart(const Part &part, Value block) {
  if (part.getThreads() < getLargest().getThreads()) {
    Value thread = gpu::ThreadIdOp::create(
        b, loc, gpu::Dimension::x, b.getIndexAttr(getLargest().getThreads()));
    Value hasWork = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::slt, thread,
        arith::ConstantIndexOp::create(b, loc, part.getThreads()));
    auto guard = scf::IfOp::create(b, loc, hasWork);
    b.setInsertionPointToStart(guard.thenBlock());
  }
  Value own = cuda::BoundedOp::create(b, loc, b.getIndexType(), block,
                                      part.maxBlocks - 1);
  for (gpu::BlockIdOp id : part.blockIds) {
    id.replaceAllUsesWith(own);
    id.erase();
  }
  KernelOp kernel = part.kernel;
  for (Operation &op : llvm::make_early_inc_range(
           kernel.getBody().front().without_terminator())) {
    // All blocks have waited.
    if (isa<cuda::WaitForPreviousKernelOp>(op))
      op.erase();
    else
      op.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  }
}

void Merger::describe(const Part &largest) {
  SmallVector<Attribute> described;
  for (Part part : parts) {
    auto summary =
        part.kernel->getAttrOfType<StringAttr>(DSV4Dialect::kSummaryAttr);
    described.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("schedule", part.schedule),
         b.getNamedAttr("summary",
                        summary ? summary : b.getStringAttr(part.getName()))}));
  }
  merged->setAttr(DSV4Dialect::kPartsAttr, b.getArrayAttr(described));
  merged->setAttr(DSV4Dialect::kRowsOfAttr,
                  b.getI64IntegerAttr(llvm::find(inputs, largest.getRowsOf()) -
                                      inputs.begin()));
}

KernelOp Merger::run() {
  createKernel();
  for (const Part &part : parts)
    moveParameters(part);
  countBlocks();
  if (parts.front().schedule.getPdl())
    cuda::WaitForPreviousKernelOp::create(b, loc);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  for (auto [part, count] :
       llvm::zip_equal(parts.drop_back(), ArrayRef(blocks).drop_back())) {
    Value isOfPart =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, block, count);
    auto branch = scf::IfOp::create(b, loc, isOfPart, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    movePart(part, block);
    b.setInsertionPointToStart(branch.elseBlock());
    block = arith::SubIOp::create(
        b, NameLoc::get(b.getStringAttr("block"), loc), block, count);
  }
  movePart(parts.back(), block);
  describe(getLargest());
  for (Part part : parts)
    part.kernel.erase();
  return merged;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Leaves a remark why `a` and `b` have launches of their own.
static void missed(const Part &a, const Part &b, StringRef why) {
  remark::missed(
      b.kernel->getLoc(),
      remark::RemarkOpts::name(kMergeRemarks).category(kMergeRemarks))
      << llvm::formatv(
             "kernels '{0}' and '{1}' have launches of their own: {2}",
             a.getName(), b.getName(), why)
             .str();
}

/// Joins `parts` in one kernel, if there are several.
static void joinParts(ArrayRef<Part> parts, func::FuncOp func) {
  if (parts.size() < 2)
    return;
  auto kernels = func.getOps<KernelOp>();
  std::string names = parts.front().getName().str(), name = names;
  for (const Part &part : parts.drop_front()) {
    names += ("', '" + part.getName()).str();
    name += ("_and_" + part.getName()).str();
  }
  bool isOnlyOne = std::distance(kernels.begin(), kernels.end()) ==
                   static_cast<ptrdiff_t>(parts.size());
  KernelOp merged =
      Merger(parts, toIdentifier(isOnlyOne ? func.getName() : name)).run();
  remark::passed(
      merged.getLoc(),
      remark::RemarkOpts::name(kMergeRemarks).category(kMergeRemarks))
      << llvm::formatv("kernels '{0}' have one launch, '{1}'", names,
                       merged.getSymName())
             .str();
}

namespace {
struct MergeKernels : dsv4::impl::MergeKernelsBase<MergeKernels> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || func->hasAttr(DSV4Dialect::kSeparateLaunchesAttr))
      return;
    // Kernels that follow each other, and may be parts of one launch.
    SmallVector<SmallVector<Part>> launches(1);
    std::optional<Part> previous;
    for (Operation &op : func.getBody().front()) {
      Part part;
      part.kernel = dyn_cast<KernelOp>(op);
      if (!part.kernel) {
        // It may use what the kernel before it writes.
        if (!isMemoryEffectFree(&op))
          previous.reset();
        continue;
      }
      std::string why = analyze(part);
      bool isPart = why.empty();
      if (isPart && previous)
        why = explainJoining(launches.back(), part);
      if (!why.empty() && previous)
        missed(*previous, part, why);
      if (!why.empty() || !previous)
        launches.emplace_back();
      if (isPart)
        launches.back().push_back(part);
      previous = part;
    }
    for (ArrayRef<Part> parts : launches)
      joinParts(parts, func);
  }

private:
  /// Why `part` has no launch with `parts`, or an empty string.
  static std::string explainJoining(ArrayRef<Part> parts, const Part &part) {
    if (parts.empty())
      return "the first is not one of rows alone";
    if (parts.size() == kMaxParts)
      return llvm::formatv("a launch has at most {0} kernels", kMaxParts);
    for (const Part &other : parts)
      if (std::string why = explainApart(other, part); !why.empty())
        return why;
    return "";
  }
};
} // namespace
