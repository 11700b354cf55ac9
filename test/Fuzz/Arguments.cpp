//===- Arguments.cpp - Hostile arguments for the C interface --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   dsv4-fuzz-arguments [BLOCKS [SEED]]
//
// Passes blocks of arguments to libdsv4.so with sizes, kinds, ranks, extents,
// strides, types, devices, flags, counts and nulls changed at random, and never
// an address but to null. The launch path must take or refuse each, say why,
// and stay usable. Arrays have exactly the bytes that they should have, so that
// a sanitizer sees a read beyond them. The driver is the fake of the unit
// tests.
//
//===----------------------------------------------------------------------===//

#include "CTesting.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

using namespace dsv4;
using namespace dsv4::test;

namespace {

/// At least this percentage of blocks must be accepted, or the rest tests only
/// the first check.
constexpr uint64_t MinAccepted = 30;

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  uint64_t below(uint64_t bound) { return engine() % bound; }
  bool oneIn(uint64_t n) { return below(n) == 0; }
  template <typename T, size_t N>
  T pick(const T (&values)[N]) {
    return values[below(N)];
  }
  int64_t number() {
    static constexpr int64_t edges[] = {0,          1,
                                        -1,         2,
                                        3,          15,
                                        16,         64,
                                        127,        128,
                                        511,        512,
                                        656,        1 << 20,
                                        INT32_MAX,  INT32_MIN,
                                        UINT32_MAX, INT64_MAX,
                                        INT64_MIN,  INT64_MAX / 2,
                                        1LL << 62,  (1LL << 62) - 1};
    return oneIn(2) ? pick(edges) : int64_t(engine());
  }

private:
  std::mt19937_64 engine;
};

/// A struct in memory of its own, with bytes after it as of a newer header.
template <typename T>
struct Holder {
  static constexpr size_t extra = 64;
  std::unique_ptr<unsigned char[]> bytes{
      new unsigned char[sizeof(T) + extra]()};
  Holder() { get()->size = sizeof(T); }
  T *get() { return reinterpret_cast<T *>(bytes.get()); }

  /// Changes the size, and some byte that only a newer header has.
  void resize(Random &random) {
    static constexpr uint32_t sizes[] = {0,
                                         1,
                                         4,
                                         8,
                                         sizeof(T) - 8,
                                         sizeof(T),
                                         sizeof(T) + 8,
                                         sizeof(T) + extra,
                                         4097,
                                         UINT32_MAX};
    get()->size = random.pick(sizes);
    if (random.oneIn(2))
      bytes[sizeof(T) + random.below(extra)] = 1;
  }
};

/// One argument as the caller has it.
struct Hostile {
  Holder<dsv4_tensor> tensor;
  std::unique_ptr<dsv4_dltensor> dlpack;
  std::unique_ptr<int64_t[]> shape, strides; ///< Of exactly `rank` numbers.
  std::unique_ptr<int64_t> scalar;
  size_t rank = 0;
};

/// A program with arguments that it takes.
struct Sample {
  rt::CompiledProgram compiled;
  std::vector<size_t> parameterSizes;
  std::map<std::string, int64_t> dims;
  dsv4_program *program = nullptr;
};

class Fuzzer {
public:
  explicit Fuzzer(uint64_t seed);
  ~Fuzzer();
  bool run(uint64_t blocks);

private:
  void makeArguments(const Sample &sample);
  void makeArgument(const Sample &sample, size_t index);
  void mutate();
  void mutateArgument(size_t index);
  dsv4_status callOrBind(const Sample &sample);
  dsv4_status useBlock(dsv4_block *block);
  bool expectError(dsv4_status status, const dsv4_error *error);
  void fail(const char *what);

  Random random;
  uint64_t seed, block = 0;
  bool broken = false;
  std::vector<Sample> samples;
  dsv4_runtime *runtime = nullptr;
  FakeStream streams[3] = {{0, 0}, {1, 0}, {0, 1}};

