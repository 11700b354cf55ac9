//===- UnifyDims.cpp - One name and one extent for tied axes ----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel trusts that axes its ops tie have one extent. Here they get one
// name, by which the runtime compares them at every launch, or one constant
// extent.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Signature.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace dsv4;

namespace {

/// An axis of an argument of the function, or of an intermediate result, which
/// are counted on from the arguments.
using ArgumentAxis = std::pair<unsigned, int64_t>;

class DimUnifier {
public:
  explicit DimUnifier(func::FuncOp func) : func(func) {}
  LogicalResult run();
  /// Of ops whose axes are those of arguments.
  LogicalResult collectBounds(SmallVectorImpl<ExtentBound> &bounds);
  /// Fails if only a launch has the extent and no argument has it.
  FailureOr<BoundedExtent> getBoundedExtent(TensorAxis of);

private:
  /// The argument, or intermediate result, a tensor is, or overwrites; where
  /// the extent of an intermediate result or a slice is that of another axis,
  /// that one.
  std::optional<unsigned> getArgument(Value tensor, int64_t &axis);
  void collect();
  /// Only ops that work in place overwrite an argument twice, or one that is
  /// read as well.
  LogicalResult checkDestinations();
  LogicalResult
  checkWriters(BlockArgument arg,
               SmallVectorImpl<DestinationStyleOpInterface> &writers);
  /// A cache has one ring: with another length a position would have another
  /// entry.
  LogicalResult checkRings();
  /// Clauses of two ops say the same of what one computes and the other reads.
  LogicalResult checkProducers();
  /// Rows of a destination with constant strides do not overlap.
  LogicalResult checkStrides(BlockArgument arg);
  LogicalResult unify(ArrayRef<ArgumentAxis> axes);
  std::string describe(ArgumentAxis axis);
  StringRef getName(ArgumentAxis axis) const {
    return names[axis.first][axis.second];
  }
  /// Of axes with two names, those that an op ties itself, and which op.
  std::string findTie(ArgumentAxis &axis, ArgumentAxis &other);
  void refineBody();

  func::FuncOp func;
  llvm::EquivalenceClasses<ArgumentAxis> classes;
  /// The axes that each op ties.
  struct Tie {
    Operation *op;
    ArgumentAxis a, b;
  };
  SmallVector<Tie> ties;
  /// Destinations that are not arguments, and slices.
  llvm::MapVector<Value, unsigned> intermediates;
  /// New types and names, by argument.
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<SmallVector<std::string>> names;
};

} // namespace

/// The extent of an axis of an empty tensor or a slice, null if it is constant.
static Value getDynamicSize(OpResult tensor, int64_t axis) {
  if (!cast<RankedTensorType>(tensor.getType()).isDynamicDim(axis))
    return {};
  if (auto empty = dyn_cast<tensor::EmptyOp>(tensor.getOwner()))
    return empty.getDynamicSize(axis);
  auto slice = cast<tensor::ExtractSliceOp>(tensor.getOwner());
  return dyn_cast<Value>(slice.getMixedSizes()[getKeptAxes(slice)[axis]]);
}

std::optional<unsigned> DimUnifier::getArgument(Value tensor, int64_t &axis) {
  while (true) {
    if (auto result = dyn_cast<OpResult>(tensor)) {
      if (isa<tensor::EmptyOp, tensor::ExtractSliceOp>(result.getOwner())) {
        Value size = getDynamicSize(result, axis);
        auto dim = size ? size.getDefiningOp<tensor::DimOp>() : nullptr;
        auto index = dim ? dim.getConstantIndex() : std::nullopt;
        auto source =
            dim ? dyn_cast<RankedTensorType>(dim.getSource().getType())
                : RankedTensorType();
        // No verifier checks that the axis exists.
        if (index && source && *index >= 0 && *index < source.getRank()) {
          tensor = dim.getSource();
          axis = *index;
          continue;
        }
        return intermediates
            .try_emplace(result, func.getNumArguments() + intermediates.size())
            .first->second;
      }
      auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
      if (!op)
        return std::nullopt;
      tensor = op.getTiedOpOperand(result)->get();
      continue;
    }
    auto arg = cast<BlockArgument>(tensor);
    Operation *parent = arg.getOwner()->getParentOp();
    if (parent == func)
      return arg.getArgNumber();
    auto kernel = dyn_cast<KernelOp>(parent);
    if (!kernel)
      return std::nullopt;
    tensor = kernel.getInputs()[arg.getArgNumber()];
  }
}

