//===- KernelGroup.h - How ops of one kernel access rows --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TRANSFORMS_KERNELGROUP_H
#define DSV4_LIB_TRANSFORMS_KERNELGROUP_H

#include "dsv4/Dialect/DSV4/Base.h"

#include "llvm/ADT/SetVector.h"

namespace dsv4 {

/// Whether an op of tensors writes its result to what `operand` is.
inline bool isDestination(mlir::OpOperand &operand) {
  auto op =
      mlir::dyn_cast<mlir::DestinationStyleOpInterface>(operand.getOwner());
  return op && op.isDpsInit(&operand);
}

/// Whether an op of the same kernel may compute `operand`.
inline bool acceptsProducer(mlir::OpOperand &operand) {
  return mlir::cast<RowwiseOpInterface>(operand.getOwner())
      .acceptsProducer(operand);
}

/// That `operand` is for memory, whoever computes it.
std::string explainNoRows(mlir::OpOperand &operand);

/// The ops that become one kernel, and how they access each other's rows.
class KernelGroup {
public:
  explicit KernelGroup(RowwiseOpInterface last) {
    ops.insert(last);
    for (mlir::OpResult result : last->getResults())
      accesses[result] = {Access::row()};
  }

  const llvm::SetVector<mlir::Operation *> &getOps() const { return ops; }
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// The last op, where the kernel will be.
  mlir::Operation *getLast() const { return ops.front(); }

  /// The first access that its producer does not provide if `producer` joins,
  /// in the user's words, or an empty string.
  std::string explainAccesses(mlir::Operation *producer);
  /// Whether ops of the kernel read only parts of the rows of `result`, of the
  /// op that explainAccesses() was asked for last.
  bool readsParts(mlir::OpResult result) const {
    return llvm::any_of(getAccesses(result),
                        [](const Access &access) { return !access.isRow(); });
  }
  /// Whether it is read in parts, and as whole rows, too.
  bool readsRowsAndParts(mlir::OpResult result) const {
    return readsParts(result) &&
           llvm::is_contained(getAccesses(result), Access::row());
  }
  /// Whether threads that read parts of those rows hold them whole, too. The op
  /// then allows any distribution of a row.
  bool holdsRows(mlir::OpResult result) const {
    llvm::ArrayRef<int64_t> shape =
        mlir::cast<mlir::ShapedType>(result.getType()).getShape();
    return mlir::cast<RowLayoutOpInterface>(result.getOwner())
               .allowsMaskedTail() &&
           llvm::any_of(getAccesses(result), [&](const Access &access) {
             return !shape.empty() && access.holdsRowOf(shape.back());
           });
  }
  /// Takes that op.
  void join(mlir::Operation *producer);

private:
  bool isMember(mlir::Operation *op) const {
    return op && (op == candidate || ops.contains(op));
  }
  /// Whether an op of the kernel computes the operand.
  bool isComputed(mlir::OpOperand &operand) const {
    return !isDestination(operand) && isMember(operand.get().getDefiningOp());
  }
  llvm::ArrayRef<Access> getAccesses(mlir::OpResult result) const {
    auto it = changed.find(result);
    return it != changed.end() ? it->second : accesses.find(result)->second;
  }
  llvm::SmallVector<Access> getAccessesOfResults(mlir::Operation *op) const;
  std::optional<Access> findRanks(FusionOpInterface op) const;
  std::string findAccesses(mlir::OpResult result, std::optional<Access> ranks,
                           llvm::SmallVectorImpl<Access> &found) const;
  std::string updateAccesses(FusionOpInterface op, bool &isChanged);

  /// In the order in which they joined: the last op of the kernel comes first.
  llvm::SetVector<mlir::Operation *> ops;
  /// How each result of an op is accessed.
  llvm::DenseMap<mlir::OpResult, llvm::SmallVector<Access>> accesses;
  /// What may join, and what changes then.
  mlir::Operation *candidate = nullptr;
  llvm::DenseMap<mlir::OpResult, llvm::SmallVector<Access>> changed;
};

} // namespace dsv4

#endif // DSV4_LIB_TRANSFORMS_KERNELGROUP_H
