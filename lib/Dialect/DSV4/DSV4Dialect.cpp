//===- DSV4Dialect.cpp - The dialect and its discardable attributes -------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Dialect/DSV4/BufferStrides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dsv4;

#include "DSV4Dialect.cpp.inc"

namespace {

/// Prints records under the names public sources know them by.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (auto record = dyn_cast<RecordAttr>(attr)) {
      StringRef known = record.getKnownName();
      os << (known.empty() ? StringRef("record") : known);
      return AliasResult::FinalAlias;
    }
    if (isa<FormatAttr>(attr)) {
      os << "format";
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};

} // namespace

void DSV4Dialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "DSV4KernelOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DSV4CacheOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DSV4QuantizeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DSV4RowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DSV4WindowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DSV4SelectOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DSV4ScoreOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DSV4LengthOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DSV4RouteOps.cpp.inc"
      >();
  addInterfaces<AliasInterface>();
}

Operation *DSV4Dialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Names and places of discardable attributes
//===----------------------------------------------------------------------===//

/// "; did you mean 'order'?", or which attributes there are.
static std::string suggestAttribute(Operation *op, StringRef name) {
  StringRef nearest;
  unsigned min = 1 + name.size() / 3;
  std::string all;
  for (StringAttr known : op->getRegisteredInfo()->getAttributeNames()) {
    // Users write no sizes of operand lists.
    if (known.getValue() == "operandSegmentSizes")
      continue;
    all += (all.empty() ? "'" : ", '") + known.str() + "'";
    unsigned distance = name.edit_distance(known.getValue());
    if (distance < min)
      nearest = known.getValue(), min = distance;
  }
  if (!nearest.empty())
    return "; did you mean '" + nearest.str() + "'?";
  return all.empty() ? "; it has none" : "; it has " + all;
}

LogicalResult dsv4::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attr : op->getDiscardableAttrs()) {
    StringRef name = attr.getName();
    // Those of other dialects are for others.
    if (!name.contains('.'))
      return op->emitOpError() << "has no attribute '" << name << "'"
                               << suggestAttribute(op, name);
  }
  return success();
}

/// What an attribute is put on.
enum class Place { Argument, Function, Kernel, OutlinedKernel };

static StringRef describe(Place place) {
  switch (place) {
  case Place::Argument:
    return "an argument";
  case Place::Function:
    return "a function";
  case Place::Kernel:
    return "a lowered kernel";
  case Place::OutlinedKernel:
    return "an outlined kernel";
  }
  return "";
}

namespace {
struct KnownAttribute {
  StringRef name;
  Place place;
};
} // namespace

/// Users write the first three, and policies and separate launches; passes the
/// others.
static const KnownAttribute knownAttributes[] = {
    {DSV4Dialect::kNameAttr, Place::Argument},
    {DSV4Dialect::kDimsAttr, Place::Argument},
    {DSV4Dialect::kStridesAttr, Place::Argument},
    {DSV4Dialect::kViewAttr, Place::Argument},
    {DSV4Dialect::kPoliciesAttr, Place::Function},
    {DSV4Dialect::kSeparateLaunchesAttr, Place::Function},
    {DSV4Dialect::kBoundsAttr, Place::Function},
    {DSV4Dialect::kRequiresAttr, Place::Argument},
    {DSV4Dialect::kSummaryAttr, Place::Kernel},
    {DSV4Dialect::kRowsOfAttr, Place::Kernel},
    {DSV4Dialect::kPartsAttr, Place::Kernel},
    {DSV4Dialect::kScheduleAttr, Place::OutlinedKernel}};

/// ", the nearest is 'dsv4.dims' of an argument".
static std::string suggest(StringRef name) {
  const KnownAttribute *nearest = nullptr;
  unsigned min = 0;
  for (const KnownAttribute &known : knownAttributes) {
    unsigned distance = name.edit_distance(known.name);
    if (!nearest || distance < min)
      nearest = &known, min = distance;
  }
  return (", the nearest is '" + nearest->name + "' of " +
          describe(nearest->place))
      .str();
}

