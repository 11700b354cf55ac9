//===- FormKernels.cpp - Groups of ops become kernels ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Grouping follows use-def chains through interfaces, never op names. A group
// grows upwards from its last op: a producer joins if both have the same
// iteration space, and if producers provide every access that ops of the group
// then demand. Values that other ops use are also stored. A value without
// memory cannot be, so all ops that read it have to be in one kernel: they join
// as siblings, although no op of the group reads their results.
//
//===----------------------------------------------------------------------===//

#include "KernelGroup.h"

#include "dsv4/Dialect/DSV4/IterationSpace.h"
#include "dsv4/Passes.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_FORMKERNELS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

static constexpr llvm::StringLiteral kFormRemarks = "dsv4-form-kernels";

/// Whether `writer` may write a cache that `reader` reads.
static bool writesWhatIsRead(Operation *writer, Operation *reader) {
  return llvm::any_of(reader->getOperands(), [&](Value operand) {
    return isa<CacheType>(operand.getType()) &&
           hasEffect<MemoryEffects::Write>(writer, operand);
  });
}

/// Whether the result of `writer` goes where `reader` reads an operand.
static bool overwritesWhatIsRead(Operation *writer, Operation *reader) {
  auto styled = dyn_cast<DestinationStyleOpInterface>(writer);
  return styled &&
         llvm::any_of(reader->getOpOperands(), [&](OpOperand &operand) {
           return !isDestination(operand) &&
                  llvm::is_contained(styled.getDpsInits(), operand.get());
         });
}

/// "tokens x 8".
static std::string describeSpace(RowwiseOpInterface op) {
  std::string text = llvm::join(describeIterationSpace(op), " x ");
  return text.empty() ? "one row" : text;
}

//===----------------------------------------------------------------------===//
// What joins a group
//===----------------------------------------------------------------------===//

/// Why a kernel with the ops of `group` cannot use `producer` because of an op
/// that uses a result before the kernel runs, or an empty string.
static std::string explainEarlyUsers(Operation *producer,
                                     const KernelGroup &group) {
  for (Operation *user : producer->getUsers()) {
    if (group.contains(user))
      continue;
    Operation *at = producer->getBlock()->findAncestorOpInBlock(*user);
    if (at && at->isBeforeInBlock(group.getLast()))
      return llvm::formatv("'{0}' uses its result between them",
                           user->getName());
  }
  return "";
}

/// The op of `group` that has the destination of `result`, or null.
static Operation *findOtherOwner(OpResult result, const KernelGroup &group) {
  auto producer = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
  if (!producer)
    return nullptr;
  Value destination = producer.getTiedOpOperand(result)->get();
  const auto *other = llvm::find_if(group.getOps(), [&](Operation *op) {
    auto styled = dyn_cast<DestinationStyleOpInterface>(op);
    return styled && llvm::is_contained(styled.getDpsInits(), destination);
  });
  return other == group.getOps().end() ? nullptr : *other;
}

/// Why a kernel with the ops of `group` cannot also store what it computes of
/// `producer` for others, or an empty string.
static std::string explainOtherUsers(Operation *producer,
                                     const KernelGroup &group) {
  auto isMember = [&](Operation *user) { return group.contains(user); };
  for (OpResult result : producer->getResults()) {
    if (llvm::all_of(result.getUsers(), isMember))
      continue;
    if (Operation *other = findOtherOwner(result, group))
      return llvm::formatv("its result has other users, and '{0}' overwrites "
                           "its destination",
                           other->getName());
  }
  return "";
}

/// Why a kernel of `group` and `producer`, for whose accesses it was asked,
/// cannot store whole rows that it also reads in parts, or an empty string.
static std::string explainRowsAndParts(Operation *producer,
                                       const KernelGroup &group) {
  SmallVector<Operation *> ops(group.getOps().begin(), group.getOps().end());
  ops.push_back(producer);
  auto isStored = [&](OpResult result) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      return !llvm::is_contained(ops, user);
    });
  };
  for (Operation *op : ops) {
    if (cast<FusionOpInterface>(op).isAlsoStored())
      continue;
    for (OpResult result : op->getResults()) {
      if (!group.readsRowsAndParts(result))
        continue;
      if (!group.holdsRows(result))
        return isStored(result)
                   ? "its result has other users, and the kernel would compute "
                     "only parts of it"
                   : "the kernel would store rows that are computed from it, "
                     "and compute only parts of it";
      // Parts are read again after the rows have been stored.
      for (Operation *reader : ops)
        if (isStored(result) && overwritesWhatIsRead(op, reader))
          return llvm::formatv("the kernel would store rows of '{0}' and then "
                               "read parts of what they overwrite",
                               op->getName());
    }
  }
  return "";
}

