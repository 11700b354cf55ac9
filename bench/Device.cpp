//===- Device.cpp - Memory, kernels and timing for measurements -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "dsv4/JIT/NVRTC.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/WithColor.h"

using namespace dsv4;
using namespace dsv4::bench;

void bench::check(const rt::Status &status) {
  if (status)
    return;
  llvm::WithColor::error(llvm::errs(), "dsv4-bench")
      << status.message() << "\n";
  exit(1);
}

/// The value below which `share` of the values lie.
static double quantile(std::vector<double> &values, double share) {
  llvm::sort(values);
  return values[static_cast<size_t>(share * (values.size() - 1) + 0.5)];
}

double bench::median(std::vector<double> values) {
  return quantile(values, 0.5);
}

//===----------------------------------------------------------------------===//
// Kernels of our own
//===----------------------------------------------------------------------===//

static const char emptyText[] = R"(
extern "C" __global__ void __launch_bounds__(128) kernel(uint4 *to, int n) {
  WAIT;
  TRIGGER;
}
)";

// A hash of the place and of which draw it is, a chunk of 16 bytes per thread.
static const char fillText[] = R"(
extern "C" __global__ void __launch_bounds__(256)
kernel(uint4 *to, int n, int draw) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long x = ((unsigned long long)draw << 40) + (unsigned)i;
  unsigned words[4];
  for (int w = 0; w < 4; ++w) {
    x += 0x9E3779B97F4A7C15ull;
    unsigned long long z = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    words[w] = CODES(z);
  }
  to[i] = make_uint4(words[0], words[1], words[2], words[3]);
}
)";

static const char anyCodes[] = R"(
#define WORD(Z) ((unsigned)((Z) >> 32))
#define CODES(Z) \
  (WORD(Z) ^ (__vcmpeq4(WORD(Z) & 0x7F7F7F7Fu, 0x7F7F7F7Fu) & 0x01010101u))
)";

// Of bf16: sign, the last three bits of the exponent and mantissa are random.
static const char moderateBF16[] = R"(
#define CODES(Z) (((unsigned)((Z) >> 32) & 0x83FF83FFu) | 0x3C003C00u)
)";

static const char moderateF32[] = R"(
#define CODES(Z) (((unsigned)((Z) >> 32) & 0x83FFFFFFu) | 0x3C000000u)
)";

// Box and Muller, from the two halves of the hash.
static const char normalF32[] = R"(
__device__ unsigned normal(unsigned long long z) {
  const float scale = 1.0f / 16777216;
  const float u = ((unsigned)(z >> 40) + 0.5f) * scale;
  const float turn = (unsigned)(z >> 8 & 0xFFFFFFu) * scale;
  return __float_as_uint(sqrtf(-2.0f * logf(u)) * cospif(2.0f * turn));
}
#define CODES(Z) normal(Z)
)";

static const char copyText[] = R"(
extern "C" __global__ void __launch_bounds__(256)
kernel(uint4 *__restrict__ to, const uint4 *__restrict__ from, int n) {
  WAIT;
  const int first = blockIdx.x * (256 * STEPS) + threadIdx.x;
  uint4 v[STEPS];
#pragma unroll
  for (int s = 0; s < STEPS; ++s)
    if (first + s * 256 < n)
      LOAD(v[s], from + first + s * 256);
  TRIGGER;
#pragma unroll
  for (int s = 0; s < STEPS; ++s)
    if (first + s * 256 < n)
      to[first + s * 256] = v[s];
}
)";

static const char plainLoad[] = "#define LOAD(V, P) V = *(P)\n";
static const char evictLastLoad[] = R"(
#define LOAD(V, P) do { \
  unsigned long long policy; \
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" \
               : "=l"(policy)); \
  asm volatile("ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;" \
               : "=r"(V.x), "=r"(V.y), "=r"(V.z), "=r"(V.w) \
               : "l"(P), "l"(policy)); \
} while (0)
)";