static bool isPlace(Operation *op, Place place) {
  // By name: the dialect gpu is not needed for anything else here.
  bool outlined = op->getName().getStringRef() == "gpu.func";
  switch (place) {
  case Place::Argument:
    return false;
  case Place::Function:
    return isa<FunctionOpInterface>(op) && !outlined;
  case Place::Kernel:
    return isa<KernelOp>(op);
  case Place::OutlinedKernel:
    return outlined;
  }
  return false;
}

/// The error of an attribute that nobody reads, so that what it says would be
/// ignored. `what` is "argument " or nothing.
static LogicalResult refuse(Operation *op, StringRef name, StringRef what) {
  for (const KnownAttribute &known : knownAttributes)
    if (known.name == name)
      return op->emitOpError()
             << "cannot have the " << what << "attribute '" << name
             << "', which is one of " << describe(known.place);
  return op->emitOpError() << "has no " << what << "attribute '" << name << "'"
                           << suggest(name);
}

/// Whether `attr` is an array of a dictionary per part, with what it computes
/// and its schedule.
static bool isPartList(Attribute attr) {
  auto parts = dyn_cast<ArrayAttr>(attr);
  return parts && !parts.empty() && llvm::all_of(parts, [](Attribute entry) {
           auto part = dyn_cast<DictionaryAttr>(entry);
           return part && part.size() == 2 &&
                  part.getAs<StringAttr>("summary") &&
                  part.getAs<ScheduleAttr>("schedule");
         });
}

/// Whether `attr` is a schedule, or an array of some.
static bool isScheduleOrList(Attribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr);
  return isa<ScheduleAttr>(attr) ||
         (list && !list.empty() &&
          llvm::all_of(list, llvm::IsaPred<ScheduleAttr>));
}

/// Whether `attr` names an operand with rows, and maybe how many axes they
/// have.
static bool isRowsOf(Attribute attr, Operation *op) {
  auto index = dyn_cast<IntegerAttr>(attr);
  auto both = dyn_cast<DenseI64ArrayAttr>(attr);
  if (both ? both.size() != 2
           : !index || !index.getType().isSignlessInteger(64))
    return false;
  int64_t operand = both ? both[0] : index.getInt();
  auto tensor =
      operand >= 0 && operand < op->getNumOperands()
          ? dyn_cast<RankedTensorType>(op->getOperand(operand).getType())
          : RankedTensorType();
  if (!tensor || tensor.getRank() == 0)
    return false;
  return !both || (both[1] >= 0 && both[1] <= tensor.getRank());
}

LogicalResult DSV4Dialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  if (llvm::none_of(knownAttributes, [&](const KnownAttribute &known) {
        return known.name == attr.getName() && isPlace(op, known.place);
      }))
    return refuse(op, attr.getName(), "");
  auto expects = [&](const char *what) {
    return op->emitOpError()
           << "expects '" << attr.getName().getValue() << "' to be " << what;
  };
  if (attr.getName() == kSeparateLaunchesAttr)
    return isa<UnitAttr>(attr.getValue()) ? success() : expects("a unit");
  if (attr.getName() == kSummaryAttr && !isa<StringAttr>(attr.getValue()))
    return expects("a string");
  if (attr.getName() == kScheduleAttr && !isScheduleOrList(attr.getValue()))
    return expects("a #dsv4.schedule, or an array of some");
  if (attr.getName() == kPartsAttr && !isPartList(attr.getValue()))
    return expects("an array of dictionaries {schedule = #dsv4.schedule<...>, "
                   "summary = \"...\"}");
  if (attr.getName() == kRowsOfAttr) {
    if (!isRowsOf(attr.getValue(), op))
      return expects(
          "the i64 number of an operand that is a tensor of rows, or "
          "an array of it and of the number of their axes");
  }
  if (attr.getName() != kPoliciesAttr && attr.getName() != kBoundsAttr)
    return success();
  auto dict = dyn_cast<DictionaryAttr>(attr.getValue());
  if (!dict)
    return op->emitOpError() << "expects '" << attr.getName().getValue()
                             << "' to be a dictionary from dim to value";
  for (NamedAttribute entry : dict) {
    bool good = attr.getName() == kPoliciesAttr
                    ? isa<PolicyAttr>(entry.getValue())
                    : isa<IntegerAttr>(entry.getValue());
    if (!good)
      return op->emitOpError()
             << "expects '" << attr.getName().getValue() << "' of dim '"
             << entry.getName().getValue() << "' to be "
             << (attr.getName() == kPoliciesAttr ? "a #dsv4.policy"
                                                 : "an integer");
  }
  return success();
}