/// Why `producer` cannot run where the group does, or an empty string.
static std::string explainOrder(Operation *producer, const KernelGroup &group) {
  // Rows of one kernel do not wait for each other.
  if (llvm::any_of(group.getOps(), [&](Operation *op) {
        return writesWhatIsRead(op, producer) || writesWhatIsRead(producer, op);
      }))
    return "the kernel would write the cache that it reads";
  // The kernel will be where its last op is.
  bool onlyReads = hasSingleEffect<MemoryEffects::Read>(producer);
  for (Operation *op = producer->getNextNode(); op && op != group.getLast();
       op = op->getNextNode()) {
    if (!group.contains(op) && overwritesWhatIsRead(op, producer))
      return llvm::formatv("'{0}' between them overwrites what it reads",
                           op->getName());
    if (group.contains(op) || isMemoryEffectFree(producer) ||
        isMemoryEffectFree(op))
      continue;
    if (!hasSingleEffect<MemoryEffects::Read>(op))
      return "an op between them may write what it reads";
    if (!onlyReads)
      return "an op between them may read what it writes";
  }
  return "";
}

/// Why `op`, which has the iteration space of the group, cannot be computed in
/// its kernel, or an empty string.
static std::string explainMember(RowwiseOpInterface op, KernelGroup &group) {
  if (std::string why = group.explainAccesses(op); !why.empty())
    return why;
  if (std::string why = explainOtherUsers(op, group); !why.empty())
    return why;
  if (std::string why = explainRowsAndParts(op, group); !why.empty())
    return why;
  auto isCooperative = [](Operation *op) {
    return cast<RowwiseOpInterface>(op).getCooperativeWork().rows != 0;
  };
  if (isCooperative(op))
    if (const auto *other = llvm::find_if(group.getOps(), isCooperative);
        other != group.getOps().end())
      return llvm::formatv("the kernel already has the block-cooperative "
                           "'{0}', and a kernel can have only one",
                           (*other)->getName());
  StringRef kind = op.getCooperativeWork().kind;
  auto hasKind = [&](Operation *op) {
    return cast<RowwiseOpInterface>(op).getCooperativeWork().kind == kind;
  };
  if (!kind.empty())
    if (const auto *other = llvm::find_if(group.getOps(), hasKind);
        other != group.getOps().end())
      return llvm::formatv("the kernel already has '{0}', and only one op of a "
                           "kernel can need a part '#{1}' of its schedule",
                           (*other)->getName(), kind);
  return explainOrder(op, group);
}

/// Why `producer` cannot join the kernel of `consumer`, or an empty string.
static std::string explainNoFusion(RowwiseOpInterface producer,
                                   RowwiseOpInterface consumer,
                                   OpOperand &operand, KernelGroup &group) {
  if (std::string why = explainEarlyUsers(producer, group); !why.empty())
    return why;
  if (!acceptsProducer(operand))
    return explainNoRows(operand);
  if (producer->getBlock() != consumer->getBlock())
    return "it is in another block";
  if (producer.skipsRows())
    return llvm::formatv("'{0}' leaves some elements of its destination as "
                         "they are, so '{1}' reads them from memory",
                         producer->getName(), consumer->getName());
  if (producer.getIterationSpace() != consumer.getIterationSpace())
    return llvm::formatv("iteration spaces differ ({0} and {1})",
                         describeSpace(producer), describeSpace(consumer));
  return explainMember(producer, group);
}

/// Ops of kernels.
using Taken = llvm::SmallPtrSet<Operation *, 8>;

/// Whether `result` goes to a destination without memory.
static bool lacksMemory(OpResult result) {
  auto producer = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
  return producer && producer.getTiedOpOperand(result)
                         ->get()
                         .getDefiningOp<tensor::EmptyOp>();
}

/// Whether the owner of `use` can be computed in the kernel of `group`, which
/// reads the same value and none of its results. Those that another kernel has
/// are `taken`.
static bool isSibling(OpOperand &use, KernelGroup &group, const Taken &taken) {
  auto last = cast<RowwiseOpInterface>(group.getLast());
  auto op = dyn_cast<RowwiseOpInterface>(use.getOwner());
  auto isMember = [&](Operation *user) { return group.contains(user); };
  return op && !taken.contains(op) && !isMember(op) &&
         op->getBlock() == last->getBlock() && op->isBeforeInBlock(last) &&
         !isDestination(use) && acceptsProducer(use) && !op.skipsRows() &&
         op.getIterationSpace() == last.getIterationSpace() &&
         llvm::none_of(op->getUsers(), isMember) &&
         explainEarlyUsers(op, group).empty() &&
         explainMember(op, group).empty();
}

/// Lets another reader of `value`, which an op of the group reads, join if no
/// kernel can hand the value to it. Returns whether one has joined.
static bool joinSibling(OpResult value, KernelGroup &group,
                        const Taken &taken) {
  if (!lacksMemory(value))
    return false;
  for (OpOperand &use : value.getUses())
    if (isSibling(use, group, taken)) {
      group.join(use.getOwner());
      return true;
    }
  return false;
}

