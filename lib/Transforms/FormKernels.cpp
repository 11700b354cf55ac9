//===- FormKernels.cpp - Group row-wise ops into kernels -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Grouping follows use-def chains through RowwiseOpInterface, never op names. A
// group grows upwards from its last op: a producer joins where the value
// between the two has no other user and both have one row space.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_FORMKERNELS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

static constexpr llvm::StringLiteral kRemarks = "dsv4-form-kernels";

/// Extents of the row space of `op`: all but the last of where its rows come
/// from.
static ArrayRef<int64_t> getRowSpace(RowwiseOpInterface op) {
  return cast<ShapedType>(getRowSource(op).getType()).getShape().drop_back();
}

static bool isDestination(OpOperand &operand) {
  auto op = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  return op && op.isDpsInit(&operand);
}

/// Whether `writer` may write a cache that `reader` reads.
static bool writesWhatIsRead(Operation *writer, Operation *reader) {
  return llvm::any_of(reader->getOperands(), [&](Value operand) {
    return isa<CacheType>(operand.getType()) &&
           hasEffect<MemoryEffects::Write>(writer, operand);
  });
}

/// Why the lanes of a warp cannot have the rows of a selection, or an empty
/// string.
static std::string explainNoWarp(Selection selection) {
  int64_t columns =
      cast<ShapedType>(selection.scores.getType()).getShape().back();
  if (ShapedType::isDynamic(columns) || columns > kMostColumnsOfWarp ||
      selection.places > kMostPlacesOfWarp)
    return llvm::formatv(
        "a warp selects at most {0} elements from at most {1}, got {2} from "
        "{3}",
        kMostPlacesOfWarp, kMostColumnsOfWarp, selection.places,
        ShapedType::isDynamic(columns) ? "any number"
                                       : std::to_string(columns));
  return "";
}

/// Why the warp that selects cannot find numbers of the rows of `op`, or an
/// empty string.
static std::string explainNoNumbers(RowwiseOpInterface op,
                                    RowwiseOpInterface selecting) {
  if (llvm::any_of(op.getRowPieces(), [](RowPiece piece) {
        return piece.extent > kMostColumnsOfWarp;
      }))
    return llvm::formatv("a warp finds numbers of rows of at most {0} elements",
                         kMostColumnsOfWarp);
  return explainNoWarp(selecting.getSelection());
}

/// Why the kernel of `consumer` cannot take the elements that `producer`
/// selects from where they are, or an empty string.
static std::string explainNoPlaces(RowwiseOpInterface producer,
                                   RowwiseOpInterface consumer,
                                   OpOperand &operand,
                                   const SetVector<Operation *> &group) {
  // Only the indices are at hand, whichever of its users asks.
  auto isPlaces = [&](OpOperand &use) {
    auto user = dyn_cast<RowwiseOpInterface>(use.getOwner());
    return use.get() == producer->getResult(0) && user &&
           user.acceptsPlaces(use);
  };
  if (!isPlaces(operand) ||
      llvm::any_of(producer->getUses(), [&](OpOperand &use) {
        return group.contains(use.getOwner()) && !isPlaces(use);
      }))
    return "what it selects is no row of a lane";
  if (llvm::any_of(consumer->getUsers(),
                   [&](Operation *user) { return group.contains(user); }))
    return "what is made of its places is no row of a lane";
  return explainNoWarp(producer.getSelection());
}

/// Whether only single elements of the rows of `op` are taken in the group.
static bool isTakenSingly(Operation *op, const SetVector<Operation *> &group) {
  return llvm::any_of(op->getUses(), [&](OpOperand &use) {
    auto user = dyn_cast<RowwiseOpInterface>(use.getOwner());
    return user && group.contains(user) && !isDestination(use) &&
           (user.picksElements(use) ||
            (user.isPointwise() && isTakenSingly(user, group)));
  });
}