  std::vector<Hostile> hostile;
  std::unique_ptr<dsv4_argument[]> arguments; ///< Of exactly `count` elements.
  uint32_t count = 0;
  bool passesNull = false;
  std::map<std::string, uint64_t> ids; ///< Of errors.
};

} // namespace

Fuzzer::Fuzzer(uint64_t seed) : random(seed), seed(seed) {
  fakeCuda().takesNotes = false;
  fakeCuda().maxAllocation = size_t(1) << 20;
  samples.push_back({rt::test::gatherProgram("cuda"),
                     gatherSizes,
                     {{"tokens", 3}, {"topk", 4}, {"pages", 5}}});
  samples.push_back(
      {rt::test::scoresProgram("cuda"), scoresSizes, {{"m", 200}, {"n", 64}}});
  rt::ProgramInfo strided = rt::test::stridedInfo();
  strided.target = "cuda";
  strided.arch = "sm_90a";
  samples.push_back({{strided, {"image"}},
                     {8, 8, 8, 4, 4, 4},
                     {{"rows", 6}, {"cache.pages", 7}}});
  dsv4_runtime_create(nullptr, &runtime, nullptr);
  for (Sample &sample : samples) {
    fakeCuda().parameterSizes = sample.parameterSizes;
    const std::string bytes = rt::serialize(sample.compiled, "f0");
    if (dsv4_program_open_memory(runtime, bytes.data(), bytes.size(),
                                 &sample.program, nullptr) != DSV4_OK ||
        dsv4_program_load(sample.program, 0, nullptr, nullptr) != DSV4_OK) {
      std::fprintf(stderr, "%s\n", dsv4_last_error()->message);
      std::exit(1);
    }
  }
}

Fuzzer::~Fuzzer() {
  for (Sample &sample : samples)
    dsv4_program_destroy(sample.program);
  dsv4_runtime_destroy(runtime);
}

void Fuzzer::fail(const char *what) {
  std::fprintf(stderr, "seed %" PRIu64 ", block %" PRIu64 ": %s\n", seed, block,
               what);
  broken = true;
}

//===----------------------------------------------------------------------===//
// Good arguments
//===----------------------------------------------------------------------===//

void Fuzzer::makeArgument(const Sample &sample, size_t index) {
  const rt::ProgramInfo &info = sample.compiled.info;
  const rt::Binding &binding = info.bindings[index];
  Hostile &to = hostile[index];
  dsv4_argument &argument = arguments[index];
  argument = sized<dsv4_argument>();
  if (binding.scalar) {
    to.scalar.reset(new int64_t(7));
    argument.kind = DSV4_ARGUMENT_SCALAR;
    argument.value = to.scalar.get();
    return;
  }
  to.rank = binding.shape.size();
  to.shape.reset(new int64_t[to.rank]);
  for (size_t axis = 0; axis < to.rank; ++axis) {
    const rt::Extent &extent = binding.shape[axis];
    to.shape[axis] = extent.dim < 0
                         ? extent.constant
                         : sample.dims.at(info.dims[extent.dim].name);
  }
  // Nobody reads the memory; no two arguments share any.
  void *data = reinterpret_cast<void *>((index + 1) << 40);
  const dsv4_type types[] = {{DSV4_TYPE_UINT, 8, 1},
                             {DSV4_TYPE_UINT, 16, 1},
                             {DSV4_TYPE_INT, 32, 1},
                             {DSV4_TYPE_FLOAT, 32, 1},
                             {DSV4_TYPE_INT, 64, 1}};
  const dsv4_type type = types[int(binding.storage)];
  const int64_t size = rt::getByteSize(binding.storage);
  if (!binding.strides.empty() || random.oneIn(2)) {
    to.strides.reset(new int64_t[to.rank]);
    int64_t stride = 1;
    for (size_t axis = to.rank; axis-- > 0;) {
      if (axis < binding.strides.size() && binding.strides[axis].dim < 0)
        stride = binding.strides[axis].constant / size;
      to.strides[axis] = stride;
      stride *= to.shape[axis];
    }
  }
  if (random.oneIn(2)) {
    to.dlpack.reset(new dsv4_dltensor{data, DSV4_DEVICE_CUDA, 0,
                                      int32_t(to.rank), type, to.shape.get(),
                                      to.strides.get(), 0});
    argument.kind = DSV4_ARGUMENT_DLPACK;
    argument.value = to.dlpack.get();
    return;
  }
  for (size_t axis = 0; to.strides && axis < to.rank; ++axis)
    to.strides[axis] *= size;
  dsv4_tensor &tensor = *to.tensor.get();
  tensor.ndim = int32_t(to.rank);
  tensor.data = data;
  tensor.shape = to.shape.get();
  tensor.strides = to.strides.get();
  tensor.type = type;
  tensor.device_type = DSV4_DEVICE_CUDA;
  argument.value = &tensor;
}

