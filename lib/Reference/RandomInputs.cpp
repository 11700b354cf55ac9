//===- RandomInputs.cpp - Inputs that reach the corners -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/RandomInputs.h"

#include "dsv4/Dialect/RecordLayout.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

/// More than this is taken for a mistake.
static constexpr int64_t kMaxBytes = int64_t(1) << 36;

/// Of one field; what a cache holds beyond it repeats.
static constexpr int64_t kPoolBytes = int64_t(1) << 22;

/// From this many on, a tensor of lengths or requests has one of each bad kind.
static constexpr int64_t kEnoughForAll = 32;

namespace {

/// What an argument is for.
enum class Role { None, Lengths, Requests, Table, Indices, Factors, Output };

struct Use {
  Role role = Role::None;
  PagedGatherOp gather = nullptr; ///< Of a role that only a gather has.
};

class InputMaker {
public:
  InputMaker(func::FuncOp func, const Signature &signature, uint64_t seed,
             Codes codes);

  rt::Status allocate(const std::map<std::string, int64_t> &dims);
  void fill();
  InputSet take() { return std::move(set); }

private:
  void findUses();
  void fillField(FieldAttr field, const RecordLayout::Position &position,
                 int64_t pages, int64_t slots, std::vector<char> &bytes,
                 Random &random) const;
  void fillCache(BlockArgument cache, Random &random);
  void fillTensor(BlockArgument argument, Random &random);
  void fillLengths(unsigned argument, Random &random);
  void fillRequests(unsigned argument, Random &random);
  void fillTable(unsigned argument, Random &random);
  void fillIndices(unsigned argument, Random &random);

  unsigned getBinding(Value value) const {
    return signature.firstBinding[cast<BlockArgument>(value).getArgNumber()];
  }
  ArrayRef<int64_t> getShape(Value value) const {
    return set.shapes[getBinding(value)];
  }
  int64_t getCount(unsigned argument) const {
    unsigned binding = signature.firstBinding[argument];
    return set.bytes[binding].size() / sizeof(int32_t);
  }
  int32_t load(Value value, int64_t at) const;
  void store(unsigned argument, int64_t at, int64_t value);
  std::vector<uint8_t> makeElements(Type type, bool factors, size_t count,
                                    Random &random) const;

  int64_t getPages(PagedGatherOp op) const;
  int64_t getCapacity(PagedGatherOp op) const;
  bool isMapped(PagedGatherOp op, int64_t token, int64_t index) const;
  int64_t makeGoodIndex(PagedGatherOp op, int64_t token, Random &random) const;
  int64_t makeBadIndex(PagedGatherOp op, int64_t token, uint64_t kind,
                       Random &random) const;

  func::FuncOp func;
  const Signature &signature;
  Codes codes;
  SmallVector<Use> uses;       ///< Of every argument.
  SmallVector<uint64_t> seeds; ///< Of every argument.
  InputSet set;
};

} // namespace

std::vector<Buffer> InputSet::buffers() {
  std::vector<Buffer> result;
  for (size_t i = 0; i < bytes.size(); ++i)
    result.push_back({shapes[i], bytes[i].data()});
  return result;
}

//===----------------------------------------------------------------------===//
// Shapes and roles
//===----------------------------------------------------------------------===//

InputMaker::InputMaker(func::FuncOp func, const Signature &signature,
                       uint64_t seed, Codes codes)
    : func(func), signature(signature), codes(codes) {
  // A stream for every argument: what one holds does not depend on the others'
  // sizes.
  Random random(seed);
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    seeds.push_back(random.next());
  findUses();
}

/// The role of operand `index` of a gather, a non-destination.
static Role getRole(PagedGatherOp op, unsigned index) {
  const std::pair<unsigned, Role> roles[] = {{1, Role::Indices},
                                             {2, Role::Table},
                                             {3, Role::Requests},
                                             {4, Role::Lengths}};
  for (auto [segment, role] : roles) {
    auto [begin, length] = op.getODSOperandIndexAndLength(segment);
    if (length != 0 && index == begin)
      return role;
  }
  return Role::None;
}