static std::string launchMacros(bool programmatic) {
  if (!programmatic)
    return "#define WAIT\n#define TRIGGER\n";
  return "#define WAIT asm volatile(\"griddepcontrol.wait;\" ::: \"memory\")\n"
         "#define TRIGGER "
         "asm volatile(\"griddepcontrol.launch_dependents;\")\n";
}

Kernel Device::build(const std::string &text, uint32_t threads,
                     uint32_t perBlock, Operands operands, bool programmatic) {
  auto *nvrtc = take(jit::NVRTC::get());
  auto output = take(nvrtc->compile(launchMacros(programmatic) + text,
                                    "bench.cu", session.arch()));
  rt::CompiledProgram program;
  program.images = {output.cubin};
  rt::ProgramInfo &info = program.info;
  info.name = "bench";
  info.target = "cuda";
  info.arch = session.arch();
  info.dims = {{"n", 0, 0}};
  rt::KernelInfo kernel;
  kernel.symbol = "kernel";
  const rt::Expression rows = rt::Expression::extent(0);
  kernel.plan.grid[0] = rt::Expression::ceilDiv(rows, perBlock);
  kernel.plan.block = threads;
  kernel.plan.programmaticLaunch = programmatic;
  // A draw is passed as the other extent.
  rt::Extent other = {16, -1};
  if (operands == Operands::ToAndDraw) {
    info.dims.push_back({"draw", 0, 1});
    other = {-1, 1};
  }
  std::vector<const char *> names = {"to"};
  if (operands == Operands::ToAndFrom)
    names.push_back("from");
  for (const char *name : names) {
    int index = static_cast<int>(info.bindings.size());
    info.bindings.push_back(
        {name, rt::Storage::U8, "u8", {{-1, 0}, other}, index == 0});
    kernel.plan.parameters.push_back(
        rt::Parameter::buffer(index, index != 0, index == 0, 16));
  }
  kernel.plan.parameters.push_back(rt::Parameter::int32(rows));
  if (operands == Operands::ToAndDraw)
    kernel.plan.parameters.push_back(
        rt::Parameter::int32(rt::Expression::extent(1)));
  info.kernels = {kernel};
  return take(rt::LoadedProgram::load(program, rt::Backend::cuda(&driver)));
}

void Device::buildCopies() {
  for (bool programmatic : {false, true})
    for (bool evictLast : {false, true})
      for (int steps : {1, 2, 4})
        copyKernels.push_back(
            {std::to_string(steps) + " x 16 B" +
                 (evictLast ? ", evict_last" : "") +
                 (programmatic ? ", pdl" : ""),
             build("#define STEPS " + std::to_string(steps) + "\n" +
                       (evictLast ? evictLastLoad : plainLoad) + copyText,
                   256, 256 * steps, Operands::ToAndFrom, programmatic)});
  copyKernels.push_back({"cuMemcpyDtoDAsync", nullptr});
}

Device::Device(Session &session) : session(session), driver(*session.driver()) {
  check(driver.makeCurrent(0));
  stream = take(driver.createStream());
  info = take(driver.device(0));
  auto buildFill = [&](const char *codes) {
    return build(std::string(codes) + fillText, 256, 256, Operands::ToAndDraw,
                 /*programmatic=*/false);
  };
  fill = buildFill(anyCodes);
  fillBF16 = buildFill(moderateBF16);
  fillF32 = buildFill(moderateF32);
  fillF32Normal = buildFill(normalF32);
  for (bool programmatic : {false, true})
    empty[programmatic] = build(emptyText, 128, 1, Operands::To, programmatic);
  buildCopies();
  scratch = allocate(16);
}

Device::~Device() { (void)driver.destroyStream(stream); }

rt::Status Device::copy(const CopyKernel &kernel, char *to, const char *from,
                        size_t bytes, rt::Stream on) {
  if (!kernel.kernel)
    return driver.copyOnDevice(to, from, bytes, on);
  const int64_t shape[] = {static_cast<int64_t>(bytes / 16), 16};
  const rt::Argument arguments[] = {{to, shape},
                                    {const_cast<char *>(from), shape}};
  return kernel.kernel->launch(on, arguments, 2);
}