void Fuzzer::makeArguments(const Sample &sample) {
  count = uint32_t(sample.compiled.info.bindings.size());
  hostile.clear();
  hostile.resize(count);
  arguments.reset(new dsv4_argument[count]);
  passesNull = false;
  for (size_t i = 0; i < count; ++i)
    makeArgument(sample, i);
}

//===----------------------------------------------------------------------===//
// Bad ones
//===----------------------------------------------------------------------===//

void Fuzzer::mutateArgument(size_t index) {
  Hostile &at = hostile[index];
  dsv4_argument &argument = arguments[index];
  dsv4_tensor *tensor = at.tensor.get();
  dsv4_dltensor *dlpack = at.dlpack.get();
  auto set = [&](auto &&change) {
    change(*tensor);
    if (dlpack)
      change(*dlpack);
  };
  switch (random.below(16)) {
  case 0: // The first size is the distance of the elements.
    if (index > 0)
      argument.size = uint32_t(random.number());
    break;
  case 1: {
    // What stands at `value` must be of the kind: a tensor is one always.
    const int32_t kinds[] = {3, -1, 7, INT32_MAX, INT32_MIN};
    argument.kind = random.oneIn(4) && !dlpack && !at.scalar
                        ? DSV4_ARGUMENT_SCALAR
                        : random.pick(kinds);
    break;
  }
  case 2:
    argument.value = nullptr;
    break;
  case 3:
    argument.flags =
        random.oneIn(2) ? DSV4_ARGUMENT_READ_ONLY : uint32_t(random.number());
    break;
  case 4:
    at.tensor.resize(random);
    break;
  case 5:
  case 6:
    if (at.rank)
      at.shape[random.below(at.rank)] = random.number();
    break;
  case 7:
  case 8:
    if (at.strides && at.rank)
      at.strides[random.below(at.rank)] = random.number();
    break;
  case 9:
    set([&](auto &view) { view.ndim = int32_t(random.number()); });
    break;
  case 10:
    set([&](auto &view) {
      view.type = {uint8_t(random.below(20)), uint8_t(random.number()),
                   uint16_t(random.below(3))};
    });
    break;
  case 11:
    set([&](auto &view) { view.device_type = int32_t(random.below(16)); });
    break;
  case 12:
    set([&](auto &view) { view.device_id = int32_t(random.number()); });
    break;
  case 13:
    set([&](auto &view) { view.shape = nullptr; });
    break;
  case 14:
    set([&](auto &view) { view.strides = nullptr; });
    break;
  case 15:
    if (dlpack && random.oneIn(2))
      dlpack->byte_offset = uint64_t(random.number());
    else
      set([&](auto &view) { view.data = nullptr; });
    break;
  }
}

