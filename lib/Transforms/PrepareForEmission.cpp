//===- PrepareForEmission.cpp - Make IR and source isomorphic ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_CUDAPREPAREFOREMISSION
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

/// Expressions nest no deeper than this: a reader, and the stack of a
/// compiler, have an end.
constexpr unsigned kMaxDepth = 32;

/// And those that every use repeats no deeper than this, so that their text
/// does not double from op to op.
constexpr unsigned kMaxRepeatedDepth = 3;

/// Names the values of one kernel, or of a function that it calls.
class Namer {
public:
  explicit Namer(FunctionOpInterface func) : func(func) {}
  void run();

private:
  std::string unique(StringRef wish);
  void nameConfig(cuda::DeviceCallOpInterface call);
  /// What the line of `op` should be called.
  std::string getWish(Operation *op);
  void nameArguments(Block &block);
  void visit(Operation *op);
  /// Visits every op before the ops in it.
  void visitBlock(Block &block);
  /// How deep the expression of `op` nests: 1 without operands, or where each
  /// operand is the name of a line.
  unsigned measureDepth(Operation *op);

  FunctionOpInterface func;
  llvm::StringSet<> used;
  /// Of the ops without a line.
  llvm::DenseMap<Operation *, unsigned> depths;
};

} // namespace

std::string Namer::unique(StringRef wish) {
  return uniqueIdentifier(toIdentifier(wish), [&](StringRef candidate) {
    return !used.insert(candidate).second;
  });
}

/// Pure, and cheap enough that every use may repeat it. An op with an operand
/// repeats that as well.
static bool repeatsFreely(Operation *op, unsigned depth) {
  return isa<arith::ConstantOp, gpu::ThreadIdOp, gpu::BlockIdOp,
             gpu::GridDimOp>(op) ||
         (isa<arith::IndexCastOp, arith::ExtSIOp, cuda::BytesOp>(op) &&
          depth <= kMaxRepeatedDepth);
}

/// "kPageBytes" of "page_bytes" with the prefix "k".
static std::string toCamelCase(StringRef prefix, StringRef name) {
  std::string camel = prefix.str();
  bool atStart = true;
  for (char c : name) {
    if (c != '_')
      camel += atStart ? llvm::toUpper(c) : c;
    atStart = c == '_';
  }
  return camel;
}

void Namer::nameConfig(cuda::DeviceCallOpInterface call) {
  if (!call.getConfig())
    return;
  std::string name = toCamelCase("", func.getName()) + "Config";
  call->setAttr(cuda::CUDADialect::kConfigAttr,
                StringAttr::get(func.getContext(), unique(name)));
}

/// Whether the source must say that a division is unsigned. A line of its own
/// makes the result an int again.
static bool isUnsignedDivision(Operation *op) {
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op))
    return false;
  auto builtin = op->getOperand(0).getDefiningOp<arith::IndexCastOp>();
  return !builtin || !builtin.getIn().getType().isIndex();
}

unsigned Namer::measureDepth(Operation *op) {
  unsigned depth = 0;
  for (Value operand : op->getOperands())
    if (Operation *from = operand.getDefiningOp())
      depth = std::max(depth, depths.lookup(from));
  return depth + 1;
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
  // The text of a loop has no location of its index.
  if (auto loop = dyn_cast<scf::ForOp>(op))
    loop->setLoc(loop.getInductionVar().getLoc());
  if (op->getNumResults() != 1)
    return;
  Value value = op->getResult(0);
  StringRef name = getEmittedName(op->getLoc());
  // Within a conditional expression there are no lines.
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  bool mayHaveLine = !(branch && branch.getNumResults() > 0);
  unsigned depth = measureDepth(op);
  // Statements are not written within expressions.
  bool hasStatements =
      op->getNumRegions() > 0 && isa<cuda::DeviceCallOpInterface>(op);
  bool line =
      isa<cuda::ConstantOp>(op) || hasStatements ||
      (mayHaveLine && !repeatsFreely(op, depth) &&
       (!name.empty() || !isMemoryEffectFree(op) || !value.hasOneUse() ||
        depth > kMaxDepth || isUnsignedDivision(op)));
  if (!line)
    depths[op] = depth;
  Location loc = stripNames(op->getLoc());
  if (line)
    loc = NameLoc::get(StringAttr::get(op->getContext(), unique(getWish(op))),
                       loc);
  op->setLoc(loc);
}

std::string Namer::getWish(Operation *op) {
  if (auto constant = dyn_cast<cuda::ConstantOp>(op))
    return toCamelCase("k", constant.getName());
  if (StringRef name = getEmittedName(op->getLoc()); !name.empty())
    return name.str();
  if (isUnsignedDivision(op))
    return isa<arith::DivUIOp>(op) ? "quotient" : "residue";
  Type type = op->getResult(0).getType();
  return type.isInteger(1)  ? "condition"
         : type.isInteger() ? "offset"
                            : "value";
}

void Namer::run() {
  used.insert(func.getName());
  // A value of one of these names would hide the function that is called.
  for (auto other :
       func->getParentOfType<gpu::GPUModuleOp>().getOps<func::FuncOp>())
    used.insert(other.getName());
  func.walk([&](cuda::DeviceCallOpInterface call) {
    for (StringRef name : cuda::getLambdaParameters(call))
      used.insert(name);
  });
  nameArguments(func.getFunctionBody().front());
  func.walk([&](cuda::DeviceCallOpInterface call) { nameConfig(call); });
  visitBlock(func.getFunctionBody().front());
}

void Namer::visitBlock(Block &block) {
  for (Operation &op : block) {
    visit(&op);
    auto branch = dyn_cast<scf::IfOp>(op);
    bool isStatement = branch && branch.getNumResults() == 0;
    if (isStatement && branch.elseBlock()) {
      // One of the two is executed: a name may be in both.
      const llvm::StringSet<> before = used;
      visitBlock(*branch.thenBlock());
      llvm::StringSet<> ofThen = std::exchange(used, before);
      visitBlock(*branch.elseBlock());
      for (const auto &name : ofThen)
        used.insert(name.first());
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        visitBlock(inner);
  }
}

namespace {
struct CudaPrepareForEmission
    : dsv4::impl::CudaPrepareForEmissionBase<CudaPrepareForEmission> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<FunctionOpInterface>())
      if (!func.isExternal())
        Namer(func).run();
  }
};
} // namespace
