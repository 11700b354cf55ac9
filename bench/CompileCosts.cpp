//===- CompileCosts.cpp - What compiling and launching costs --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileCosts.h"

#include "CudaDriverAPI.h"
#include "dsv4/JIT/NVRTC.h"
#include "dsv4/Target/CUDA/Prelude.h"

#include "llvm/Support/FileSystem.h"

#include <chrono>

using namespace dsv4;
using namespace dsv4::bench;

/// Microseconds that `body` takes.
template <typename F>
static double clock(F body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - start)
      .count();
}

/// A directory that goes away with everything in it.
struct TemporaryDirectory {
  llvm::SmallString<128> path;
  TemporaryDirectory() {
    if (llvm::sys::fs::createUniqueDirectory("dsv4-bench", path))
      check(rt::Status(rt::Code::Unavailable, "no temporary directory"));
  }
  ~TemporaryDirectory() { llvm::sys::fs::remove_directories(path); }
};

static std::unique_ptr<Session> openSession(const std::string &cacheRoot) {
  SessionOptions options;
  options.target = TargetKind::Cuda;
  options.cache.root = cacheRoot;
  options.cache.memoryOnly = cacheRoot.empty();
  return take(Session::create(options));
}

llvm::json::Object bench::measureCompile(Device &device, Workload &workload) {
  auto compile = [&](Session &session, CompileReport &report) {
    return take(session.compile(workload.source, "bench.mlir", workload.options,
                                &report));
  };
  auto *nvrtc = take(jit::NVRTC::get());
  const std::string emptyKernel = "extern \"C\" __global__ void empty() {}\n";
  auto timeNVRTC = [&](const std::string &text) {
    return 1e-3 * clock([&] {
             take(nvrtc->compile(text, "empty.cu", device.session.arch()));
           });
  };
  std::vector<double> passes, backend, empty, prelude, load;
  for (int i = 0; i < 20; ++i) {
    CompileReport report;
    compile(*openSession(""), report);
    passes.push_back(report.passes);
    backend.push_back(report.backend);
    load.push_back(report.load);
    empty.push_back(timeNVRTC(emptyKernel));
    prelude.push_back(timeNVRTC(rt::cudaPrelude() + emptyKernel));
  }

  TemporaryDirectory cache;
  std::string root(cache.path.str());
  auto session = openSession(root);
  CompileReport report;
  compile(*session, report);
  std::vector<double> disk, fresh, memory;
  for (int i = 0; i < 50; ++i) {
    std::unique_ptr<Session> next;
    double opening = clock([&] { next = openSession(root); });
    disk.push_back(clock([&] { compile(*next, report); }) * 1e-3);
    fresh.push_back(disk.back() + opening * 1e-3);
    if (report.origin != CompileReport::Origin::Disk)
      check(rt::Status(rt::Code::LoadFailed, "the disk cache did not answer"));
  }
  for (int i = 0; i < 500; ++i)
    memory.push_back(clock([&] { compile(*session, report); }));

  return llvm::json::Object{{"what", workload.compileName},
                            {"layout", workload.layout},
                            {"first_passes_ms", passes.front()},
                            {"passes_ms", median(passes)},
                            {"nvrtc_ms", median(backend)},
                            {"nvrtc_empty_ms", median(empty)},
                            {"nvrtc_prelude_ms", median(prelude)},
                            {"load_ms", median(load)},
                            {"disk_hit_ms", median(disk)},
                            {"disk_hit_and_session_ms", median(fresh)},
                            {"memory_hit_us", median(memory)}};
}

/// The driver's handle of the only kernel of a compiled program.
static rt::cuda::CUfunction loadFunction(rt::Driver &driver,
                                         const rt::CompiledProgram &program) {
  const rt::cuda::API &api = driver.api();
  rt::cuda::CUlibrary library = nullptr;
  rt::cuda::CUkernel kernel = nullptr;
  rt::cuda::CUfunction function = nullptr;
  check(driver.check(api.loadLibraryData(&library, program.images[0].data(),
                                         nullptr, nullptr, 0, nullptr, nullptr,
                                         0),
                     "cuLibraryLoadData"));
  check(
      driver.check(api.getLibraryKernel(&kernel, library,
                                        program.info.kernels[0].symbol.c_str()),
                   "cuLibraryGetKernel"));
  check(driver.check(api.kernelGetFunction(&function, kernel),
                     "cuKernelGetFunction"));
  return function;
}