void DimUnifier::collect() {
  func.walk([&](RowwiseOpInterface op) {
    for (auto [a, b] : op.getTiedAxes()) {
      auto left = getArgument(a.tensor, a.axis);
      auto right = getArgument(b.tensor, b.axis);
      if (!left || !right)
        continue;
      classes.unionSets({*left, a.axis}, {*right, b.axis});
      ties.push_back({op, {*left, a.axis}, {*right, b.axis}});
    }
  });
  // Axes of one name are tied by it.
  llvm::StringMap<ArgumentAxis> byName;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    for (auto [axis, name] : llvm::enumerate(names[i]))
      if (!name.empty()) {
        auto [it, fresh] = byName.try_emplace(name, ArgumentAxis(i, axis));
        classes.insert({i, axis});
        if (!fresh)
          classes.unionSets(it->second, {i, axis});
      }
}

static bool isInit(OpOperand &operand) {
  auto op = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  return op && op.isDpsInit(&operand);
}

/// Whether `input` may be read where `writer` overwrites it: element by element
/// by the lanes that write it, in the kernel of the writer or in one before.
/// Kernels are formed so that a reader does not come after the writer.
static bool isReadInPlace(OpOperand &input, Operation *writer) {
  auto isCooperative = [](RowwiseOpInterface op) {
    return bool(op.getCooperativeWork());
  };
  auto reader = dyn_cast<RowwiseOpInterface>(input.getOwner());
  if (!reader || isCooperative(reader) || !reader.acceptsProducer(input) ||
      reader->getBlock() != writer->getBlock() ||
      writer->isBeforeInBlock(reader))
    return false;
  auto demanded = cast<FusionOpInterface>(*reader).getDemandedAccesses(
      input, Access::row());
  if (!llvm::all_of(demanded, [](const Access &one) { return one.isRow(); }))
    return false;
  return writer == reader ||
         llvm::none_of(writer->getBlock()->getOps<RowwiseOpInterface>(),
                       isCooperative);
}

/// Whether all that `writer` puts into `arg` is read where `next` overwrites
/// it.
static bool isOverwrittenInPlace(DestinationStyleOpInterface writer,
                                 BlockArgument arg, Operation *next) {
  return llvm::all_of(writer->getResults(), [&](OpResult result) {
    return writer.getTiedOpOperand(result)->get() != arg ||
           (!result.use_empty() &&
            llvm::all_of(result.getUses(), [&](OpOperand &use) {
              return isReadInPlace(use, next);
            }));
  });
}

