//===- ShareCode.cpp - Equal computations become functions ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVRTC inlines the device library into a kernel, and its optimiser takes time
// in the square of what it then has. So a large kernel is cut into functions
// that are not inlined. A function computes one value, of values that the
// kernel uses nowhere else, and is cut off where little is passed to it for
// what it computes. Cuts begin at the ends of computations, so equal ones are
// cut alike, and equal functions are one. What occurs a few times stays where
// it is, and so do large tiles: a call passes them through local memory.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_CUDASHARECODE
#include "dsv4/Passes.h.inc"
} // namespace dsv4

/// The elements that a function may compute. Its one op may have more.
static constexpr int64_t kMaxFunctionElements = 1024;

/// What a call costs, in registers that it passes.
static constexpr int64_t kCallRegisters = 8;

/// A function has at least as many calls.
static constexpr size_t kMinCalls = 4;

/// The registers that a call passes or returns, at most: the compiler passes
/// more in local memory. A kernel of kHugeKernel times the elements of one
/// without functions may do that: it would not be compiled in time otherwise.
static constexpr int64_t kMaxRegisters = 32;
static constexpr int64_t kHugeKernel = 4;

/// The elements that a thread computes in `op`: those of its fragment, and of
/// each stage of a transform.
static int64_t countElements(Operation *op) {
  if (op->getNumResults() != 1)
    return 0;
  auto fragment = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!fragment || matchPattern(op, m_Constant()))
    return 0;
  int64_t elements = fragment.getNumElements();
  if (auto transform = dyn_cast<cuda::HadamardOp>(op))
    return elements * llvm::Log2_64_Ceil(2 * elements * transform.getLanes());
  return elements;
}

/// Whether a function can have a parameter of this type.
static bool canPass(Type type) {
  return isa<VectorType, MemRefType, IntegerType, Float32Type>(type);
}

/// Whether `op` may move to where its result is used, if no other op writes
/// memory in between.
static bool isShareable(Operation *op) {
  // The words of a row that begins at any element are no value of their own.
  if (isa<cuda::LoadWordsOp, cuda::RealignOp>(op))
    return false;
  auto load = dyn_cast<cuda::LoadOp>(op);
  bool moves = load ? !load.getStaged() : isMemoryEffectFree(op);
  return moves && countElements(op) != 0 && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), canPass);
}

/// Whether no load may move across `op`. Dependent kernels write nothing before
/// this one is complete, wherever it lets them start.
static bool isBarrier(Operation *op) {
  return !isMemoryEffectFree(op) && !hasSingleEffect<MemoryEffects::Read>(op) &&
         !isa<cuda::LaunchDependentsOp>(op);
}

/// Whether the function of `op` takes `operand`, one number for all elements of
/// a fragment, as a parameter: functions are equal if only such numbers differ.
static bool isParameter(OpOperand &operand) {
  Operation *op = operand.getOwner();
  DenseFPElementsAttr number;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op) &&
         matchPattern(operand.get(), m_Constant(&number)) && number.isSplat() &&
         number.getElementType().isF32() &&
         !matchPattern(op->getOperand(1 - operand.getOperandNumber()),
                       m_Constant());
}

namespace {

/// What becomes a call: ops in order, of which the last one has the result.
struct Cut {
  SmallVector<Operation *> ops;
  /// What a call passes: operands of `ops`, by their first use.
  SmallVector<OpOperand *> inputs;
};

/// Cuts the large kernels of a module into functions.
class Sharer {
public:
  Sharer(gpu::GPUFuncOp kernel, bool isHuge)
      : kernel(kernel), isHuge(isHuge), b(kernel),
        symbols(kernel->getParentOp()) {}

  void run() { visitBlock(kernel.getBody().front()); }

private:
  void visitBlock(Block &block);
  /// The ops that only `last` needs, as far as a function may have them.
  Cut makeCut(Operation *last);
  /// Whether calls pass and return in registers what a function has.
  bool fitsRegisters(const Cut &cut) const;
  void findInputs(Cut &cut);
  /// What two cuts with one function have in common: attributes and types are
  /// unique, so their addresses say whether they are equal.
  std::string describe(const Cut &cut);
  func::FuncOp getFunction(const Cut &cut, StringRef description);
  void replace(const Cut &cut, StringRef description);

  gpu::GPUFuncOp kernel;
  bool isHuge;
  OpBuilder b;
  SymbolTable symbols;
  std::map<std::string, func::FuncOp> functions;
  /// Of the ops of the block that is being cut, and the number of barriers
  /// before each.
  DenseMap<Operation *, size_t> positions, barriers;
  DenseSet<Operation *> taken;
};

} // namespace

