//===- Specialize.cpp - Fix the extents of named dims -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"
#include "dsv4/Signature.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_SPECIALIZE
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

struct Specialize : dsv4::impl::SpecializeBase<Specialize> {
  using SpecializeBase::SpecializeBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (failed(checkReturns()) || failed(unifyBounded()) ||
        failed(parseDims()) || failed(collectPolicies()) ||
        failed(applyExtents()) || failed(requireBounds()))
      signalPassFailure();
  }

private:
  LogicalResult parseDims();
  LogicalResult checkReturns();
  LogicalResult collectPolicies();
  LogicalResult applyExtents();
  LogicalResult unifyBounded() {
    bounds.clear();
    return unifyDims(getOperation(), &bounds);
  }
  /// Compares extents that bound others, or has each launch do so.
  LogicalResult requireBounds();
  /// Bounds of the rows that ops select from.
  LogicalResult boundSelections(NamedAttrList &bounds);

  /// Extents that were given, by name.
  llvm::StringMap<int64_t> given;
  SmallVector<ExtentBound> bounds;
  /// Policies of all names that occur.
  llvm::StringMap<PolicyKind> policies;
};

} // namespace

LogicalResult Specialize::parseDims() {
  given.clear();
  for (const std::string &entry : dims) {
    auto [name, value] = StringRef(entry).split('=');
    int64_t extent;
    if (value == "?")
      continue;
    if (name.empty() || value.getAsInteger(10, extent) || extent < 0)
      return getOperation().emitError()
             << "expected dims as NAME=N with N >= 0, or NAME=?, got '" << entry
             << "'";
    auto [it, fresh] = given.try_emplace(name, extent);
    if (!fresh && it->second != extent)
      return getOperation().emitError() << "dim '" << name << "' is given as "
                                        << it->second << " and as " << extent;
  }
  return success();
}

/// An argument that is returned has the value it came with, while its memory is
/// where an op's result goes: both cannot be.
LogicalResult Specialize::checkReturns() {
  func::FuncOp func = getOperation();
  for (Value value : func.getBody().front().getTerminator()->getOperands())
    for (OpOperand &use : value.getUses())
      if (auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
          op && isa<BlockArgument>(value) && op.isDpsInit(&use)) {
        unsigned argument = cast<BlockArgument>(value).getArgNumber();
        func.getBody().front().getTerminator()->emitOpError()
            << "returns argument '" << dsv4::getArgumentName(func, argument)
            << "', which is the destination of '"
            << op->getName().getStringRef()
            << "': return the result of that op";
        return failure();
      }
  return success();
}

LogicalResult Specialize::collectPolicies() {
  func::FuncOp func = getOperation();
  policies.clear();
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[i]))
      for (int64_t axis = 0; axis < tensor.getRank(); ++axis)
        if (StringRef name = getDimName(func, i, axis); !name.empty())
          policies[name] = PolicyKind::Dynamic;
  if (auto dict =
          func->getAttrOfType<DictionaryAttr>(DSV4Dialect::kPoliciesAttr))
    for (NamedAttribute entry : dict) {
      if (!policies.contains(entry.getName().getValue()))
        return func.emitError()
               << "the policy of dim '" << entry.getName().getValue()
               << "' names no axis of an argument";
      policies[entry.getName().getValue()] =
          cast<PolicyAttr>(entry.getValue()).getKind();
    }
  for (auto &entry : given)
    if (!policies.contains(entry.first()))
      return func.emitError()
             << "dim '" << entry.first() << "' names no axis of an argument";
  return success();
}

