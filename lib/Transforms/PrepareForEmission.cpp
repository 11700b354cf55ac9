//===- PrepareForEmission.cpp - Make IR and text isomorphic -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"
#include "dsv4/Support/Identifiers.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_CUDAPREPAREFOREMISSION
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

/// Names the values of one kernel.
class Namer {
public:
  explicit Namer(gpu::GPUFuncOp func) : func(func) {}
  void run();

private:
  std::string unique(StringRef wish);
  void nameArguments(Block &block);
  void visit(Operation *op);

  gpu::GPUFuncOp func;
  llvm::StringSet<> used;
};

} // namespace

std::string Namer::unique(StringRef wish) {
  return uniqueIdentifier(toIdentifier(wish), [&](StringRef candidate) {
    return !used.insert(candidate).second;
  });
}

/// Cheap enough, and pure, so that every use may repeat it.
static bool repeatsFreely(Operation *op) {
  if (isa<arith::IndexCastOp>(op)) {
    Operation *from = op->getOperand(0).getDefiningOp();
    return !from || repeatsFreely(from);
  }
  return isa<arith::ConstantOp, arith::ExtSIOp, gpu::ThreadIdOp, gpu::BlockIdOp,
             gpu::GridDimOp, cuda::BytesOp>(op);
}

void Namer::nameArguments(Block &block) {
  for (BlockArgument arg : block.getArguments()) {
    std::string name = unique(getEmittedName(arg.getLoc()));
    arg.setLoc(NameLoc::get(StringAttr::get(func.getContext(), name),
                            stripNames(arg.getLoc())));
  }
}

void Namer::visit(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      nameArguments(block);
  if (op->getNumResults() != 1)
    return;
  Value value = op->getResult(0);
  StringRef name = getEmittedName(op->getLoc());
  // Within a conditional expression there are no lines.
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  bool mayHaveLine = !(branch && branch.getNumResults() > 0);
  bool line = mayHaveLine && !repeatsFreely(op) &&
              (!name.empty() || !isMemoryEffectFree(op) || !value.hasOneUse() ||
               isa<cuda::PoolOp, cuda::PoolOnlineOp>(op));
  Location loc = stripNames(op->getLoc());
  if (line)
    loc = NameLoc::get(
        StringAttr::get(op->getContext(),
                        unique(!name.empty()                  ? name
                               : value.getType().isInteger(1) ? "condition"
                               : value.getType().isInteger()  ? "offset"
                                                              : "value")),
        loc);
  op->setLoc(loc);
}

void Namer::run() {
  used.insert(func.getName());
  nameArguments(func.getBody().front());
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
}

namespace {
struct CudaPrepareForEmission
    : dsv4::impl::CudaPrepareForEmissionBase<CudaPrepareForEmission> {
  void runOnOperation() override {
    for (gpu::GPUFuncOp func : getOperation().getOps<gpu::GPUFuncOp>())
      Namer(func).run();
  }
};
} // namespace