/// The registers that a value of this type takes.
static int64_t countRegisters(Type type) {
  auto fragment = dyn_cast<VectorType>(type);
  return fragment ? llvm::divideCeil(fragment.getNumElements() *
                                         fragment.getElementTypeBitWidth(),
                                     32)
                  : 0;
}

/// The registers that calls of a function with `ops` pass.
static int64_t countRegisters(const llvm::SetVector<Operation *> &ops) {
  llvm::SmallDenseSet<Value> inputs;
  int64_t registers = 0;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (!ops.contains(operand.getDefiningOp()) &&
          !matchPattern(operand, m_Constant()) && inputs.insert(operand).second)
        registers += countRegisters(operand.getType());
  return registers;
}

Cut Sharer::makeCut(Operation *last) {
  llvm::SetVector<Operation *> members;
  // Later ones first: all users of an op are visited before it.
  std::map<size_t, Operation *, std::greater<>> candidates;
  int64_t elements = 0;
  auto add = [&](Operation *op) {
    members.insert(op);
    elements += countElements(op);
    for (Value operand : op->getOperands())
      if (Operation *from = operand.getDefiningOp())
        if (auto at = positions.find(from); at != positions.end())
          candidates[at->second] = from;
  };
  add(last);
  // What a call costs for each element that it computes.
  size_t best = 1;
  int64_t bestCost = kCallRegisters + countRegisters(members);
  int64_t bestElements = elements;
  while (!candidates.empty()) {
    Operation *op = candidates.begin()->second;
    candidates.erase(candidates.begin());
    auto isMember = [&](Operation *user) { return members.contains(user); };
    if (!isShareable(op) || taken.contains(op) ||
        !llvm::all_of(op->getUsers(), isMember) ||
        elements + countElements(op) > kMaxFunctionElements ||
        (!isMemoryEffectFree(op) && barriers[op] != barriers[last]))
      continue;
    add(op);
    int64_t cost = kCallRegisters + countRegisters(members);
    if (cost * bestElements <= bestCost * elements) {
      bestCost = cost;
      bestElements = elements;
      best = members.size();
    }
  }
  Cut cut;
  cut.ops = llvm::to_vector(members.getArrayRef().take_front(best));
  taken.insert(cut.ops.begin(), cut.ops.end());
  llvm::sort(cut.ops, [&](Operation *a, Operation *b) {
    return positions[a] < positions[b];
  });
  findInputs(cut);
  return cut;
}

void Sharer::findInputs(Cut &cut) {
  llvm::DenseSet<Value> known;
  for (Operation *op : cut.ops) {
    for (OpOperand &operand : op->getOpOperands()) {
      bool isConstant = matchPattern(operand.get(), m_Constant());
      bool passes =
          isConstant ? isParameter(operand) : !known.contains(operand.get());
      if (passes)
        cut.inputs.push_back(&operand);
      if (!isConstant)
        known.insert(operand.get());
    }
    known.insert_range(op->getResults());
  }
}

bool Sharer::fitsRegisters(const Cut &cut) const {
  int64_t passed = 0;
  for (OpOperand *input : cut.inputs)
    if (!matchPattern(input->get(), m_Constant()))
      passed += countRegisters(input->get().getType());
  Type result = cut.ops.back()->getResult(0).getType();
  return isHuge || std::max(passed, countRegisters(result)) <= kMaxRegisters;
}

std::string Sharer::describe(const Cut &cut) {
  std::string text;
  llvm::raw_string_ostream os(text);
  DenseMap<Value, unsigned> numbers;
  DenseMap<OpOperand *, unsigned> ofInputs;
  for (OpOperand *input : cut.inputs) {
    unsigned number = ofInputs.size();
    ofInputs[input] = number;
    if (!matchPattern(input->get(), m_Constant()))
      numbers[input->get()] = number;
    os << input->get().getType().getAsOpaquePointer() << ", ";
  }
  for (Operation *op : cut.ops) {
    os << "\n"
       << op->getName() << " " << op->getAttrDictionary().getAsOpaquePointer()
       << " " << op->getPropertiesAsAttribute().getAsOpaquePointer();
    for (OpOperand &operand : op->getOpOperands()) {
      Attribute constant;
      if (auto input = ofInputs.find(&operand); input != ofInputs.end())
        os << " #" << input->second;
      else if (matchPattern(operand.get(), m_Constant(&constant)))
        os << " " << constant.getAsOpaquePointer();
      else
        os << " #" << numbers.lookup(operand.get());
    }
    os << " : " << op->getResult(0).getType().getAsOpaquePointer();
    unsigned number = ofInputs.size() + numbers.size();
    numbers[op->getResult(0)] = number;
  }
  return text;
}

/// The type of the parameter for `input`.
static Type getParameterType(OpOperand *input) {
  Type type = input->get().getType();
  return matchPattern(input->get(), m_Constant())
             ? cast<VectorType>(type).getElementType()
             : type;
}