/// A letter or '_', then letters, digits and '_'.
static bool isIdentifier(StringRef name) {
  return rt::isPlanName(name) && !name.contains('.');
}

/// Whether arguments of `func` have names of their own before `argIndex`.
static bool hasNamesBefore(FunctionOpInterface func, unsigned argIndex) {
  for (unsigned i = 0; i < argIndex; ++i)
    if (func.getArgAttr(i, DSV4Dialect::kNameAttr))
      return true;
  return false;
}

/// The name of an argument that may be wrong itself.
static std::string describeArgument(FunctionOpInterface func, unsigned index) {
  auto name = func.getArgAttr(index, DSV4Dialect::kNameAttr);
  return !name || isa<StringAttr>(name) ? getArgumentName(func, index)
                                        : "arg" + std::to_string(index);
}

/// A name that two arguments of `func` have, or an empty string.
static std::string findNameUsedTwice(FunctionOpInterface func) {
  llvm::StringSet<> names;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (std::string name = getArgumentName(func, i); !names.insert(name).second)
      return name;
  return "";
}

static int64_t getStoredBytes(Type element) {
  return element.isIntOrFloat()
             ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
             : 0;
}

/// Bytes of the largest stored element of a tensor, or of a buffer of a cache.
static int64_t getMaxElementBytes(Type type, StringRef buffer) {
  auto cache = dyn_cast<CacheType>(type);
  if (!cache)
    return getStoredBytes(cast<RankedTensorType>(type).getElementType());
  int64_t bytes = 0;
  for (FieldAttr field : cache.getRecord().getFields()) {
    bool isArray = field.getPlacement() == Placement::Array;
    if ((isArray ? StringRef(field.getName()) : "") == buffer)
      bytes = std::max(bytes, getStoredBytes(field.getElement()));
  }
  return bytes;
}

namespace {
/// Checks the `dsv4.strides` of an argument.
class StridesVerifier {
public:
  StridesVerifier(Operation *op, FunctionOpInterface func, unsigned index)
      : op(op), func(func), index(index), type(func.getArgumentTypes()[index]),
        cache(dyn_cast<CacheType>(type)),
        tensor(dyn_cast<RankedTensorType>(type)) {}

  LogicalResult verify(Attribute value);

private:
  InFlightDiagnostic emitError() {
    return op->emitOpError() << "expects 'dsv4.strides' of argument " << index
                             << " ('" << getArgumentName(func, index) << "') ";
  }
  LogicalResult verifyShape(StridesAttr strides);
  LogicalResult verifyAlign(StridesAttr strides, StringRef buffer);
  LogicalResult verifyPages(StridesAttr strides);
  LogicalResult verifyEntries(StridesAttr strides, StringRef buffer);

  Operation *op;
  FunctionOpInterface func;
  unsigned index;
  Type type;
  CacheType cache;
  RankedTensorType tensor;
};
} // namespace

/// Clause strides_c3.
LogicalResult StridesVerifier::verifyShape(StridesAttr strides) {
  size_t count = strides.getStrides().size();
  size_t expected = cache ? 1 : tensor.getRank() - 1;
  if (count == expected || (tensor && hasElementStride(tensor, strides)) ||
      (cache && count == 2))
    return success();
  InFlightDiagnostic error = emitError() << "to have strides_c3: " << expected
                                         << " strides, ";
  if (cache)
    error << "that of the pages of a cache, or 2 with that of entries";
  else if (tensor.getRank() == 1)
    error << "or that of the only axis";
  else
    error << "one for every axis but the last";
  return error << ", got " << count;
}

/// Clause strides_c4.
LogicalResult StridesVerifier::verifyAlign(StridesAttr strides,
                                           StringRef buffer) {
  int64_t bytes = getMaxElementBytes(type, buffer);
  if (bytes <= strides.getAlign())
    return success();
  return emitError() << "to have strides_c4: an 'align' of at least " << bytes
                     << ", the bytes of an element"
                     << (buffer.empty() ? "" : " of '" + buffer.str() + "'")
                     << ", got " << strides.getAlign();
}