void Fuzzer::mutate() {
  // Two of five blocks are as they should be.
  static constexpr unsigned amounts[] = {0, 0, 1, 1, 3};
  for (unsigned i = random.pick(amounts); i > 0; --i) {
    if (random.oneIn(20))
      // Fewer, or a number that is refused before an element is read.
      count = random.oneIn(2) ? uint32_t(random.below(hostile.size()))
                              : uint32_t(random.number()) | 0x40000000;
    else if (random.oneIn(40))
      passesNull = true;
    else if (!hostile.empty())
      mutateArgument(random.below(hostile.size()));
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool Fuzzer::expectError(dsv4_status status, const dsv4_error *error) {
  if (status == DSV4_OK) {
    if (error)
      fail("a call that succeeded gave an error");
    return false;
  }
  if (!error || error->status != status || !*error->id || !*error->message)
    fail("a call that failed does not say why");
  else if (error->argument_index >= 0 && !error->argument)
    fail("an error has the index of an argument and not its name");
  else
    ++ids[error->id];
  return true;
}

dsv4_status Fuzzer::useBlock(dsv4_block *bound) {
  dsv4_error *error = nullptr;
  dsv4_status status = DSV4_OK;
  const uint32_t index = uint32_t(random.below(hostile.size() + 1));
  switch (random.below(6)) {
  case 0:
    status =
        dsv4_set_data(bound, index, random.oneIn(4) ? nullptr : bound, &error);
    break;
  case 1:
    status =
        dsv4_set_dim(bound, uint32_t(random.below(6)), random.number(), &error);
    break;
  case 2:
    if (index < hostile.size()) {
      mutateArgument(index);
      // Alone it may have any size that its memory has.
      if (arguments[index].size > sizeof(dsv4_argument))
        arguments[index].size = sizeof(dsv4_argument);
      status = dsv4_set_argument(bound, index, &arguments[index], &error);
    }
    break;
  case 3: {
    Holder<dsv4_workspace> workspace;
    if (random.oneIn(2))
      workspace.resize(random);
    workspace.get()->bytes = uint64_t(random.number());
    status = dsv4_set_workspace(bound, workspace.get(), &error);
    break;
  }
  default:
    break;
  }
  expectError(status, error);
  dsv4_error_destroy(error);
  error = nullptr;
  status =
      random.oneIn(4)
          ? dsv4_block_check(bound, nullptr, &error)
          : dsv4_launch(bound,
                        random.oneIn(2) ? nullptr : &streams[random.below(3)],
                        &error);
  expectError(status, error);
  dsv4_error_destroy(error);
  return status;
}

dsv4_status Fuzzer::callOrBind(const Sample &sample) {
  dsv4_error *error = nullptr;
  const dsv4_argument *given = passesNull ? nullptr : arguments.get();
  const int launches = fakeCuda().launches;
  dsv4_status status;
  if (random.oneIn(2)) {
    status = dsv4_call(sample.program, given, count, nullptr, nullptr, &error);
    if (expectError(status, error) && fakeCuda().launches != launches)
      fail("arguments that were refused were launched");
    dsv4_error_destroy(error);
    return status;
  }
  dsv4_block *bound = nullptr;
  status = dsv4_bind(sample.program, given, count, nullptr, &bound, &error);
  if (expectError(status, error) == (bound != nullptr))
    fail("a block was made of what was refused, or none of what was taken");
  dsv4_error_destroy(error);
  for (unsigned i = 0; bound && i < 3; ++i)
    useBlock(bound);
  dsv4_block_destroy(bound);
  return status;
}

bool Fuzzer::run(uint64_t blocks) {
  uint64_t accepted = 0;
  for (block = 0; block < blocks && !broken; ++block) {
    const Sample &sample = samples[random.below(samples.size())];
    makeArguments(sample);
    mutate();
    if (callOrBind(sample) == DSV4_OK)
      ++accepted;
    if (block % 64 != 0)
      continue;
    makeArguments(sample);
    if (dsv4_call(sample.program, arguments.get(), count, nullptr, nullptr,
                  nullptr) != DSV4_OK)
      fail(dsv4_last_error()->message);
  }
  for (const auto &[id, times] : ids)
    std::printf("%10" PRIu64 "  %s\n", times, id.c_str());
  std::printf("%" PRIu64 " blocks, %" PRIu64 " %% accepted, %zu ids\n", block,
              block ? 100 * accepted / block : 0, ids.size());
  if (100 * accepted < MinAccepted * block)
    fail("too few blocks are accepted");
  return !broken;
}

int main(int argc, char **argv) {
  const uint64_t blocks =
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return Fuzzer(seed).run(blocks) ? 0 : 1;
}
