//===- RandomInputs.cpp - Inputs that reach the corners -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include "mlir/IR/TypeUtilities.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

/// The maximum bytes of all arguments of a program here. The system may promise
/// more memory than it has, and a check needs the results twice.
static int64_t getMaxBytes() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0)
    return kMaxBytes;
  return std::min<int64_t>(kMaxBytes, int64_t(pages) * size / 2);
}

bool reference::hasMemory(int64_t bytes) {
  // A request for more than the system would ever give ends the process.
  // Volatile, because a compiler may drop an unused allocation.
  void *volatile probe = std::malloc(bytes);
  std::free(probe);
  return probe || bytes == 0;
}

/// Of one field; what a cache holds beyond it repeats.
static constexpr int64_t kPoolBytes = int64_t(1) << 22;

//===----------------------------------------------------------------------===//
// Shapes and roles
//===----------------------------------------------------------------------===//

InputMaker::InputMaker(func::FuncOp func, const Signature &signature,
                       const std::map<std::string, int64_t> &dims,
                       uint64_t seed, Codes codes, Indices indices)
    : func(func), signature(signature), dims(dims), codes(codes),
      indices(indices) {
  // A stream for every argument: what one holds does not depend on the others'
  // sizes.
  Random random(seed);
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    seeds.push_back(random.next());
  findUses();
}

static bool isRead(OpOperand &operand) {
  Operation *op = operand.getOwner();
  auto tied = dyn_cast<DestinationStyleOpInterface>(op);
  return (tied && !tied.isDpsInit(&operand)) || isa<PagedAppendOp>(op);
}

/// The role of an operand of a gather or an append that says which entries.
template <typename OpTy>
static Role getIndexRole(OpTy op, OpOperand &operand) {
  const std::pair<Value, Role> roles[] = {{op.getIndices(), Role::Indices},
                                          {op.getPageTable(), Role::Table},
                                          {op.getRequests(), Role::Requests},
                                          {op.getLengths(), Role::Lengths}};
  for (auto [value, role] : roles)
    if (value && value == operand.get())
      return role;
  return Role::None;
}

static Role getGatherRole(PagedGatherOp op, OpOperand &operand) {
  for (Value value : {op.getCuSeqLens(), op.getRowStarts(), op.getSeqLens(),
                      op.getGatherLens(), op.getSeqStarts(), op.getRowOffset(),
                      op.getIndptr()})
    if (value && value == operand.get())
      return Role::Ragged;
  return getIndexRole(op, operand);
}

static Role getCompressRole(CompressOp op, OpOperand &operand) {
  const std::pair<Value, Role> roles[] = {
      {op.getValues(), Role::Values},    {op.getScores(), Role::Scores},
      {op.getPlan(), Role::Plan},        {op.getBias(), Role::Weights},
      {op.getState(), Role::State},      {op.getPageTable(), Role::Table},
      {op.getScoreState(), Role::State}, {op.getScorePageTable(), Role::Table}};
  for (auto [value, role] : roles)
    if (value && value == operand.get())
      return role;
  return Role::None;
}

static Role getTopkRole(TopkOp op, OpOperand &operand) {
  const std::pair<Value, Role> roles[] = {
      {op.getScores(), Role::Scores},         {op.getBias(), Role::Weights},
      {op.getOtherBias(), Role::Weights},     {op.getLengths(), Role::Lengths},
      {op.getStarts(), Role::Starts},         {op.getEnds(), Role::Ends},
      {op.getOffsets(), Role::Offsets},       {op.getPageTable(), Role::Table},
      {op.getRequests(), Role::Requests},     {op.getCuSeqLens(), Role::Ragged},
      {op.getPageStarts(), Role::PageColumns}};
  for (auto [value, role] : roles)
    if (value && value == operand.get())
      return role;
  return Role::None;
}

/// Of a number of rows of which the first ones count, as of `destination`.
static Use getValidRowsUse(Value destination) {
  Use use{Role::ValidRows};
  use.rows = destination;
  return use;
}