/// Clause strides_c7.
LogicalResult StridesVerifier::verifyEntries(StridesAttr strides,
                                             StringRef buffer) {
  std::optional<int64_t> stride = getEntryStride(strides);
  if (!stride)
    return success();
  int64_t bytes = getEntryBytes(cache, buffer);
  if (bytes > 0 && !ShapedType::isDynamic(*stride) && *stride >= bytes &&
      *stride <= INT32_MAX / cache.getPage())
    return success();
  InFlightDiagnostic error = emitError() << "to have strides_c7: ";
  if (bytes == 0)
    return error << "no stride of entries, which have tails in their page";
  return error << "a constant stride of entries of at least " << bytes
               << ", the bytes of an entry, and of less than 2^31 bytes in a "
                  "page";
}

/// Clause strides_c5.
LogicalResult StridesVerifier::verifyPages(StridesAttr strides) {
  if (ShapedType::isDynamic(strides.getStrides()[0]))
    return success();
  SmallVector<StringRef> buffers = getPagedBuffers(cache);
  if (buffers.size() != 1)
    return emitError() << "to have strides_c5: '?' as the stride of a cache of "
                       << buffers.size() << " buffers, got "
                       << strides.getStrides()[0];
  int64_t pageBytes = getPageSpan(cache, buffers[0], strides);
  if (strides.getStrides()[0] < pageBytes)
    return emitError() << "to have strides_c5: at least " << pageBytes
                       << ", the bytes of a page, got "
                       << strides.getStrides()[0];
  return success();
}

LogicalResult StridesVerifier::verify(Attribute value) {
  if (!cache && !(tensor && tensor.getRank() > 0))
    return emitError() << "to be a #dsv4.strides of a cache, or of a tensor "
                          "with axes, got "
                       << value << " of " << type;
  SmallVector<StringRef> buffers = {""};
  if (cache)
    buffers = getPagedBuffers(cache);
  SmallVector<Attribute> each(buffers.size(), value);
  if (auto list = dyn_cast<ArrayAttr>(value); list && cache) {
    if (list.size() != buffers.size())
      return emitError() << "to have strides_c6: one #dsv4.strides for each of "
                            "the "
                         << buffers.size() << " buffers of a cache, got "
                         << list.size();
    each = llvm::to_vector(list);
  }
  for (auto [buffer, one] : llvm::zip_equal(buffers, each)) {
    auto strides = dyn_cast<StridesAttr>(one);
    if (!strides)
      return emitError() << "to be a #dsv4.strides of a cache, or of a tensor "
                            "with axes, got "
                         << value;
    if (failed(verifyShape(strides)) || failed(verifyAlign(strides, buffer)) ||
        (cache && (failed(verifyEntries(strides, buffer)) ||
                   failed(verifyPages(strides)))))
      return failure();
  }
  return success();
}

static LogicalResult verifyStrides(Operation *op, FunctionOpInterface func,
                                   unsigned index, Attribute value) {
  return StridesVerifier(op, func, index).verify(value);
}

static LogicalResult verifyView(Operation *op, FunctionOpInterface func,
                                unsigned index, Attribute value) {
  auto emitError = [&] {
    return op->emitOpError() << "expects 'dsv4.view' of argument " << index
                             << " ('" << getArgumentName(func, index) << "') ";
  };
  auto view = dyn_cast<ViewAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[index]);
  if (!view || !tensor)
    return emitError() << "to be a #dsv4.view of a tensor, got " << value
                       << " of " << func.getArgumentTypes()[index];
  auto whole =
      view.getOf() < index
          ? dyn_cast<RankedTensorType>(func.getArgumentTypes()[view.getOf()])
          : RankedTensorType();
  if (!whole || getView(func, view.getOf()))
    return emitError() << "to have view_c1: as 'of' the number of a tensor "
                          "before it that is no view, got "
                       << view.getOf();
  ArrayRef<int64_t> axes = view.getAxes();
  if (axes.empty() || axes.size() != static_cast<size_t>(tensor.getRank()) ||
      axes.front() < 0 || axes.back() >= whole.getRank() ||
      !llvm::is_sorted(axes, std::less_equal<int64_t>()))
    return emitError() << "to have view_c2: " << tensor.getRank()
                       << " ascending axes of a tensor of rank "
                       << whole.getRank();
  const rt::PlanNames names = getPlanNames(func);
  auto isExpression = [&](StringAttr offset) {
    return bool(rt::Expression::parse(offset.strref(), names));
  };
  if (view.getOffsets().size() != static_cast<size_t>(whole.getRank()) ||
      !llvm::all_of(view.getOffsets(), isExpression))
    return emitError() << "to have view_c3: " << whole.getRank()
                       << " offsets, expressions over the extents of the "
                          "function";
  if (tensor.getElementType() != whole.getElementType() ||
      !getStrides(func, index))
    return emitError() << "to have view_c4: strides, and elements of "
                       << whole.getElementType();
  for (int64_t axis = 0; axis < tensor.getRank(); ++axis)
    if (tensor.isDynamicDim(axis) &&
        !llvm::is_contained(names.extents, getExtentName(func, index, axis)))
      return emitError() << "to have view_c5: as extent " << axis
                         << " a constant, or a dim of another argument";
  return success();
}