LogicalResult Specialize::boundSelections(NamedAttrList &bounds) {
  func::FuncOp func = getOperation();
  WalkResult result = func.walk([&](RowwiseOpInterface op) {
    CooperativeWork work = op.getCooperativeWork();
    auto arg = dyn_cast_if_present<BlockArgument>(work.source);
    if (!arg || arg.getOwner() != &func.front())
      return WalkResult::advance();
    auto type = cast<RankedTensorType>(arg.getType());
    int64_t axis = type.getRank() - 1;
    if (!type.isDynamicDim(axis))
      return WalkResult::advance();
    StringRef name = getDimName(func, arg.getArgNumber(), axis);
    if (name.empty()) {
      op.emitOpError()
          << "selects from rows of unbounded length, expected at most "
          << work.elements << ": give axis " << axis << " of argument '"
          << dsv4::getArgumentName(func, arg.getArgNumber())
          << "' a name in 'dsv4.dims'";
      return WalkResult::interrupt();
    }
    auto bound = dyn_cast_if_present<IntegerAttr>(bounds.get(name));
    bounds.set(name, Builder(func.getContext())
                         .getI64IntegerAttr(std::min(bound ? bound.getInt()
                                                           : int64_t(INT32_MAX),
                                                     work.elements)));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Specialize::applyExtents() {
  func::FuncOp func = getOperation();
  Builder b(func.getContext());
  NamedAttrList bounds;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[i]);
    if (!tensor)
      continue;
    SmallVector<int64_t> shape = llvm::to_vector(tensor.getShape());
    for (int64_t axis = 0; axis < tensor.getRank(); ++axis) {
      StringRef name = getDimName(func, i, axis);
      if (name.empty())
        continue;
      PolicyKind policy = policies[name];
      auto it = given.find(name);
      bool known = it != given.end();
      if (known && !tensor.isDynamicDim(axis) && shape[axis] != it->second)
        return func.emitError()
               << "dim '" << name << "' is " << it->second << ", but axis "
               << axis << " of argument '" << dsv4::getArgumentName(func, i)
               << "' has extent " << shape[axis];
      if (policy == PolicyKind::Exact) {
        if (!known && tensor.isDynamicDim(axis))
          return func.emitError()
                 << "dim '" << name << "' is exact and needs an extent: give "
                 << name << "=N";
        if (known)
          shape[axis] = it->second;
      } else if (policy == PolicyKind::Bucket && known) {
        if (it->second > INT32_MAX)
          return func.emitError()
                 << "dim '" << name << "' is " << it->second
                 << ", more than the largest extent " << INT32_MAX;
        int64_t bound = llvm::PowerOf2Ceil(std::max<int64_t>(it->second, 1));
        bounds.set(name,
                   b.getI64IntegerAttr(std::min<int64_t>(bound, INT32_MAX)));
      }
    }
    func.getArgument(i).setType(
        RankedTensorType::get(shape, tensor.getElementType()));
  }
  if (failed(makeViews(func)) || failed(boundSelections(bounds)))
    return failure();
  if (!bounds.empty())
    func->setAttr(DSV4Dialect::kBoundsAttr,
                  bounds.getDictionary(func.getContext()));
  refineResultTypes(func);
  return success();
}

/// An extent in launch plans of `func`.
static rt::Expression getExtent(func::FuncOp func, const BoundedExtent &extent,
                                const rt::PlanNames &names) {
  if (!extent.argument)
    return extent.constant;
  auto [argument, axis] = *extent.argument;
  auto tensor = cast<RankedTensorType>(func.getArgumentTypes()[argument]);
  if (!tensor.isDynamicDim(axis))
    return tensor.getDimSize(axis);
  std::string name = getExtentName(func, argument, axis);
  return rt::Expression::extent(llvm::find(names.extents, name) -
                                names.extents.begin());
}

static std::string describe(func::FuncOp func, const BoundedExtent &extent) {
  if (!extent.argument)
    return "an axis of a slice";
  return "axis " + std::to_string(extent.argument->second) + " of argument '" +
         dsv4::getArgumentName(func, extent.argument->first) + "'";
}

LogicalResult Specialize::requireBounds() {
  func::FuncOp func = getOperation();
  rt::PlanNames names = getPlanNames(func);
  llvm::MapVector<unsigned, rt::Condition> required;
  auto require = [&](unsigned argument, const rt::Expression &min,
                     const rt::Expression &extent) {
    if (min != extent)
      required[argument].comparisons.push_back(
          {min, rt::Comparison::Op::Le, extent});
  };
  for (const ExtentBound &bound : bounds) {
    auto toBlocks = [&](const rt::Expression &count) {
      return rt::Expression::ceilDiv(count, bound.multiple) *
             rt::Expression(bound.multiple);
    };
    rt::Expression extent = getExtent(func, bound.axis, names);
    rt::Expression min = toBlocks(getExtent(func, bound.min, names));
    if (!extent.isConstant() || !min.isConstant()) {
      // The condition is that of an argument whose extent a launch has.
      const auto &argument =
          bound.axis.argument ? bound.axis.argument : bound.min.argument;
      require(argument->first, min, extent);
      if (!extent.isConstant())
        require(argument->first, toBlocks(extent), extent);
    } else if (extent.getConstant() < min.getConstant()) {
      return func.emitError()
             << describe(func, bound.axis) << " has extent "
             << extent.getConstant() << ", expected at least "
             << min.getConstant() << ", for " << describe(func, bound.min);
    }
  }
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    func.removeArgAttr(i, DSV4Dialect::kRequiresAttr);
  for (const auto &[argument, condition] : required)
    func.setArgAttr(
        argument, DSV4Dialect::kRequiresAttr,
        Builder(func.getContext()).getStringAttr(condition.print(names)));
  return success();
}