llvm::json::Object bench::measureDispatch(Device &device, Workload &workload) {
  TemporaryDirectory cache;
  auto session = openSession(std::string(cache.path.str()));
  CompileReport report;
  const rt::LoadedProgram &program = *take(session->compile(
      workload.source, "bench.mlir", workload.options, &report));
  auto compiled = session->diskCache().lookup(session->arch(), report.key);
  if (!compiled)
    check(rt::Status(rt::Code::LoadFailed, "the disk cache did not answer"));
  rt::Driver &driver = device.driver;

  // The bare call: everything that launch() works out is ready.
  const rt::KernelInfo &kernel = compiled->info.kernels[0];
  Arguments arguments = workload.arguments(1, 0);
  rt::cuda::CUfunction function = loadFunction(driver, *compiled);
  const rt::LaunchPlan &plan = kernel.plan;
  std::vector<int64_t> scalars(plan.parameters.size());
  std::vector<void *> parameters;
  rt::Workspace workspace = device.workspace(arguments.workspaceBytes(program));
  std::vector<int64_t> extents;
  for (const rt::Dim &dim : compiled->info.dims)
    extents.push_back(arguments.shapes[dim.binding][dim.axis]);
  const rt::LaunchInputs inputs = {extents.data(), device.info.multiprocessors};
  for (auto [parameter, scalar] : llvm::zip(plan.parameters, scalars)) {
    if (parameter.kind == rt::Parameter::Kind::Buffer) {
      parameters.push_back(&arguments.values[parameter.binding].data);
      continue;
    }
    if (parameter.kind == rt::Parameter::Kind::Workspace) {
      parameters.push_back(&workspace.data);
      continue;
    }
    if (parameter.value.evaluate(inputs, scalar) != rt::Fault::None)
      check(rt::Status(rt::Code::LaunchFailed, "a parameter has no value"));
    parameters.push_back(&scalar); // Little-endian: also an int32.
  }
  const rt::LaunchShape shape = take(program.launchShapes(
      arguments.values.data(), arguments.values.size()))[0];
  rt::cuda::LaunchAttribute attribute = {};
  attribute.id = rt::cuda::LaunchProgrammaticSerialization;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  rt::cuda::LaunchConfig config = {};
  config.gridDimX = shape.grid.x;
  config.gridDimY = shape.grid.y;
  config.gridDimZ = shape.grid.z;
  config.blockDimX = plan.block.x;
  config.blockDimY = plan.block.y;
  config.blockDimZ = plan.block.z;
  config.sharedMemBytes = shape.sharedBytes;
  config.stream = static_cast<rt::cuda::CUstream>(device.stream);
  config.attributes = &attribute;
  config.numAttributes = plan.programmaticLaunch;
  const rt::cuda::API &api = driver.api();

  // Batches are short enough for the driver's queue never to be full.
  constexpr int batch = 128, batches = 600;
  auto held = [&] {
    for (int i = 0; i < batch; ++i)
      check(program.launch(device.stream, arguments.values.data(),
                           arguments.values.size(), workspace));
  };
  auto bare = [&] {
    for (int i = 0; i < batch; ++i)
      if (int result =
              api.launchKernelEx(&config, function, parameters.data(), nullptr))
        check(driver.check(result, "cuLaunchKernelEx"));
  };
  std::vector<double> heldTimes, bareTimes;
  for (int i = 0; i < batches; ++i)
    for (bool first : {true, false}) {
      bool isHeld = first == (i % 2 == 0);
      double us = isHeld ? clock(held) : clock(bare);
      device.finish();
      (isHeld ? heldTimes : bareTimes).push_back(us / batch);
    }
  return llvm::json::Object{{"launches", batch * batches},
                            {"parameters", (int64_t)parameters.size()},
                            {"held_us", median(heldTimes)},
                            {"bare_us", median(bareTimes)},
                            {"over_us", median(heldTimes) - median(bareTimes)}};
}