void InputMaker::findUses() {
  uses.resize(func.getNumArguments());
  Block &body = func.getBody().front();
  // What is read decides; else an argument is a destination or nothing.
  for (bool reads : {true, false})
    for (Operation &op : body)
      for (OpOperand &operand : op.getOpOperands()) {
        auto argument = dyn_cast<BlockArgument>(operand.get());
        auto tied = dyn_cast<DestinationStyleOpInterface>(op);
        if (!argument || !tied || tied.isDpsInit(&operand) == reads)
          continue;
        Use &use = uses[argument.getArgNumber()];
        if (use.role != Role::None)
          continue;
        if (!reads) {
          use.role = Role::Output;
        } else if (auto gather = dyn_cast<PagedGatherOp>(op)) {
          use = {getRole(gather, operand.getOperandNumber()), gather};
        } else if (isa<DequantizeOp>(op) && operand.getOperandNumber() > 0) {
          use.role = Role::Factors;
        }
      }
  // Data of a dequantize has no role of its own, but is not a destination.
  for (auto op : body.getOps<DequantizeOp>())
    if (auto argument = dyn_cast<BlockArgument>(op.getData()))
      if (Use &use = uses[argument.getArgNumber()]; use.role == Role::Output)
        use.role = Role::None;
}

rt::Status InputMaker::allocate(const std::map<std::string, int64_t> &dims) {
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
    if (!bytes || *bytes > kMaxBytes - total)
      return {rt::Code::InvalidArgument,
              "binding '" + binding.name +
                  "' is too large: random inputs are limited to 64 GiB"};
    total += *bytes;
    set.shapes.push_back(std::move(shape));
    set.bytes.emplace_back(*bytes, kPoison);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Element `at` of an i32 argument, -1 if extents that nothing ties leave none.
int32_t InputMaker::load(Value value, int64_t at) const {
  const std::vector<char> &bytes = set.bytes[getBinding(value)];
  int32_t result = -1;
  if ((at + 1) * sizeof(result) <= bytes.size())
    std::memcpy(&result, bytes.data() + at * sizeof(result), sizeof(result));
  return result;
}

/// Stores the nearest i32.
void InputMaker::store(unsigned argument, int64_t at, int64_t value) {
  int32_t narrow = int32_t(
      std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX));
  std::memcpy(set.bytes[signature.firstBinding[argument]].data() +
                  at * sizeof(narrow),
              &narrow, sizeof(narrow));
}

std::vector<uint8_t> InputMaker::makeElements(Type type, bool factors,
                                              size_t count,
                                              Random &random) const {
  if (auto format = reference::getFormat(type))
    return factors && codes != Codes::All
               ? randomScales(*format, count, random)
               : randomElements(*format, count, random, codes);
  unsigned width = type.getIntOrFloatBitWidth();
  std::vector<uint8_t> bytes(count * std::max(width / 8, 1u));
  for (uint8_t &byte : bytes)
    byte = uint8_t(width == 1 ? random.below(2) : random.next());
  return bytes;
}

