//===- Signature.cpp - What a caller passes to a function -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Signature.h"

#include "dsv4/Dialect/DSV4/BufferStrides.h"
#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

namespace {

class SignatureBuilder {
public:
  explicit SignatureBuilder(func::FuncOp func) : func(func) {}

  FailureOr<Signature> build();

private:
  void addCache(unsigned argument, CacheType cache);
  LogicalResult addTensor(unsigned argument, RankedTensorType tensor);
  /// Gives the last binding the strides of its argument, if it has some.
  void addStrides(unsigned argument, StringRef field, int64_t min);
  /// The dim of `name`, created at the axis of the binding being added.
  int getDim(StringRef name, int axis, int64_t max, int64_t multiple = 1);
  void markWritten();
  /// Marks the pages, and the arrays of written fields, of a cache.
  void markCache(Value cache, ArrayRef<FieldAttr> written);

  func::FuncOp func;
  Signature signature;
};

} // namespace

int SignatureBuilder::getDim(StringRef name, int axis, int64_t max,
                             int64_t multiple) {
  for (auto [i, dim] : llvm::enumerate(signature.dims))
    if (dim.name == name) {
      dim.max = std::min(dim.max, max);
      dim.multiple = std::max(dim.multiple, multiple);
      return i;
    }
  signature.dims.push_back({name.str(),
                            static_cast<int>(signature.bindings.size()), axis,
                            max, multiple});
  return signature.dims.size() - 1;
}

void SignatureBuilder::addStrides(unsigned argument, StringRef field,
                                  int64_t min) {
  StridesAttr strides = getBufferStrides(func, argument, field);
  if (!strides)
    return;
  rt::Binding &binding = signature.bindings.back();
  int64_t multiple = std::max<int64_t>(
      strides.getAlign() / rt::getByteSize(binding.storage), 1);
  // That of entries is another axis of the binding.
  bool isCache = isa<CacheType>(func.getArgumentTypes()[argument]);
  for (auto [axis, stride] : llvm::enumerate(
           strides.getStrides().take_front(isCache ? 1 : INT32_MAX))) {
    rt::Extent extent;
    if (ShapedType::isDynamic(stride)) {
      extent.dim = signature.dims.size();
      rt::Dim dim;
      dim.name = getStrideName(func, argument, axis, field);
      dim.binding = signature.bindings.size() - 1;
      dim.axis = axis;
      dim.multiple = multiple;
      dim.isStride = true;
      dim.min = min;
      signature.dims.push_back(std::move(dim));
    } else {
      extent.constant = stride;
    }
    binding.strides.push_back(extent);
  }
}

void SignatureBuilder::addCache(unsigned argument, CacheType cache) {
  std::string pagesName = getExtentName(func, argument, 0);
  RecordLayout layout = getLayout(cache);
  rt::Extent pages;
  if (layout.hasPages()) {
    pages.dim = getDim(pagesName, 0, INT32_MAX);
    StridesAttr strides = getBufferStrides(func, argument, "");
    std::vector<rt::Extent> shape = {pages, {layout.getPageBytes(), -1}};
    std::optional<int64_t> entry = getEntryStride(strides);
    if (entry)
      shape = {pages, {cache.getPage(), -1}, {layout.getRowBytes(), -1}};
    signature.bindings.push_back(
        {getBindingName(func, argument), rt::Storage::U8, "i8", shape});
    addStrides(argument, "", getPageSpan(cache, "", strides));
    if (entry)
      signature.bindings.back().strides.push_back({*entry, -1});
  }
  for (FieldAttr field : cache.getRecord().getFields()) {
    if (field.getPlacement() != Placement::Array)
      continue;
    std::string element;
    llvm::raw_string_ostream(element) << field.getElement();
    std::string array = getBindingName(func, argument, field.getName());
    if (field.getGroup() == FieldAttr::kPerTensor) {
      signature.bindings.push_back(
          {array, rt::Storage::U8, element, {{field.getByteSize(), -1}}});
      continue;
    }
    pages.dim = getDim(pagesName, 0, INT32_MAX);
    signature.bindings.push_back(
        {array,
         rt::Storage::U8,
         element,
         {pages, {cache.getPage(), -1}, {field.getByteSize(), -1}}});
    StridesAttr strides = getBufferStrides(func, argument, field.getName());
    addStrides(argument, field.getName(),
               getPageSpan(cache, field.getName(), strides));
    if (strides)
      signature.bindings.back().strides.push_back(
          {getEntryStride(strides).value_or(field.getByteSize()), -1});
  }
}

/// The storage of one element, if callers can pass it.
static std::optional<rt::Storage> getStorage(Type element) {
  if (element.isF32())
    return rt::Storage::F32;
  if (element.isInteger(32))
    return rt::Storage::I32;
  if (element.isInteger(64))
    return rt::Storage::I64;
  if (!element.isIntOrFloat())
    return std::nullopt;
  switch (element.getIntOrFloatBitWidth()) {
  case 16:
    return rt::Storage::U16;
  case 1:
  case 4:
  case 8:
    return rt::Storage::U8;
  default:
    return std::nullopt;
  }
}

