//===- FormKernels.cpp - Group row-wise ops into kernels --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Grouping follows use-def chains through interfaces, never op names. A group
// grows upwards from its last op: a producer joins if both have the same
// iteration space, and if producers provide every access that ops of the group
// then demand. Values that other ops use are also stored.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"
#include "dsv4/Support/Identifiers.h"

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

static constexpr llvm::StringLiteral kRemarks = "dsv4-form-kernels";

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
  std::string text =
      llvm::join(describeIterationSpace(getRowSource(op)), " x ");
  return text.empty() ? "one row" : text;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {

/// The ops that become one kernel, and how they access each other's rows.
class Group {
public:
  explicit Group(RowwiseOpInterface last) {
    ops.insert(last);
    for (OpResult result : last->getResults())
      accesses[result] = {Access::row()};
  }

  const SetVector<Operation *> &getOps() const { return ops; }
  bool contains(Operation *op) const { return ops.contains(op); }
  /// The last op, where the kernel will be.
  Operation *getLast() const { return ops.front(); }

  /// The first access that its producer does not provide if `producer` joins,
  /// in the user's words, or an empty string.
  std::string explainAccesses(Operation *producer);
  /// Whether ops of the kernel read only parts of the rows of `result`, of the
  /// op that explainAccesses() was asked for last.
  bool readsParts(OpResult result) const {
    return llvm::any_of(getAccesses(result),
                        [](const Access &access) { return !access.isRow(); });
  }
  /// Whether it is read in parts, and as whole rows, too.
  bool readsRowsAndParts(OpResult result) const {
    return readsParts(result) &&
           llvm::is_contained(getAccesses(result), Access::row());
  }
  /// Whether threads that read parts of those rows hold them whole, too. The op
  /// then allows any distribution of a row.
  bool holdsRows(OpResult result) const {
    ArrayRef<int64_t> shape = cast<ShapedType>(result.getType()).getShape();
    return cast<RowLayoutOpInterface>(result.getOwner()).allowsMaskedTail() &&
           llvm::any_of(getAccesses(result), [&](const Access &access) {
             return !shape.empty() && access.holdsRowOf(shape.back());
           });
  }
  /// Takes that op.
  void join(Operation *producer);

private:
  bool isMember(Operation *op) const {
    return op && (op == candidate || ops.contains(op));
  }
  /// Whether an op of the kernel computes the operand.
  bool isComputed(OpOperand &operand) const {
    return !isDestination(operand) && isMember(operand.get().getDefiningOp());
  }
  ArrayRef<Access> getAccesses(OpResult result) const {
    auto it = changed.find(result);
    return it != changed.end() ? it->second : accesses.find(result)->second;
  }
  SmallVector<Access> getAccessesOfResults(Operation *op) const;
  std::optional<Access> findRanks(FusionOpInterface op) const;
  std::string findAccesses(OpResult result, std::optional<Access> ranks,
                           SmallVectorImpl<Access> &found) const;
  std::string updateAccesses(FusionOpInterface op, bool &isChanged);

  /// In the order in which they joined: the last op of the kernel comes first.
  SetVector<Operation *> ops;
  /// How each result of an op is accessed.
  llvm::DenseMap<OpResult, SmallVector<Access>> accesses;
  /// What may join, and what changes then.
  Operation *candidate = nullptr;
  llvm::DenseMap<OpResult, SmallVector<Access>> changed;
};

} // namespace

static bool acceptsProducer(OpOperand &operand) {
  return cast<RowwiseOpInterface>(operand.getOwner()).acceptsProducer(operand);
}

/// That `operand` is for memory, whoever computes it.
static std::string explainNoRows(OpOperand &operand) {
  return llvm::formatv("'{0}' does not read this operand row by row",
                       operand.getOwner()->getName());
}

/// A sentence and a note that ends it, where there is one.
static std::string withNote(std::string sentence, const std::string &note) {
  return note.empty() ? sentence : sentence + "; " + note;
}

/// The first of `demanded` that `result` is provided as, if any.
static std::optional<Access> findProvided(OpResult result,
                                          ArrayRef<Access> demanded) {
  auto provided =
      cast<FusionOpInterface>(result.getOwner()).getProvidedAccesses(result);
  for (const Access &demand : demanded)
    for (const Access &access : provided)
      if (access.satisfies(demand))
        return access;
  return std::nullopt;
}