/// A location of the name that a parameter for `input` should have.
static Location nameParameter(OpOperand *input) {
  Location loc = input->get().getLoc();
  if (!getEmittedName(loc).empty())
    return loc;
  bool isNumber = matchPattern(input->get(), m_Constant());
  return NameLoc::get(
      StringAttr::get(loc.getContext(), isNumber ? "number" : "value"), loc);
}

func::FuncOp Sharer::getFunction(const Cut &cut, StringRef description) {
  func::FuncOp &function = functions[description.str()];
  if (function)
    return function;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(kernel);
  Operation *last = cut.ops.back();
  auto type =
      b.getFunctionType(llvm::map_to_vector(cut.inputs, getParameterType),
                        last->getResultTypes());
  constexpr StringRef suffix = "_part";
  StringRef prefix =
      kernel.getName().take_front(kMaxIdentifierLength - suffix.size());
  std::string name =
      uniqueIdentifier((prefix + suffix).str(), [&](StringRef name) {
        return symbols.lookup(name) != nullptr;
      });
  function = func::FuncOp::create(b, kernel.getLoc(), name, type);
  function.setPrivate();
  symbols.insert(function);
  Block *body = b.createBlock(&function.getBody());
  IRMapping mapping;
  llvm::DenseMap<OpOperand *, Value> numbers;
  for (OpOperand *input : cut.inputs) {
    Value parameter =
        body->addArgument(getParameterType(input), nameParameter(input));
    if (matchPattern(input->get(), m_Constant()))
      numbers[input] = vector::BroadcastOp::create(
          b, b.getUnknownLoc(), input->get().getType(), parameter);
    else
      mapping.map(input->get(), parameter);
  }
  for (Operation *op : cut.ops) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (matchPattern(value, m_Constant()) && !numbers.contains(&operand) &&
          !mapping.contains(value))
        mapping.map(value, b.clone(*value.getDefiningOp())->getResult(0));
    }
    Operation *copy = b.clone(*op, mapping);
    for (OpOperand &operand : op->getOpOperands())
      if (Value number = numbers.lookup(&operand))
        copy->setOperand(operand.getOperandNumber(), number);
  }
  func::ReturnOp::create(b, last->getLoc(), mapping.lookup(last->getResult(0)));
  return function;
}

void Sharer::replace(const Cut &cut, StringRef description) {
  Operation *last = cut.ops.back();
  func::FuncOp function = getFunction(cut, description);
  b.setInsertionPoint(last);
  SmallVector<Value> operands;
  for (OpOperand *input : cut.inputs) {
    DenseFPElementsAttr number;
    operands.push_back(matchPattern(input->get(), m_Constant(&number))
                           ? arith::ConstantFloatOp::create(
                                 b, b.getUnknownLoc(), b.getF32Type(),
                                 number.getSplatValue<APFloat>())
                           : input->get());
  }
  auto call = func::CallOp::create(b, last->getLoc(), function, operands);
  last->getResult(0).replaceAllUsesWith(call.getResult(0));
  for (Operation *op : llvm::reverse(cut.ops))
    op->erase();
}

void Sharer::visitBlock(Block &block) {
  positions.clear();
  barriers.clear();
  taken.clear();
  SmallVector<Operation *> ops;
  size_t barrier = 0;
  for (Operation &op : block) {
    positions[&op] = ops.size();
    barrier += isBarrier(&op);
    barriers[&op] = barrier;
    ops.push_back(&op);
  }
  SmallVector<std::pair<Cut, std::string>> cuts;
  llvm::StringMap<size_t> calls;
  for (Operation *op : llvm::reverse(ops)) {
    if (!isShareable(op) || taken.contains(op) || op->use_empty())
      continue;
    Cut cut = makeCut(op);
    if (!fitsRegisters(cut))
      continue;
    std::string description = describe(cut);
    ++calls[description];
    cuts.emplace_back(std::move(cut), std::move(description));
  }
  for (const auto &[cut, description] : llvm::reverse(cuts))
    if (calls[description] >= kMinCalls)
      replace(cut, description);
  // Functions that a call of the device library gets are its own.
  for (Operation &op : block)
    if (isa<scf::IfOp, scf::ForOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visitBlock(inner);
}

namespace {
struct CudaShareCode : dsv4::impl::CudaShareCodeBase<CudaShareCode> {
  using CudaShareCodeBase::CudaShareCodeBase;

  void runOnOperation() override {
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUFuncOp>())) {
      int64_t elements = 0;
      kernel.walk([&](Operation *op) { elements += countElements(op); });
      if (elements > maxElements)
        Sharer(kernel, elements > kHugeKernel * maxElements).run();
    }
  }
};
} // namespace