/// Why `producer` cannot join the kernel of `consumer`, or an empty string.
static std::string explainNoFusion(RowwiseOpInterface producer,
                                   RowwiseOpInterface consumer,
                                   OpOperand &operand,
                                   const SetVector<Operation *> &group) {
  for (Value result : producer->getResults()) {
    bool joins = llvm::any_of(result.getUsers(), [&](Operation *user) {
      return group.contains(user);
    });
    for (Operation *user : result.getUsers()) {
      if (group.contains(user))
        continue;
      if (joins && !producer.isStoredToo())
        return "its result has other users";
      if (user->getBlock() == producer->getBlock() &&
          user->isBeforeInBlock(group.front()))
        return "another of its results is used between them";
    }
  }
  if (!consumer.acceptsRow(operand))
    return "the operand is not taken row by row";
  if (producer->getBlock() != consumer->getBlock())
    return "it is in another block";
  if (getRowSpace(producer) != getRowSpace(consumer))
    return "the row spaces differ";
  if (producer.getSelection().places) {
    if (std::string why = explainNoPlaces(producer, consumer, operand, group);
        !why.empty())
      return why;
    for (Operation *op : group) {
      auto other = cast<RowwiseOpInterface>(op);
      if (!other.takesRowNumbers())
        continue;
      if (std::string why = explainNoNumbers(other, producer); !why.empty())
        return why;
    }
  }
  RowwiseOpInterface selecting;
  for (Operation *op : group)
    if (cast<RowwiseOpInterface>(op).getSelection().places)
      selecting = cast<RowwiseOpInterface>(op);
  bool selects = bool(selecting);
  // A lane that has a place computes the one column that it needs.
  if (!producer.getSelection().places && isTakenSingly(producer, group) &&
      !(selects ? producer.getColumnUnit() == 1 : computesSingly(producer)))
    return "it computes whole rows, of which single elements are taken";
  if (producer.getColumnUnit() == 0 && selects)
    return "it computes whole rows, of which the selection takes columns";
  if (selects && selecting.getSelection().again && producer.getColumnUnit() > 1)
    return llvm::formatv("with 'bias' and 'values' elements that were chosen "
                         "are computed again one by one, and it computes {0} "
                         "at a time",
                         producer.getColumnUnit());
  if (producer.takesRowNumbers() && selects)
    if (std::string why = explainNoNumbers(producer, selecting); !why.empty())
      return why;
  // Whichever of its users asks.
  for (OpOperand &use : producer->getUses()) {
    auto user = dyn_cast<RowwiseOpInterface>(use.getOwner());
    if (user && group.contains(user) && !isDestination(use) &&
        user.takesRowNumbers() && (selects || isTakenSingly(user, group)))
      return llvm::formatv("{0} needs numbers of whole rows, which are found "
                           "of rows that are read from memory",
                           user->getName());
  }
  auto isTeam = [](Operation *op) {
    return cast<RowwiseOpInterface>(op).getTeamWork().rows != 0;
  };
  if (isTeam(producer) && llvm::any_of(group, isTeam))
    return "the threads of a block do such an op together for one op only";
  // Rows of one kernel do not wait for each other.
  if (llvm::any_of(group, [&](Operation *op) {
        return writesWhatIsRead(op, producer) || writesWhatIsRead(producer, op);
      }))
    return "the kernel would write the cache that it reads";
  // The kernel takes the place of its last op, the first of the group.
  bool onlyReads = hasSingleEffect<MemoryEffects::Read>(producer);
  for (Operation *op = producer->getNextNode(); op && op != group.front();
       op = op->getNextNode()) {
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

namespace {
/// What becomes one kernel.
struct Group {
  /// In order.
  SmallVector<Operation *> ops;
  /// Why ops that make what these read are not among them.
  SmallVector<std::string> apart;
};
} // namespace

/// Leaves the reason why `producer` is not in the kernel of `op`, and returns
/// it.
static std::string missed(Operation *op, Operation *producer, StringRef why) {
  std::string reason =
      llvm::formatv("not fused with {0}: {1}", producer->getName(), why);
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name(kRemarks).category(kRemarks))
      << reason;
  return llvm::formatv("{0} {1}", op->getName(), reason);
}

/// The kernel that ends in `last`.
static Group growGroup(RowwiseOpInterface last) {
  SetVector<Operation *> group;
  group.insert(last);
  // A producer of several results joins with the last of their users, so every
  // op is asked again after another has joined.
  llvm::MapVector<std::pair<Operation *, Operation *>, std::string> reasons;
  for (bool joined = true; joined;) {
    joined = false;
    reasons.clear();
    for (size_t i = 0; i < group.size(); ++i) {
      auto op = cast<RowwiseOpInterface>(group[i]);
      for (OpOperand &operand : op->getOpOperands()) {
        Operation *other = operand.get().getDefiningOp();
        if (!other || !isa<RankedTensorType>(operand.get().getType()) ||
            group.contains(other) || isDestination(operand))
          continue;
        auto producer = dyn_cast<RowwiseOpInterface>(other);
        std::string why = producer
                              ? explainNoFusion(producer, op, operand, group)
                              : "it is not row-wise";
        if (!why.empty()) {
          reasons[{op, other}] = why;
          continue;
        }
        group.insert(other);
        joined = true;
      }
    }
  }
  Group grown;
  for (const auto &[pair, why] : reasons)
    grown.apart.push_back(missed(pair.first, pair.second, why));
  grown.ops = group.takeVector();
  llvm::sort(grown.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return grown;
}

/// Moves `group` into a kernel of its own.
static void formKernel(const Group &formed, StringRef name) {
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
      inputs.getArrayRef(), RowScheduleAttr(), ArrayAttr());
  if (!formed.apart.empty())
    kernel.setApartAttr(b.getStrArrayAttr(
        llvm::map_to_vector(formed.apart, [](const std::string &reason) {
          return StringRef(reason);
        })));
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
                 remark::RemarkOpts::name(kRemarks).category(kRemarks))
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
    SmallVector<Group> groups;
    llvm::SmallPtrSet<Operation *, 8> taken;
    for (Operation &op : llvm::reverse(func.getBody().front())) {
      auto rowwise = dyn_cast<RowwiseOpInterface>(op);
      if (!rowwise || taken.contains(&op))
        continue;
      groups.push_back(growGroup(rowwise));
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