/// Why `access`, of the same kind as `demand`, is not what `operand` needs.
static std::string explainMismatch(OpOperand &operand, const Access &demand,
                                   const Access &access) {
  auto consumer = cast<FusionOpInterface>(operand.getOwner());
  OperationName producer = operand.get().getDefiningOp()->getName();
  if (!access.hasFormOf(demand))
    return withNote(
        llvm::formatv("'{0}' reads {1} of this operand at a time, and '{2}' "
                      "computes {3}",
                      consumer->getName(),
                      demand.unit == 1
                          ? "one column"
                          : llvm::formatv("{0} columns", demand.unit).str(),
                      producer, access.unit),
        consumer.getAccessNote(demand));
  std::string found =
      demand.statistics == 0
          ? "none"
          : llvm::formatv("those of at most {0}", demand.statistics).str();
  return withNote(
      llvm::formatv("'{0}' needs statistics of whole rows of {1} elements, and "
                    "the threads of '{2}' find {3}",
                    producer, access.statistics, consumer->getName(), found),
      consumer.getAccessNote(access));
}

/// Why no access of `demanded`, which is not empty, is provided for `operand`.
static std::string explainMismatch(OpOperand &operand,
                                   ArrayRef<Access> demanded) {
  auto result = cast<OpResult>(operand.get());
  auto producer = cast<FusionOpInterface>(result.getOwner());
  OperationName consumer = operand.getOwner()->getName();
  SmallVector<Access> provided = producer.getProvidedAccesses(result);
  for (const Access &demand : demanded)
    for (const Access &access : provided)
      if (access.kind == demand.kind)
        return explainMismatch(operand, demand, access);
  if (provided.empty()) {
    bool ofRanks = llvm::any_of(
        demanded, [](const Access &access) { return access.isRanks(); });
    Access demand = ofRanks ? Access::ranks() : demanded.front();
    return withNote(
        llvm::formatv(
            "the result of '{0}' is consumed {1} by '{2}'", producer->getName(),
            ofRanks ? "element-wise" : describe(demand.kind), consumer),
        producer.getAccessNote(demand));
  }
  std::string offer = "computes whole rows";
  if (provided.size() > 1 || !provided.front().isRow())
    offer = "provides it " +
            llvm::join(llvm::map_range(provided,
                                       [](const Access &access) -> std::string {
                                         return describe(access.kind);
                                       }),
                       " or ");
  return withNote(llvm::formatv("'{0}' reads this operand {1}, and '{2}' {3}",
                                consumer, describe(demanded.front().kind),
                                producer->getName(), offer),
                  producer.getAccessNote(demanded.front()));
}

/// The accesses of results of `op`, each once. The accesses that it demands of
/// its operands depend on them. An op without results stores whole rows.
SmallVector<Access> Group::getAccessesOfResults(Operation *op) const {
  SmallVector<Access> all;
  for (OpResult result : op->getResults())
    for (const Access &access : getAccesses(result))
      if (!llvm::is_contained(all, access))
        all.push_back(access);
  if (all.empty())
    all.push_back(Access::row());
  return all;
}

/// The ranks that `op` computes its result from, if it reads any. Such a result
/// exists only in ranks.
std::optional<Access> Group::findRanks(FusionOpInterface op) const {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isComputed(operand) || !acceptsProducer(operand))
      continue;
    auto provided =
        findProvided(cast<OpResult>(operand.get()),
                     op.getDemandedAccesses(operand, Access::row()));
    if (provided && provided->isRanks())
      return provided;
  }
  return std::nullopt;
}

/// Finds how `result` is accessed, by what its users in the kernel demand for
/// their own results; `ranks` are those that its op reads. Returns why that
/// cannot be, or an empty string.
std::string Group::findAccesses(OpResult result, std::optional<Access> ranks,
                                SmallVectorImpl<Access> &found) const {
  Operation *op = result.getOwner();
  bool isStored = result.use_empty();
  for (OpOperand &use : result.getUses()) {
    if (!isMember(use.getOwner())) {
      isStored = true;
      continue;
    }
    if (isDestination(use))
      continue;
    if (!acceptsProducer(use))
      return explainNoRows(use);
    if (ranks)
      return llvm::formatv("'{0}' computes its result rank by rank, and '{1}' "
                           "reads it in the same kernel",
                           op->getName(), use.getOwner()->getName());
    auto user = cast<FusionOpInterface>(use.getOwner());
    for (const Access &access : getAccessesOfResults(user)) {
      SmallVector<Access> demanded = user.getDemandedAccesses(use, access);
      if (demanded.empty())
        return withNote(
            llvm::formatv("'{0}' reads this operand from memory, as its own "
                          "result is read {1}",
                          user->getName(), describe(access.kind)),
            user.getAccessNote(access));
      const Access *demand = llvm::find_if(demanded, [&](const Access &one) {
        return findProvided(result, one).has_value();
      });
      if (demand == demanded.end())
        return explainMismatch(use, demanded);
      if (!llvm::is_contained(found, *demand))
        found.push_back(*demand);
    }
  }
  if (ranks)
    found.assign({*ranks});
  else if (isStored && !llvm::is_contained(found, Access::row()))
    found.push_back(Access::row());
  return "";
}