static LogicalResult verifyName(Operation *op, FunctionOpInterface func,
                                unsigned index, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (!name || !isIdentifier(name.getValue()))
    return op->emitOpError()
           << "expects 'dsv4.name' of argument " << index
           << " to be a string that begins with a letter or '_' and goes on "
              "with letters, digits and '_', got "
           << value;
  // Once for all arguments.
  if (hasNamesBefore(func, index))
    return success();
  if (std::string twice = findNameUsedTwice(func); !twice.empty())
    return op->emitOpError() << "expects distinct argument names, '" << twice
                             << "' is used twice";
  return success();
}

static LogicalResult verifyDims(Operation *op, FunctionOpInterface func,
                                unsigned index, Attribute value) {
  auto emitError = [&] {
    return op->emitOpError() << "expects 'dsv4.dims' of argument " << index
                             << " ('" << describeArgument(func, index) << "') ";
  };
  auto dims = dyn_cast<ArrayAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[index]);
  if (!tensor)
    return emitError() << "to be of a tensor with axes, got "
                       << func.getArgumentTypes()[index];
  if (!dims || !llvm::all_of(dims, llvm::IsaPred<StringAttr>))
    return emitError() << "to be an array of strings, a name for every axis "
                          "of the tensor, with \"\" for none, got "
                       << value;
  if (dims.size() != static_cast<size_t>(tensor.getRank()))
    return emitError() << "to name every axis of the tensor, with \"\" for "
                          "none: expected "
                       << tensor.getRank() << " names, got " << dims.size();
  for (auto dim : dims.getAsRange<StringAttr>())
    if (!dim.empty() && !rt::isPlanName(dim.getValue()))
      return emitError() << "to hold names that begin with a letter or '_' and "
                            "go on with letters, digits, '_' and '.', got "
                         << dim;
  return success();
}

LogicalResult DSV4Dialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned regionIndex,
                                                    unsigned argIndex,
                                                    NamedAttribute attr) {
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return success();
  if (func.getNumArguments() > kMaxArguments)
    return op->emitOpError() << "expects at most " << kMaxArguments
                             << " arguments, got " << func.getNumArguments();
  if (attr.getName() == kNameAttr)
    return verifyName(op, func, argIndex, attr.getValue());
  if (attr.getName() == kDimsAttr)
    return verifyDims(op, func, argIndex, attr.getValue());
  if (attr.getName() == kRequiresAttr)
    return isa<StringAttr>(attr.getValue())
               ? success()
               : op->emitOpError()
                     << "expects '" << kRequiresAttr << "' of argument "
                     << argIndex << " to be a string of comparisons";
  if (attr.getName() == kStridesAttr)
    return verifyStrides(op, func, argIndex, attr.getValue());
  if (attr.getName() == kViewAttr)
    return verifyView(op, func, argIndex, attr.getValue());
  return refuse(op, attr.getName(), "argument ");
}

LogicalResult DSV4Dialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned,
                                                       NamedAttribute attr) {
  return op->emitOpError() << "has no result attribute '"
                           << attr.getName().getValue()
                           << "': a result has the name and the dims of the "
                              "argument it is written to";
}