/// Sorts the ops that overwrite `arg`. Each but the last one only computes what
/// the next reads in place.
LogicalResult DimUnifier::checkWriters(
    BlockArgument arg, SmallVectorImpl<DestinationStyleOpInterface> &writers) {
  bool isFine = llvm::all_of(writers, [](Operation *op) {
    return isa<func::FuncOp>(op->getParentOp());
  });
  if (isFine)
    llvm::sort(writers, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
  for (size_t i = 1; i < writers.size(); ++i)
    isFine = isFine && writers[i - 1] != writers[i] &&
             isOverwrittenInPlace(writers[i - 1], arg, writers[i]);
  if (isFine || writers.size() < 2)
    return success();
  return func.emitError() << "argument '"
                          << getArgumentName(func, arg.getArgNumber())
                          << "' is the destination of two results: pass "
                             "another buffer";
}

LogicalResult DimUnifier::checkDestinations() {
  // The first op that overwrites an argument.
  llvm::SmallDenseMap<Value, Operation *> destinations;
  for (BlockArgument arg : func.getArguments()) {
    SmallVector<DestinationStyleOpInterface> writers;
    for (OpOperand &use : arg.getUses())
      if (isInit(use))
        writers.push_back(cast<DestinationStyleOpInterface>(use.getOwner()));
    if (failed(checkWriters(arg, writers)))
      return failure();
    if (writers.empty())
      continue;
    destinations[arg] = writers.front();
    if (failed(checkStrides(arg)))
      return failure();
  }
  WalkResult result = func.walk([&](Operation *op) {
    if (!isa<DestinationStyleOpInterface, CacheOpInterface>(op))
      return WalkResult::advance();
    for (OpOperand &input : op->getOpOperands()) {
      auto arg = dyn_cast<BlockArgument>(input.get());
      Operation *writer = arg ? destinations.lookup(arg) : nullptr;
      if (isInit(input) || !writer || isReadInPlace(input, writer))
        continue;
      op->emitOpError() << "reads argument '"
                        << getArgumentName(func, arg.getArgNumber())
                        << "', which is the destination of '"
                        << writer->getName()
                        << "' too, and it cannot work in place: pass another "
                           "buffer";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult DimUnifier::checkStrides(BlockArgument arg) {
  StridesAttr strides = getStrides(func, arg.getArgNumber());
  auto tensor = dyn_cast<RankedTensorType>(arg.getType());
  if (!strides || !tensor || tensor.isDynamicDim(tensor.getRank() - 1))
    return success();
  // Two elements of 4 bits are a byte, and one of a mask is.
  int64_t bits = tensor.getElementTypeBitWidth();
  int64_t span =
      llvm::divideCeil(tensor.getShape().back() * (bits == 1 ? 8 : bits), 8);
  SmallVector<int64_t> axes;
  for (auto [axis, stride] : llvm::enumerate(strides.getStrides()))
    if (!ShapedType::isDynamic(stride) && tensor.getDimSize(axis) != 0 &&
        tensor.getDimSize(axis) != 1)
      axes.push_back(axis);
  llvm::stable_sort(axes, [&](int64_t a, int64_t b) {
    return strides.getStrides()[a] < strides.getStrides()[b];
  });
  for (int64_t axis : axes) {
    int64_t stride = strides.getStrides()[axis], bytes;
    if (stride < span)
      return func.emitError()
             << "argument '" << getArgumentName(func, arg.getArgNumber())
             << "' is a destination, so its elements must not overlap: stride "
             << axis << " of 'dsv4.strides' is " << stride
             << " bytes, expected at least " << span;
    // The launch knows what a run-time extent adds.
    if (!tensor.isDynamicDim(axis) &&
        (llvm::MulOverflow(stride, tensor.getDimSize(axis) - 1, bytes) ||
         llvm::AddOverflow(span, bytes, span)))
      return success();
  }
  return success();
}

LogicalResult DimUnifier::checkProducers() {
  WalkResult result = func.walk([&](RowwiseOpInterface op) {
    for (OpOperand &operand : op->getOpOperands())
      if (std::string why = op.explainProducer(operand); !why.empty()) {
        op->emitOpError() << why;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<BoundedExtent> DimUnifier::getBoundedExtent(TensorAxis of) {
  int64_t axis = of.axis;
  if (auto argument = getArgument(of.tensor, axis)) {
    ArgumentAxis found = {*argument, axis};
    // An intermediate result has the extents of what it is tied to.
    if (found.first >= func.getNumArguments() &&
        classes.findLeader(found) != classes.member_end())
      for (auto it = classes.findLeader(found); it != classes.member_end();
           ++it)
        found = std::min(found, *it);
    if (found.first < func.getNumArguments())
      return BoundedExtent{found};
  }
  auto type = cast<RankedTensorType>(of.tensor.getType());
  if (type.isDynamicDim(of.axis))
    return failure();
  return BoundedExtent{std::nullopt, type.getDimSize(of.axis)};
}

LogicalResult DimUnifier::collectBounds(SmallVectorImpl<ExtentBound> &bounds) {
  WalkResult result = func.walk([&](RowwiseOpInterface op) {
    for (const AxisBound &bound : op.getAxisBounds()) {
      auto axis = getBoundedExtent(bound.axis),
           min = getBoundedExtent(bound.min);
      if (failed(axis) || failed(min)) {
        op->emitOpError()
            << "needs to know axis "
            << (failed(axis) ? bound.axis.axis : bound.min.axis)
            << " of an operand when it is launched, and it is not that of an "
               "argument: expected a constant size, or tensor.dim of an "
               "argument";
        return WalkResult::interrupt();
      }
      bounds.push_back({*axis, *min, bound.multiple});
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

std::string DimUnifier::describe(ArgumentAxis axis) {
  if (axis.first >= func.getNumArguments())
    return "axis " + std::to_string(axis.second) + " of an intermediate result";
  return "axis " + std::to_string(axis.second) + " of argument '" +
         getArgumentName(func, axis.first) + "'";
}

std::string DimUnifier::findTie(ArgumentAxis &axis, ArgumentAxis &other) {
  for (const Tie &tie : ties) {
    StringRef a = getName(tie.a), b = getName(tie.b);
    if (a.empty() || b.empty() || a == b || !classes.isEquivalent(tie.a, axis))
      continue;
    axis = tie.b;
    other = tie.a;
    return " (tied by '" + tie.op->getName().getStringRef().str() + "')";
  }
  return "";
}

LogicalResult DimUnifier::checkRings() {
  // By cache and page table, as tables may share out the pages of one pool.
  using Memory = std::pair<std::optional<unsigned>, std::optional<unsigned>>;
  std::map<Memory, std::pair<Operation *, int64_t>> rings;
  WalkResult result = func.walk([&](CacheOpInterface op) {
    Value cache = op.getAccessedCache(), table = op.getPageTable();
    std::optional<uint64_t> ring = op.getRing();
    if (!cache || !ring)
      return WalkResult::advance();
    int64_t axis = 0, length = *ring;
    Memory memory;
    memory.first = getArgument(cache, axis);
    if (table)
      memory.second = getArgument(table, axis);
    // Values that are not arguments cannot be identified.
    if (!memory.first || (table && !memory.second))
      return WalkResult::advance();
    auto [it, fresh] = rings.try_emplace(memory, op, length);
    if (fresh || it->second.second == length)
      return WalkResult::advance();
    op->emitOpError() << "has a ring of " << length << " in argument '"
                      << getArgumentName(func, *memory.first)
                      << "', where another op has a ring of "
                      << it->second.second
                      << "; expected rings of one length in one cache";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult DimUnifier::unify(ArrayRef<ArgumentAxis> axes) {
  std::string name;
  ArgumentAxis namedBy, constantBy;
  int64_t extent = ShapedType::kDynamic;
  for (ArgumentAxis axis : axes) {
    const std::string &own = names[axis.first][axis.second];
    if (!own.empty() && !name.empty() && own != name) {
      std::string tied = findTie(axis, namedBy);
      return func.emitError()
             << describe(axis) << " has the extent of " << describe(namedBy)
             << " but another name: '" << getName(axis) << "' and '"
             << getName(namedBy) << "'" << tied;
    }
    if (!own.empty()) {
      name = own;
      namedBy = axis;
    }
    int64_t constant = shapes[axis.first][axis.second];
    if (ShapedType::isDynamic(constant))
      continue;
    if (!ShapedType::isDynamic(extent) && extent != constant)
      return func.emitError()
             << describe(axis) << " has extent " << constant << ", but "
             << describe(constantBy) << ", which it is tied to, has " << extent;
    extent = constant;
    constantBy = axis;
  }
  // Axes are sorted: the first is one of an argument, if any is.
  if (name.empty() && axes.front().first < func.getNumArguments())
    name = getArgumentName(func, axes.front().first) + "." +
           std::to_string(axes.front().second);
  for (ArgumentAxis axis : axes) {
    shapes[axis.first][axis.second] = extent;
    names[axis.first][axis.second] = name;
  }
  return success();
}

void DimUnifier::refineBody() {
  Builder b(func.getContext());
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[i]);
    if (!tensor)
      continue;
    func.getArgument(i).setType(tensor.clone(shapes[i]));
    if (llvm::any_of(names[i], [](auto &name) { return !name.empty(); }))
      func.setArgAttr(i, DSV4Dialect::kDimsAttr,
                      b.getArrayAttr(llvm::map_to_vector(
                          names[i], [&](const std::string &name) -> Attribute {
                            return b.getStringAttr(name);
                          })));
  }
  refineResultTypes(func);
}

LogicalResult DimUnifier::run() {
  if (func.isExternal())
    return success();
  if (!func.getBody().hasOneBlock())
    return func.emitError() << "expected a function of one block";
  if (func.getNumArguments() > kMaxArguments)
    return func.emitError() << "expected at most " << kMaxArguments
                            << " arguments, got " << func.getNumArguments();
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto &shape = shapes.emplace_back();
    auto &own = names.emplace_back();
    if (auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[i]))
      for (int64_t axis = 0; axis < tensor.getRank(); ++axis) {
        shape.push_back(tensor.getDimSize(axis));
        own.push_back(getDimName(func, i, axis).str());
      }
  }
  if (failed(checkDestinations()) || failed(checkRings()) ||
      failed(checkSlices(func)) || failed(checkProducers()))
    return failure();
  collect();
  for (auto [value, number] : intermediates) {
    auto type = cast<RankedTensorType>(value.getType());
    shapes.push_back(llvm::to_vector(type.getShape()));
    names.emplace_back(type.getRank());
  }
  for (auto it = classes.begin(), end = classes.end(); it != end; ++it) {
    if (!(*it)->isLeader())
      continue;
    SmallVector<ArgumentAxis> axes(classes.member_begin(**it),
                                   classes.member_end());
    llvm::sort(axes);
    if (failed(unify(axes)))
      return failure();
  }
  refineBody();
  return success();
}

LogicalResult dsv4::unifyDims(func::FuncOp func,
                              SmallVectorImpl<ExtentBound> *bounds) {
  DimUnifier unifier(func);
  if (failed(unifier.run()))
    return failure();
  if (bounds && !func.isExternal())
    return unifier.collectBounds(*bounds);
  return success();
}

void dsv4::refineResultTypes(func::FuncOp func) {
  for (Operation &op : func.getBody().front())
    if (auto tied = dyn_cast<DestinationStyleOpInterface>(op))
      for (OpResult result : op.getResults())
        result.setType(tied.getTiedOpOperand(result)->get().getType());
  Block &body = func.getBody().front();
  func.setFunctionType(
      FunctionType::get(func.getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
}