/// What an operand that is read says about its argument.
static Use getUse(OpOperand &operand) {
  Operation *op = operand.getOwner();
  unsigned number = operand.getOperandNumber();
  if (auto gather = dyn_cast<PagedGatherOp>(op))
    return {getGatherRole(gather, operand), gather};
  if (isa<DequantizeOp>(op))
    return {number > 0 ? Role::Scales : Role::None};
  if (auto append = dyn_cast<PagedAppendOp>(op)) {
    unsigned first = append.getFields().getBeginOperandIndex();
    bool scales =
        number >= first && append.getWrittenFields()[number - first].isScale();
    return {scales ? Role::Scales : Role::None};
  }
  if (auto compress = dyn_cast<CompressOp>(op))
    return {getCompressRole(compress, operand), nullptr, nullptr, nullptr,
            compress};
  if (auto plan = dyn_cast<CompressPlanOp>(op)) {
    Use use{Role::WorkList};
    use.plan = plan;
    return use;
  }
  if (auto topk = dyn_cast<TopkOp>(op)) {
    Use use{getTopkRole(topk, operand)};
    use.topk = topk;
    if (operand.get() == topk.getValidRows())
      return getValidRowsUse(topk.getIndices());
    return use;
  }
  if (auto score = dyn_cast<IndexScoreOp>(op))
    return getScoreUse(score, operand);
  if (isa<GateOp>(op))
    return {Role::Logits};
  if (isa<ValidLensOp>(op))
    return {Role::Positions};
  if (auto router = dyn_cast<RouterLogitsOp>(op)) {
    Use use{Role::Matrix};
    use.router = router;
    return use;
  }
  if (auto lookup = dyn_cast<LookupOp>(op)) {
    Use use{Role::Routing};
    use.lookup = lookup;
    if (operand.get() == lookup.getValidRows())
      return getValidRowsUse(lookup.getOut());
    // A mask is any.
    return operand.get() == lookup.getPadding() ? Use() : use;
  }
  if (auto map = dyn_cast<MapIndicesOp>(op)) {
    Use use{Role::Routing};
    use.map = map;
    if (operand.get() == map.getValidRows())
      return getValidRowsUse(map.getOut());
    return operand.get() == map.getPadding() ? Use() : use;
  }
  if (auto weights = dyn_cast<RouteWeightsOp>(op); weights && number == 1) {
    Use use{Role::Routing};
    use.weights = weights;
    return use;
  }
  if (isa<ReferenceInterface>(op)) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    bool isValue = element.isF32() || element.isBF16() || element.isF16();
    return {isValue ? Role::Values : Role::None};
  }
  if (number == 0 || isa<ConcatRowsOp>(op))
    return {Role::Values};
  if (isa<QuantizeOp>(op))
    return {Role::Scales};
  if (isa<RMSNormOp>(op))
    return {Role::Weights};
  if (auto rope = dyn_cast<RopeOp>(op))
    return {number == 1 ? Role::Angles : Role::Positions, nullptr, nullptr,
            rope};
  if (isa<AddRowsOp>(op))
    return {number == 1 ? Role::Weights : Role::Positions};
  if (isa<ScaleWeightsOp>(op))
    return {Role::Scales};
  return {};
}

void InputMaker::findUses() {
  uses.resize(func.getNumArguments());
  auto visit = [&](auto getOperandUse) {
    for (Operation &op : func.getBody().front())
      for (OpOperand &operand : op.getOpOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand.get()))
          if (Use &use = uses[argument.getArgNumber()]; use.role == Role::None)
            use = getOperandUse(operand);
  };
  // What is read decides, and first of all where entries go: indices made for
  // another op could let rows race. Else an argument is a destination or
  // nothing.
  visit([](OpOperand &operand) -> Use {
    auto append = dyn_cast<PagedAppendOp>(operand.getOwner());
    if (!append)
      return {};
    bool isIndptr = operand.get() == append.getIndptr();
    return {isIndptr ? Role::PageStarts : getIndexRole(append, operand),
            nullptr, append};
  });
  visit([](OpOperand &operand) -> Use {
    return isRead(operand) ? getUse(operand) : Use();
  });
  for (BlockArgument argument : func.getArguments()) {
    auto isInit = [](OpOperand &use) {
      return isa<DestinationStyleOpInterface>(use.getOwner()) && !isRead(use);
    };
    Use &use = uses[argument.getArgNumber()];
    if (use.role == Role::None && llvm::any_of(argument.getUses(), isInit) &&
        llvm::none_of(argument.getUses(), isRead))
      use.role = Role::Output;
  }
}