LogicalResult SignatureBuilder::addTensor(unsigned argument,
                                          RankedTensorType tensor) {
  std::string name = getArgumentName(func, argument);
  auto storage = getStorage(tensor.getElementType());
  if (!storage)
    return func.emitError() << "argument '" << name << "' of type " << tensor
                            << " cannot be passed: use i32, i64, f32, or "
                               "elements of 1, 4, 8 or 16 bits";
  bool packed =
      *storage == rt::Storage::U8 && tensor.getElementTypeBitWidth() == 4;
  if (packed &&
      (tensor.getRank() == 0 || tensor.isDynamicDim(tensor.getRank() - 1)))
    return func.emitError() << "argument '" << name << "' of type " << tensor
                            << " needs a constant last extent";
  rt::Binding binding{name, *storage, "", {}};
  llvm::raw_string_ostream(binding.element) << tensor.getElementType();
  for (int64_t axis = 0; axis < tensor.getRank(); ++axis) {
    rt::Extent extent;
    if (tensor.isDynamicDim(axis)) {
      extent.dim = getDim(getExtentName(func, argument, axis), axis,
                          getDimBound(func, argument, axis),
                          getDimMultiple(func, argument, axis));
    } else {
      extent.constant = tensor.getDimSize(axis);
      if (packed && axis == tensor.getRank() - 1)
        extent.constant /= 2;
    }
    binding.shape.push_back(extent);
  }
  signature.bindings.push_back(std::move(binding));
  addStrides(argument, "", /*min=*/0);
  return success();
}

/// Whether the elements of `tensor` matter to an op, in a kernel or elsewhere:
/// it reads them, or leaves some as they are.
static bool isRead(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto kernel = dyn_cast<KernelOp>(op))
      return isRead(kernel.getBody().getArgument(use.getOperandNumber()));
    auto tied = dyn_cast<DestinationStyleOpInterface>(op);
    if (tied && tied.isDpsInit(&use)) {
      auto rowwise = dyn_cast<RowwiseOpInterface>(op);
      return rowwise && rowwise.skipsRows();
    }
    return !isa<tensor::DimOp, func::ReturnOp, YieldOp>(op);
  });
}

void SignatureBuilder::markWritten() {
  // A destination is an operand that some op overwrites, directly or as the
  // destination of a kernel.
  func.walk([&](Operation *op) {
    auto mark = [&](Value value) {
      if (auto arg = dyn_cast_if_present<BlockArgument>(value))
        if (arg.getOwner() == &func.getBody().front() &&
            isa<RankedTensorType>(arg.getType()))
          signature.bindings[signature.firstBinding[arg.getArgNumber()]]
              .written = true;
    };
    if (auto tied = dyn_cast<DestinationStyleOpInterface>(op))
      for (Value init : tied.getDpsInits())
        mark(init);
    if (auto kernel = dyn_cast<KernelOp>(op))
      for (unsigned i = 0; i < kernel.getNumResults(); ++i)
        mark(kernel.getTiedInput(i));
  });
  for (const rt::Binding &binding : signature.bindings)
    signature.holdsInput.push_back(!binding.written);
  for (BlockArgument arg : func.getArguments())
    if (isa<RankedTensorType>(arg.getType()) && isRead(arg))
      signature.holdsInput[signature.firstBinding[arg.getArgNumber()]] = true;
  func.walk([&](CacheOpInterface op) {
    if (SmallVector<FieldAttr> fields = op.getWrittenFields(); !fields.empty())
      markCache(op.getAccessedCache(), fields);
  });
}

void SignatureBuilder::markCache(Value value, ArrayRef<FieldAttr> written) {
  auto cache = cast<BlockArgument>(value);
  if (auto kernel = dyn_cast<KernelOp>(cache.getOwner()->getParentOp()))
    cache = cast<BlockArgument>(kernel.getInputs()[cache.getArgNumber()]);
  for (FieldAttr field : written) {
    bool inArray = field.getPlacement() == Placement::Array;
    signature
        .bindings[signature.getBinding(cache.getArgNumber(),
                                       inArray ? field.getName() : "")]
        .written = true;
  }
}