namespace {
/// What becomes one kernel.
struct FormedGroup {
  /// In order.
  SmallVector<Operation *> ops;
  /// Why ops that compute what these read are not among them.
  SmallVector<std::string> unfusedReasons;
};
} // namespace

/// Leaves a remark why `producer` is not in the kernel of `op`, and returns it.
static std::string missed(Operation *op, Operation *producer, StringRef why) {
  std::string reason =
      llvm::formatv("not fused with '{0}': {1}", producer->getName(), why);
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name(kFormRemarks).category(kFormRemarks))
      << reason;
  return llvm::formatv("'{0}' {1}", op->getName(), reason);
}

/// The kernel that ends in `last`, of ops that no other kernel has.
static FormedGroup growGroup(RowwiseOpInterface last, const Taken &taken) {
  KernelGroup group(last);
  // A producer of several results joins with the last of their users, so every
  // op is asked again after another has joined.
  llvm::MapVector<std::pair<Operation *, Operation *>, std::string> reasons;
  for (bool joined = true; joined;) {
    joined = false;
    reasons.clear();
    for (size_t i = 0; i < group.getOps().size(); ++i) {
      auto op = cast<RowwiseOpInterface>(group.getOps()[i]);
      for (OpOperand &operand : op->getOpOperands()) {
        Operation *other = operand.get().getDefiningOp();
        if (!other || !isa<RankedTensorType>(operand.get().getType()) ||
            group.contains(other) || isDestination(operand))
          continue;
        auto producer = dyn_cast<RowwiseOpInterface>(other);
        std::string why = producer
                              ? explainNoFusion(producer, op, operand, group)
                              : "it is not a row-wise op";
        if (why.empty())
          group.join(other);
        else if (!producer ||
                 !joinSibling(cast<OpResult>(operand.get()), group, taken)) {
          reasons[{op, other}] = why;
          continue;
        }
        joined = true;
      }
    }
  }
  FormedGroup formed;
  for (const auto &[pair, why] : reasons)
    formed.unfusedReasons.push_back(missed(pair.first, pair.second, why));
  formed.ops = llvm::to_vector(group.getOps());
  llvm::sort(formed.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return formed;
}

/// Moves `group` into a kernel of its own.
static void formKernel(const FormedGroup &formed, StringRef name) {
  ArrayRef<Operation *> group = formed.ops;
  Operation *last = group.back();
  llvm::SmallSetVector<Value, 8> inputs;
  SmallVector<Value> outputs;
  std::string symbol = toIdentifier(name);
  for (Operation *op : group)
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(group, operand.getDefiningOp()))
        inputs.insert(operand);
  for (Operation *op : group)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) {
                         return !llvm::is_contained(group, user);
                       }) ||
          op == last || result.use_empty())
        outputs.push_back(result);

  OpBuilder b(last);
  auto kernel = KernelOp::create(
      b, last->getLoc(), TypeRange(ValueRange(outputs)), symbol,
      inputs.getArrayRef(), ScheduleAttr(), ArrayAttr());
  if (!formed.unfusedReasons.empty())
    kernel.setUnfusedReasonsAttr(b.getStrArrayAttr(llvm::map_to_vector(
        formed.unfusedReasons,
        [](const std::string &reason) { return StringRef(reason); })));
  Block *body = b.createBlock(&kernel.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : group)
    b.clone(*op, mapping);
  SmallVector<Value> yielded = llvm::map_to_vector(
      outputs, [&](Value value) { return mapping.lookup(value); });
  YieldOp::create(b, last->getLoc(), yielded);
  for (auto [output, result] : llvm::zip(outputs, kernel.getOutputs()))
    output.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(group))
    op->erase();

  std::string held;
  for (Operation &op : body->without_terminator())
    held += (" " + op.getName().getStringRef()).str();
  remark::passed(kernel.getLoc(),
                 remark::RemarkOpts::name(kFormRemarks).category(kFormRemarks))
      << llvm::formatv("kernel '{0}' holds{1}", symbol, held).str();
}

namespace {
struct FormKernels : dsv4::impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    if (!func.getBody().hasOneBlock()) {
      func.emitError() << "expected a function of one block";
      return signalPassFailure();
    }
    SmallVector<FormedGroup> groups;
    Taken taken;
    for (Operation &op : llvm::reverse(func.getBody().front())) {
      auto rowwise = dyn_cast<RowwiseOpInterface>(op);
      if (!rowwise || taken.contains(&op))
        continue;
      groups.push_back(growGroup(rowwise, taken));
      taken.insert_range(groups.back().ops);
    }
    for (auto [i, group] : llvm::enumerate(llvm::reverse(groups))) {
      std::string name = func.getName().str();
      if (groups.size() > 1)
        name += "_" + std::to_string(i);
      formKernel(group, name);
    }
  }
};
} // namespace