rt::Status Device::launchEmpty(bool programmatic, int64_t blocks,
                               rt::Stream on) {
  const int64_t shape[] = {blocks, 16};
  const rt::Argument argument = {scratch.at(), shape};
  return empty[programmatic]->launch(on, &argument, 1);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Device::launchFill(Kernel &kernel, Memory &memory) {
  const int64_t shape[] = {static_cast<int64_t>(memory.size() / 16), ++draws};
  const rt::Argument argument = {memory.at(), shape};
  check(kernel->launch(stream, &argument, 1));
}

rt::Workspace Device::workspace(uint64_t bytes) {
  if (bytes == 0)
    return {};
  // Graphs hold the smaller ones.
  if (workspaces.empty() || workspaces.back().size() < bytes) {
    workspaces.push_back(allocate(bytes));
    check(driver.fill(workspaces.back().at(), 0, bytes, stream));
  }
  return {workspaces.back().at(), workspaces.back().size()};
}

void Device::fillRandom(Memory &memory) { launchFill(fill, memory); }

void Device::fillValues(Memory &memory) { launchFill(fillBF16, memory); }

void Device::fillFloats(Memory &memory) { launchFill(fillF32, memory); }

void Device::fillNormal(Memory &memory) { launchFill(fillF32Normal, memory); }

void Device::upload(Memory &memory, const void *from) {
  check(driver.copyToDevice(memory.at(), from, memory.size(), stream));
  finish();
}

void Device::download(void *to, const char *from, size_t bytes) {
  check(driver.copyToHost(to, const_cast<char *>(from), bytes, stream));
  finish();
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

void Device::flushCache() {
  constexpr size_t bytes = size_t(128) << 20;
  if (!flushTo.size()) {
    flushFrom = allocate(bytes);
    flushTo = allocate(bytes);
  }
  // Lines loaded with evict_last give way to their like only. The other copy
  // then leaves the cache as launches without that policy find it.
  for (const char *name : {"1 x 16 B, evict_last", "1 x 16 B"})
    for (const CopyKernel &kernel : copyKernels)
      if (kernel.name == name)
        check(copy(kernel, flushTo.at(), flushFrom.at(), bytes, stream));
}

std::vector<Timing> Device::time(const std::vector<Candidate> &candidates,
                                 unsigned rounds, bool flush) {
  std::vector<rt::Graph> graphs;
  for (const Candidate &candidate : candidates) {
    check(driver.beginCapture(stream));
    for (unsigned i = 0; i < candidate.launches; ++i)
      check(candidate.launch(i, stream));
    graphs.push_back(take(driver.endCapture(stream)));
    check(driver.replay(graphs.back(), stream)); // Uploads it and warms up.
  }
  rt::Event begin = take(driver.createEvent()),
            end = take(driver.createEvent());
  std::vector<std::vector<double>> times(candidates.size());
  for (unsigned round = 0; round < rounds; ++round)
    for (size_t step = 0; step < candidates.size(); ++step) {
      // Every round starts elsewhere, so that neighbours change.
      size_t i = (step + round) % candidates.size();
      if (flush)
        flushCache();
      check(driver.record(begin, stream));
      check(driver.replay(graphs[i], stream));
      check(driver.record(end, stream));
      times[i].push_back(take(driver.elapsedMilliseconds(begin, end)) * 1e3 /
                         candidates[i].launches);
    }
  (void)driver.destroyEvent(begin);
  (void)driver.destroyEvent(end);
  for (rt::Graph graph : graphs)
    (void)driver.destroyGraph(graph);
  std::vector<Timing> result;
  for (std::vector<double> &each : times)
    result.push_back(
        {quantile(each, 0.5), quantile(each, 0.25), quantile(each, 0.75)});
  return result;
}