/// Fills field `field` of every entry. In a large cache entries share elements
/// of a pool, at places of their own.
void InputMaker::fillField(FieldAttr field,
                           const RecordLayout::Position &position,
                           int64_t pages, int64_t slots,
                           std::vector<char> &bytes, Random &random) const {
  int64_t size = field.getByteSize(), entries = pages * slots;
  int64_t made = std::min(entries, std::max<int64_t>(kPoolBytes / size, 2));
  std::vector<uint8_t> pool = makeElements(field.getElement(), field.isScale(),
                                           made * field.getExtent(), random);
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
  RecordLayout layout(type);
  unsigned first = signature.firstBinding[cache.getArgNumber()];
  unsigned array = first + layout.hasPages();
  if (layout.hasPages())
    std::fill(set.bytes[first].begin(), set.bytes[first].end(), char(0xFF));
  for (FieldAttr field : type.getRecord().getFields()) {
    RecordLayout::Position position = layout.getPosition(field);
    unsigned binding = position.inArray ? array++ : first;
    bool perTensor = field.getGroup() == FieldAttr::kPerTensor;
    fillField(field, position, perTensor ? 1 : set.shapes[binding].front(),
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
  bool factors = uses[argument.getArgNumber()].role == Role::Factors;
  std::vector<uint8_t> elements = makeElements(type, factors, count, random);
  std::memcpy(bytes.data(), elements.data(),
              std::min(elements.size(), bytes.size()));
}

//===----------------------------------------------------------------------===//
// Lengths, requests, page tables
//===----------------------------------------------------------------------===//

int64_t InputMaker::getPages(PagedGatherOp op) const {
  auto type = op.getCache().getType();
  unsigned binding = getBinding(op.getCache());
  if (RecordLayout(type).hasPages())
    return set.shapes[binding].front();
  for (FieldAttr field : type.getRecord().getFields()) {
    if (field.getGroup() != FieldAttr::kPerTensor)
      return set.shapes[binding].front();
    ++binding;
  }
  return 0;
}

/// Entries that the indices of a token can name.
int64_t InputMaker::getCapacity(PagedGatherOp op) const {
  Value table = op.getPageTable();
  int64_t pages = table ? getShape(table).back() : getPages(op);
  return pages * op.getCache().getType().getPage();
}

/// Calls `make` with a kind below `kinds` for about one in `spread` of `count`
/// elements, and at least once for every kind where there are enough.
template <typename Make>
static void spoil(int64_t count, uint64_t kinds, uint64_t spread,
                  Random &random, Make make) {
  for (int64_t i = 0; i < count; ++i)
    if (random.below(spread) == 0)
      make(i, random.below(kinds));
  if (count < kEnoughForAll)
    return;
  uint64_t start = random.below(count);
  for (uint64_t kind = 0; kind < kinds; ++kind)
    make((start + kind * 7) % count, kind);
}

void InputMaker::fillLengths(unsigned argument, Random &random) {
  PagedGatherOp op = uses[argument].gather;
  int64_t capacity = getCapacity(op), count = getCount(argument);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, 1 + random.below(std::max<int64_t>(capacity, 1)));
  int64_t page = op.getCache().getType().getPage();
  spoil(count, 4, 64, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {
        0, -5, capacity + 1 + int64_t(random.below(2 * page)), INT32_MAX};
    store(argument, at, bad[kind]);
  });
}

void InputMaker::fillRequests(unsigned argument, Random &random) {
  int64_t rows = getShape(uses[argument].gather.getPageTable()).front();
  int64_t count = getCount(argument);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, random.below(std::max<int64_t>(rows, 1)));
  spoil(count, 2, 64, random, [&](int64_t at, uint64_t kind) {
    const int64_t low[] = {-1, -1, -7, INT32_MIN};
    const int64_t high[] = {rows, rows, rows + 3, INT32_MAX};
    store(argument, at, (kind == 0 ? low : high)[random.below(4)]);
  });
}

void InputMaker::fillTable(unsigned argument, Random &random) {
  int64_t pages = getPages(uses[argument].gather);
  std::vector<int32_t> order(pages);
  for (int64_t i = 0; i < pages; ++i) {
    int64_t j = random.below(i + 1);
    order[i] = order[j];
    order[j] = int32_t(i);
  }
  int64_t count = getCount(argument);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, pages ? order[i % pages] : 0);
  spoil(count, 6, 24, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, -1, -1, pages, -7, INT32_MAX};
    store(argument, at, bad[kind]);
  });
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Whether a page of the pool holds entry `index`, which is in the capacity.
bool InputMaker::isMapped(PagedGatherOp op, int64_t token,
                          int64_t index) const {
  Value table = op.getPageTable();
  if (!table)
    return true;
  ArrayRef<int64_t> shape = getShape(table);
  int64_t row = 0, rows = shape.size() == 2 ? shape.front() : 1;
  if (shape.size() == 2)
    row = op.getRequests() ? load(op.getRequests(), token) : token;
  if (row < 0 || row >= rows)
    return false;
  int64_t page = index / op.getCache().getType().getPage();
  int64_t physical = load(table, row * shape.back() + page);
  return physical >= 0 && physical < getPages(op);
}