FailureOr<Signature> SignatureBuilder::build() {
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    signature.argumentNames.push_back(getArgumentName(func, i));
    if (ViewAttr view = getView(func, i)) {
      signature.firstBinding.push_back(signature.firstBinding[view.getOf()]);
      continue;
    }
    signature.firstBinding.push_back(signature.bindings.size());
    if (auto cache = dyn_cast<CacheType>(type)) {
      addCache(i, cache);
      continue;
    }
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return func.emitError()
             << "argument '" << getArgumentName(func, i) << "' of type " << type
             << " is neither a cache nor a ranked tensor";
    if (failed(addTensor(i, tensor)))
      return failure();
  }
  for (auto [what, count, max] :
       {std::tuple("arguments and array fields of caches",
                   signature.bindings.size(), rt::MaxBindings),
        std::tuple("dims", signature.dims.size(), rt::MaxDims)})
    if (count > max)
      return func.emitError() << "a launch takes at most " << max << " " << what
                              << ", got " << count;
  markWritten();
  return signature;
}

FailureOr<Signature> dsv4::getSignature(func::FuncOp func) {
  return SignatureBuilder(func).build();
}

unsigned Signature::getBinding(unsigned argument, StringRef field) const {
  unsigned index = firstBinding[argument];
  unsigned end = argument + 1 < firstBinding.size() ? firstBinding[argument + 1]
                                                    : bindings.size();
  std::string name = argumentNames[argument] + "." + field.str();
  for (unsigned i = index; !field.empty() && i < end; ++i)
    if (bindings[i].name == name)
      return i;
  return index;
}

rt::Extent Signature::getExtent(unsigned argument, int64_t axis) const {
  return bindings[firstBinding[argument]].shape[axis];
}

/// Whether an axis of an argument has the name; an error if it has another
/// constant extent.
static rt::Result<bool> findConstantDim(func::FuncOp func, StringRef name,
                                        int64_t extent) {
  bool found = false;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[i]);
    if (!tensor)
      continue;
    for (int64_t axis = 0; axis < tensor.getRank(); ++axis) {
      if (getDimName(func, i, axis) != name)
        continue;
      found = true;
      if (!tensor.isDynamicDim(axis) && tensor.getDimSize(axis) != extent)
        return rt::Status(rt::Code::InvalidArgument,
                          "dim '" + name.str() + "' is " +
                              std::to_string(extent) + ", but extent " +
                              std::to_string(axis) + " of argument '" +
                              getArgumentName(func, i) + "' is " +
                              std::to_string(tensor.getDimSize(axis)));
    }
  }
  return found;
}

rt::Status dsv4::checkDims(func::FuncOp func, const Signature &signature,
                           const std::map<std::string, int64_t> &dims) {
  for (const auto &[name, extent] : dims) {
    rt::Result<bool> constant = findConstantDim(func, name, extent);
    if (!constant)
      return constant.status();
    if (*constant || llvm::any_of(signature.dims, [&, n = name](auto &dim) {
          return dim.name == n;
        }))
      continue;
    std::string names;
    for (const rt::Dim &dim : signature.dims)
      names += (names.empty() ? "" : ", ") + dim.name;
    return rt::Status(rt::Code::InvalidArgument,
                      "dim '" + name + "': the program has no such dim (it " +
                          "has " + (names.empty() ? "none" : names) + ")");
  }
  return rt::Status();
}

std::map<std::string, int64_t>
dsv4::selectDims(func::FuncOp func,
                 const std::map<std::string, int64_t> &dims) {
  std::map<std::string, int64_t> selected;
  auto policies =
      func->getAttrOfType<DictionaryAttr>(DSV4Dialect::kPoliciesAttr);
  if (!policies)
    return selected;
  for (NamedAttribute entry : policies) {
    auto extent = dims.find(entry.getName().str());
    if (extent == dims.end())
      continue;
    PolicyKind kind = cast<PolicyAttr>(entry.getValue()).getKind();
    if (kind == PolicyKind::Exact)
      selected[extent->first] = extent->second;
    // The largest bucket ends at the largest extent; beyond it is an error of
    // the specialisation.
    if (kind == PolicyKind::Bucket)
      selected[extent->first] =
          extent->second > INT32_MAX
              ? extent->second
              : std::min<int64_t>(
                    llvm::PowerOf2Ceil(std::max<int64_t>(extent->second, 1)),
                    INT32_MAX);
  }
  return selected;
}

rt::Result<func::FuncOp> dsv4::findEntry(ModuleOp module,
                                         const std::string &entry) {
  func::FuncOp found;
  SmallVector<std::string> listed;
  unsigned functions = 0, count = 0;
  constexpr unsigned maxListed = 16;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    if (++functions <= maxListed)
      listed.push_back(func.getName().str());
    if (entry.empty() || func.getName() == entry) {
      found = func;
      ++count;
    }
  }
  if (count == 1)
    return found;
  if (functions > maxListed)
    listed.push_back("and " + std::to_string(functions - maxListed) + " more");
  std::string names = llvm::join(listed, ", ");
  return rt::Status(rt::Code::InvalidArgument,
                    names.empty() ? "the program has no function"
                    : count == 0
                        ? "entry '" + entry +
                              "': the program has no such function (it has " +
                              names + ")"
                        : "the program has several functions (" + names +
                              "): choose one as the entry");
}