rt::Status InputMaker::allocate() {
  const int64_t maxBytes = getMaxBytes();
  int64_t total = 0;
  for (const rt::Binding &binding : signature.bindings) {
    std::vector<int64_t> shape;
    for (rt::Extent extent : binding.shape) {
      if (extent.dim < 0) {
        shape.push_back(extent.constant);
        continue;
      }
      const rt::Dim &dim = signature.dims[extent.dim];
      auto it = dims.find(dim.name);
      if (it == dims.end())
        return {rt::Code::InvalidArgument,
                "dim '" + dim.name + "' of binding '" + binding.name +
                    "' is not given: give its extent"};
      if (it->second < 0 || it->second > dim.max)
        return {rt::Code::InvalidArgument,
                "dim '" + dim.name + "' is " + std::to_string(it->second) +
                    ", which is not between 0 and " + std::to_string(dim.max)};
      shape.push_back(it->second);
    }
    auto bytes = reference::getByteSize(binding, shape);
    if (!bytes || *bytes > maxBytes - total)
      return {rt::Code::InvalidArgument,
              "binding '" + binding.name +
                  "' is too large: random inputs are limited to " +
                  std::to_string(maxBytes) +
                  " bytes in all, the smaller of half of the memory and 64 "
                  "GiB; give smaller extents"};
    if (!hasMemory(*bytes))
      return {rt::Code::InvalidArgument,
              "binding '" + binding.name + "' is " + std::to_string(*bytes) +
                  " bytes, for which there is no memory: give smaller extents"};
    total += *bytes;
    set.shapes.push_back(std::move(shape));
    set.bytes.emplace_back(*bytes, kPoison);
  }
  return checkGivenStrides();
}