/// An index that names an entry, where one is found.
int64_t InputMaker::makeGoodIndex(PagedGatherOp op, int64_t token,
                                  Random &random) const {
  int64_t bound = std::min<int64_t>(getCapacity(op), INT32_MAX);
  if (op.getLengths())
    bound = std::min<int64_t>(bound, load(op.getLengths(), token));
  if (bound <= 0)
    return random.below(op.getCache().getType().getPage());
  int64_t index = 0;
  for (unsigned attempt = 0; attempt < 32; ++attempt) {
    index = random.below(bound);
    if (isMapped(op, token, index))
      break;
  }
  return index;
}

int64_t InputMaker::makeBadIndex(PagedGatherOp op, int64_t token, uint64_t kind,
                                 Random &random) const {
  int64_t page = op.getCache().getType().getPage();
  int64_t capacity = getCapacity(op);
  int64_t length = op.getLengths() ? load(op.getLengths(), token) : capacity;
  int64_t further = random.below(2 * page);
  switch (kind) {
  case 0:
    return -1;
  case 1: // The first beyond the length.
    return std::max<int64_t>(length, 0);
  case 2:
    return std::max<int64_t>(length, 0) + further;
  case 3: // Beyond the table, or the pool where there is none.
    return capacity + further;
  case 4: // Beyond the pool.
    return getPages(op) * page + further;
  case 5:
    return INT32_MIN;
  case 6:
    return INT32_MAX;
  default: // Perhaps a page without a mapping, perhaps beyond the length.
    return random.below(std::max<int64_t>(capacity, 1));
  }
}

void InputMaker::fillIndices(unsigned argument, Random &random) {
  PagedGatherOp op = uses[argument].gather;
  ArrayRef<int64_t> shape = getShape(op.getIndices());
  bool perToken = shape.size() == 2;
  int64_t count = getCount(argument);
  uint64_t kind = random.below(8);
  for (int64_t i = 0; i < count; ++i) {
    int64_t token = perToken ? i / shape.back() : 0;
    // Tokens without any valid entry add to these.
    bool good = random.below(100) >= 12;
    store(argument, i,
          good ? makeGoodIndex(op, token, random)
               : makeBadIndex(op, token, kind++ % 8, random));
  }
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

void InputMaker::fill() {
  // Later roles look at what earlier ones hold.
  for (Role role : {Role::Lengths, Role::Requests, Role::Table, Role::Indices,
                    Role::Factors, Role::None})
    for (BlockArgument argument : func.getArguments()) {
      unsigned index = argument.getArgNumber();
      if (uses[index].role != role)
        continue;
      Random random(seeds[index]);
      if (role == Role::Lengths)
        fillLengths(index, random);
      else if (role == Role::Requests)
        fillRequests(index, random);
      else if (role == Role::Table)
        fillTable(index, random);
      else if (role == Role::Indices)
        fillIndices(index, random);
      else if (isa<CacheType>(argument.getType()))
        fillCache(argument, random);
      else
        fillTensor(argument, random);
    }
}

rt::Result<InputSet>
dsv4::reference::makeRandomInputs(func::FuncOp func,
                                  const std::map<std::string, int64_t> &dims,
                                  uint64_t seed, Codes codes) {
  auto signature = readSignature(func);
  if (!signature)
    return signature.status();
  InputMaker maker(func, *signature, seed, codes);
  if (rt::Status status = maker.allocate(dims); !status)
    return status;
  maker.fill();
  return maker.take();
}