/// Finds the accesses of all results of `op`, and whether one has changed.
std::string Group::updateAccesses(FusionOpInterface op, bool &isChanged) {
  std::optional<Access> ranks = findRanks(op);
  for (OpResult result : op->getResults()) {
    SmallVector<Access> found;
    if (std::string why = findAccesses(result, ranks, found); !why.empty())
      return why;
    if (op == candidate || getAccesses(result) != ArrayRef<Access>(found)) {
      changed[result] = std::move(found);
      isChanged = true;
    }
  }
  return "";
}

std::string Group::explainAccesses(Operation *producer) {
  candidate = producer;
  changed.clear();
  // What reads it may read ranks now, and demand something else.
  SetVector<Operation *> left;
  left.insert(producer);
  for (Operation *user : producer->getUsers())
    if (ops.contains(user))
      left.insert(user);
  while (!left.empty()) {
    // Users first: they say what they demand.
    Operation *op = *llvm::max_element(
        left, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    left.remove(op);
    bool isChanged = false;
    if (std::string why =
            updateAccesses(cast<FusionOpInterface>(op), isChanged);
        !why.empty())
      return why;
    if (!isChanged)
      continue;
    for (OpOperand &operand : op->getOpOperands())
      if (isComputed(operand))
        left.insert(operand.get().getDefiningOp());
  }
  return "";
}

void Group::join(Operation *producer) {
  ops.insert(producer);
  for (auto &[result, found] : changed)
    accesses[result] = std::move(found);
  candidate = nullptr;
  changed.clear();
}

//===----------------------------------------------------------------------===//
// What joins a group
//===----------------------------------------------------------------------===//

/// Why a kernel with the ops of `group` cannot use `producer` because of an op
/// that uses a result before the kernel runs, or an empty string.
static std::string explainEarlyUsers(Operation *producer, const Group &group) {
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
static Operation *findOtherOwner(OpResult result, const Group &group) {
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
static std::string explainOtherUsers(Operation *producer, const Group &group) {
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
                                       const Group &group) {
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
static std::string explainOrder(Operation *producer, const Group &group) {
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

/// Why `producer` cannot join the kernel of `consumer`, or an empty string.
static std::string explainNoFusion(RowwiseOpInterface producer,
                                   RowwiseOpInterface consumer,
                                   OpOperand &operand, Group &group) {
  if (std::string why = explainEarlyUsers(producer, group); !why.empty())
    return why;
  if (!acceptsProducer(operand))
    return explainNoRows(operand);
  if (producer->getBlock() != consumer->getBlock())
    return "it is in another block";
  if (producer.skipsRows())
    return llvm::formatv("'{0}' leaves some rows of its destination as they "
                         "are, which '{1}' reads from memory",
                         producer->getName(), consumer->getName());
  if (producer.getIterationSpace() != consumer.getIterationSpace())
    return llvm::formatv("iteration spaces differ ({0} and {1})",
                         describeSpace(producer), describeSpace(consumer));
  if (std::string why = group.explainAccesses(producer); !why.empty())
    return why;
  if (std::string why = explainOtherUsers(producer, group); !why.empty())
    return why;
  if (std::string why = explainRowsAndParts(producer, group); !why.empty())
    return why;
  auto isCooperative = [](Operation *op) {
    return cast<RowwiseOpInterface>(op).getCooperativeWork().rows != 0;
  };
  if (isCooperative(producer))
    if (const auto *other = llvm::find_if(group.getOps(), isCooperative);
        other != group.getOps().end())
      return llvm::formatv("the kernel already has the block-cooperative "
                           "'{0}', and a kernel can have only one",
                           (*other)->getName());
  return explainOrder(producer, group);
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
                 remark::RemarkOpts::name(kRemarks).category(kRemarks))
      << reason;
  return llvm::formatv("'{0}' {1}", op->getName(), reason);
}

/// The kernel that ends in `last`.
static FormedGroup growGroup(RowwiseOpInterface last) {
  Group group(last);
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
        if (!why.empty()) {
          reasons[{op, other}] = why;
          continue;
        }
        group.join(other);
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
    SmallVector<FormedGroup> groups;
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