int64_t InputMaker::getPages(TypedValue<CacheType> cache) const {
  CacheType type = cache.getType();
  unsigned binding = getBinding(cache);
  if (getLayout(type).hasPages())
    return set.shapes[binding].front();
  for (FieldAttr field : type.getRecord().getFields()) {
    if (field.getGroup() != FieldAttr::kPerTensor)
      return set.shapes[binding].front();
    ++binding;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Bytes of an integer of an argument.
int64_t InputMaker::getWidth(unsigned argument) const {
  return rt::getByteSize(
      signature.bindings[signature.firstBinding[argument]].storage);
}

/// What element `at` of an argument means, -1 if extents that nothing ties
/// leave none.
int32_t InputMaker::load(Value value, int64_t at) const {
  unsigned argument = cast<BlockArgument>(value).getArgNumber();
  const std::vector<char> &bytes = set.bytes[getBinding(value)];
  int64_t width = getWidth(argument);
  if ((at + 1) * width > int64_t(bytes.size()))
    return -1;
  if (width == sizeof(int32_t)) {
    int32_t result;
    std::memcpy(&result, bytes.data() + at * width, width);
    return result;
  }
  int64_t wide;
  std::memcpy(&wide, bytes.data() + at * width, width);
  if (uses[argument].role == Role::Lengths)
    return int32_t(std::clamp<int64_t>(wide, INT32_MIN, INT32_MAX));
  return llvm::isInt<32>(wide) ? int32_t(wide) : -1;
}

/// Stores the nearest i32; in an i64 perhaps another number with its meaning.
void InputMaker::store(unsigned argument, int64_t at, int64_t value) {
  value = std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
  int64_t width = getWidth(argument);
  if (width == sizeof(int64_t) && indices != Indices::Valid)
    value = widen(argument, at, value);
  // Little endian: the low half is the i32.
  std::memcpy(set.bytes[signature.firstBinding[argument]].data() + at * width,
              &value, width);
}

/// For an index that is none, or a number at an end of i32, often one that i32
/// does not hold. The low halves of some would be valid.
int64_t InputMaker::widen(unsigned argument, int64_t at, int64_t value) const {
  // An offset that i32 does not hold counts as -1, with which index 0 is as
  // padding is.
  if (uses[argument].role == Role::Offsets)
    return value;
  bool isLength = uses[argument].role == Role::Lengths;
  Random random(seeds[argument] + uint64_t(at));
  int64_t low = random.below(64), half = int64_t(1) << 32;
  if (value == INT32_MAX) {
    const int64_t high[] = {value, half / 2 + low, half + low, int64_t(1) << 40,
                            INT64_MAX};
    return high[random.below(std::size(high))];
  }
  if (value != INT32_MIN && (isLength || value != -1))
    return value;
  const int64_t none[] = {value, low - half, INT64_MIN, half + low,
                          int64_t(1) << 40};
  // A length that is negative stays so.
  return none[random.below(isLength ? 3 : std::size(none))];
}

std::vector<uint8_t> InputMaker::makeElements(Type type, Role role,
                                              size_t count,
                                              Random &random) const {
  auto format = reference::getFormat(type);
  if (format && *format != Format::Int32) {
    if (role == Role::Scales && codes != Codes::All)
      return randomScales(*format, count, random);
    if (role == Role::State && codes != Codes::All)
      return randomReals(*format, count, random);
    return randomElements(*format, count, random, codes);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  std::vector<uint8_t> bytes(count * std::max(width / 8, 1u));
  for (uint8_t &byte : bytes)
    byte = uint8_t(width == 1 ? random.below(2) : random.next());
  return bytes;
}

/// Fills field `field` of every entry. In a large cache entries share elements
/// of a pool, each at an offset of its own.
void InputMaker::fillField(FieldAttr field, Role role,
                           const RecordLayout::Position &position,
                           int64_t pages, int64_t slots,
                           std::vector<char> &bytes, Random &random) const {
  int64_t size = field.getByteSize(), entries = pages * slots;
  int64_t made = std::min(entries, std::max<int64_t>(kPoolBytes / size, 2));
  if (field.isScale())
    role = Role::Scales;
  std::vector<uint8_t> pool =
      makeElements(field.getElement(), role, made * field.getExtent(), random);
  int64_t unit = std::max<int64_t>(getElementBits(field.getElement()) / 8, 1);
  for (int64_t entry = 0; entry < entries; ++entry) {
    int64_t from = entry * size;
    if (made != entries)
      from = random.below((made - 1) * size / unit) * unit;
    std::memcpy(bytes.data() + position.base +
                    entry / slots * position.pageStride +
                    entry % slots * position.slotStride,
                pool.data() + from, size);
  }
}

void InputMaker::fillCache(BlockArgument cache, Random &random) {
  auto type = cast<CacheType>(cache.getType());
  RecordLayout layout = getLayout(type);
  unsigned first = signature.firstBinding[cache.getArgNumber()];
  unsigned array = first + layout.hasPages();
  if (layout.hasPages())
    std::fill(set.bytes[first].begin(), set.bytes[first].end(), char(0xFF));
  for (FieldAttr field : type.getRecord().getFields()) {
    RecordLayout::Position position = getPosition(type, field);
    unsigned binding = position.inArray ? array++ : first;
    bool perTensor = field.getGroup() == FieldAttr::kPerTensor;
    // Pages of entries that are apart lack the bytes that pad a page.
    if (!perTensor && set.shapes[binding].size() == 3)
      position.pageStride = type.getPage() * set.shapes[binding].back();
    fillField(field, uses[cache.getArgNumber()].role, position,
              perTensor ? 1 : set.shapes[binding].front(),
              perTensor ? 1 : type.getPage(), set.bytes[binding], random);
  }
}

void InputMaker::fillTensor(BlockArgument argument, Random &random) {
  std::vector<char> &bytes =
      set.bytes[signature.firstBinding[argument.getArgNumber()]];
  if (bytes.empty())
    return;
  Type type = cast<RankedTensorType>(argument.getType()).getElementType();
  unsigned width = type.getIntOrFloatBitWidth();
  size_t count = width == 1 ? bytes.size() : bytes.size() * 8 / width;
  Role role = uses[argument.getArgNumber()].role;
  std::vector<uint8_t> elements = makeElements(type, role, count, random);
  std::memcpy(bytes.data(), elements.data(),
              std::min(elements.size(), bytes.size()));
}

uint32_t dsv4::reference::encodeAs(Format format, double value, Codes codes) {
  uint32_t code = encode(format, value), sign = 1u << (bitWidth(format) - 1);
  bool isInfinity = (code & (sign - 1)) == largestFinite(format) + 1;
  return codes == Codes::Finite && isInfinity ? code - 1 : code;
}

std::vector<int32_t> dsv4::reference::shuffle(int64_t count, Random &random) {
  std::vector<int32_t> order(count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t j = random.below(i + 1);
    order[i] = order[j];
    order[j] = int32_t(i);
  }
  return order;
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

void InputMaker::fillArgument(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  const Use &use = uses[index];
  PagedAppendOp append = use.append;
  IndexScoreOp score = use.score;
  Random random(seeds[index]);
  switch (use.role) {
  case Role::Ragged:
    if (use.topk)
      return fillStarts(index, getSelectedRows(use.topk), random);
    if (score)
      return fillStarts(index, getShape(score.getPageTable()).front(), random);
    return fillRagged(index, random);
  case Role::Lengths:
    if (use.topk)
      return fillSelectedLengths(index, random);
    if (use.score)
      return fillScoreLengths(index, random);
    return append ? fillAppendLengths(index, random)
                  : fillLengths(index, random);
  case Role::Starts:
    return use.score ? fillScoreStarts(index, random)
                     : fillSelectedStarts(index, random);
  case Role::Ends:
    return use.score ? fillScoreEnds(index, random)
                     : fillSelectedEnds(index, random);
  case Role::Offsets:
    return fillSelectedOffsets(index, random);
  case Role::PageColumns:
    return fillSelectedPageStarts(index, random);
  case Role::Requests:
    if (use.topk)
      return fillSelectedRequests(index, random);
    if (use.score)
      return fillScoreRequests(index, random);
    return append ? fillAppendRequests(index, random)
                  : fillRequests(index, random);
  case Role::Table:
    if (use.topk)
      return fillSelectedTable(index, random);
    if (use.score)
      return fillScoreTable(index, random);
    if (use.compress)
      return fillStateTable(index, random);
    return append ? fillAppendTable(index, random) : fillTable(index, random);
  case Role::Indices:
    if (!append)
      return fillIndices(index, random);
    if (append.getRing())
      return fillRingPositions(index, random);
    return append.getPageTable() ? fillPagedPositions(index, random)
                                 : fillSlots(index, random);
  case Role::PageStarts:
    return fillPageStarts(index, random);
  case Role::Positions:
    return fillPositions(index, random);
  case Role::Values:
    return fillValues(argument, random);
  case Role::Weights:
    return fillWeights(argument, random);
  case Role::Angles:
    return fillAngles(argument, random);
  case Role::Scores:
    if (use.topk)
      return fillKeys(argument, random);
    return fillScores(argument, random);
  case Role::Logits:
    return fillLogits(argument, random);
  case Role::Matrix:
    return fillMatrix(argument, random);
  case Role::Routing:
    return fillRouting(argument, use, random);
  case Role::ValidRows:
    return fillValidRows(index, random);
  case Role::Plan:
    return fillPlan(index, random);
  case Role::WorkList:
    return fillWorkList(index, random);
  case Role::State:
  case Role::Scales:
  case Role::None:
    return isa<CacheType>(argument.getType()) ? fillCache(argument, random)
                                              : fillTensor(argument, random);
  case Role::Output:
    return;
  }
}

void InputMaker::fill() {
  // Later roles look at what earlier ones hold.
  const Role order[] = {Role::Ragged,     Role::Requests, Role::Lengths,
                        Role::PageStarts, Role::Table,    Role::Indices};
  for (Role role : order)
    for (BlockArgument argument : func.getArguments())
      if (uses[argument.getArgNumber()].role == role)
        fillArgument(argument);
  for (BlockArgument argument : func.getArguments())
    if (!llvm::is_contained(order, uses[argument.getArgNumber()].role))
      fillArgument(argument);
}

rt::Result<InputSet>
dsv4::reference::makeRandomInputs(func::FuncOp func,
                                  const std::map<std::string, int64_t> &dims,
                                  uint64_t seed, Codes codes, Indices indices) {
  OwningOpRef<func::FuncOp> copy = func.clone();
  SmallVector<SeparateSlice> slices = separateSlices(*copy);
  auto signature = readSignature(*copy);
  if (!signature)
    return signature.status();
  InputMaker maker(*copy, *signature, dims, seed, codes, indices);
  if (rt::Status status = maker.allocate(); !status)
    return status;
  maker.fill();
  if (rt::Status status = maker.joinSlices(slices); !status)
    return status;
  maker.spread();
  return maker.take();
}
