//===- KernelGroup.cpp - How ops of one kernel access rows ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroup.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

std::string dsv4::explainNoRows(OpOperand &operand) {
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
SmallVector<Access> KernelGroup::getAccessesOfResults(Operation *op) const {
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
std::optional<Access> KernelGroup::findRanks(FusionOpInterface op) const {
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
std::string KernelGroup::findAccesses(OpResult result,
                                      std::optional<Access> ranks,
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
std::string KernelGroup::updateAccesses(FusionOpInterface op, bool &isChanged) {
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

std::string KernelGroup::explainAccesses(Operation *producer) {
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

void KernelGroup::join(Operation *producer) {
  ops.insert(producer);
  for (auto &[result, found] : changed)
    accesses[result] = std::move(found);
  candidate = nullptr;
  changed.clear();
}
