//===- LoadedProgram.cpp - The launch path --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/LoadedProgram.h"

#include "LoadedKernel.h"
#include "Strides.h"

#include <algorithm>
#include <cstring>

using namespace dsv4::rt;

HostModule::~HostModule() = default;

Backend Backend::cuda(Driver *driver, int device) {
  Backend backend;
  backend.driver = driver;
  backend.device = device;
  return backend;
}

Backend Backend::onHost(HostModuleFactory factory) {
  Backend backend;
  backend.host = std::move(factory);
  return backend;
}

LoadedProgram::LoadedProgram() = default;
LoadedProgram::~LoadedProgram() = default;

//===----------------------------------------------------------------------===//
// Load
//===----------------------------------------------------------------------===//

static Status loadFailed(const KernelInfo &kernel, const std::string &what,
                         int result = 0) {
  return Status(Code::LoadFailed, "kernel '" + kernel.symbol + "': " + what)
      .about("load.failed", -1, result);
}

/// Plans may say more than this runtime can launch.
static Status checkSupported(const ProgramInfo &program) {
  for (const KernelInfo &kernel : program.kernels)
    for (size_t i = 0; i < kernel.plan.parameters.size(); ++i)
      if (kernel.plan.parameters[i].kind == Parameter::Kind::TensorMap)
        return loadFailed(
            kernel, "parameter " + std::to_string(i) +
                        " is a tensor map, which this runtime cannot pass: "
                        "compile the program for another schedule");
  return Status();
}

Result<std::unique_ptr<LoadedProgram>>
LoadedProgram::load(const CompiledProgram &compiled, const Backend &backend) {
  if (Status status = compiled.info.validate(); !status)
    return status;
  const std::string &name = compiled.info.name;
  if (compiled.images.size() != compiled.info.kernels.size())
    return Status(Code::InvalidArgument,
                  "program '" + name + "' has " +
                      std::to_string(compiled.images.size()) + " images for " +
                      std::to_string(compiled.info.kernels.size()) +
                      " kernels: compile it anew");
  if (Status status = checkSupported(compiled.info); !status)
    return status;
  bool onDevice = compiled.info.target == "cuda";
  if (onDevice ? !backend.driver : !backend.host)
    return Status(Code::InvalidArgument,
                  "program '" + name + "' is for target '" +
                      compiled.info.target +
                      "', which this backend does not run: compile it for the "
                      "other target");
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram());
  loaded->program = compiled.info;
  loaded->names = compiled.info.planNames();
  for (const Binding &binding : loaded->program.bindings)
    loaded->needsStrideCheck.push_back(
        !binding.strides.empty() || mayOverflow(binding, loaded->program.dims));
  loaded->multiprocessors = backend.hostMultiprocessors;
  loaded->driver = onDevice ? backend.driver : nullptr;
  Status status = onDevice ? loaded->loadCuda(compiled.images, backend.device)
                           : loaded->loadHost(compiled.images, backend.host);
  if (!status)
    return status;
  return loaded;
}

Status LoadedProgram::loadHost(const std::vector<std::string> &images,
                               const HostModuleFactory &factory) {
  for (size_t i = 0; i < images.size(); ++i) {
    Kernel kernel;
    kernel.info = &program.kernels[i];
    kernel.maxSharedBytes = MaxHostSharedBytes;
    Result<std::unique_ptr<HostModule>> module =
        factory(images[i], *kernel.info);
    if (!module)
      return module.status();
    if (!*module)
      return loadFailed(*kernel.info, "the host loader gave no module");
    kernel.host = module.take();
    kernels.push_back(std::move(kernel));
  }
  return Status();
}

/// Bytes of a parameter of the kernel.
static size_t getByteSize(const Parameter &parameter,
                          const ProgramInfo &program) {
  if (parameter.kind == Parameter::Kind::Int32)
    return 4;
  if (parameter.kind == Parameter::Kind::Scalar)
    return size_t(
        getByteSize(program.bindings[size_t(parameter.binding)].storage));
  return 8;
}

/// The program's parameters must be those the image has: a launch copies
/// exactly these bytes. (Asking the driver for one more than there are would be
/// an error that memory checkers report.)
static Status checkParameters(const cuda::API &api, cuda::CUkernel kernel,
                              const KernelInfo &info,
                              const ProgramInfo &program) {
  size_t offset, size, expected = info.plan.parameters.size();
  for (size_t i = 0; i < expected; ++i)
    if (api.kernelGetParamInfo(kernel, i, &offset, &size) != 0 ||
        size != getByteSize(info.plan.parameters[i], program))
      return loadFailed(info, "parameter " + std::to_string(i) +
                                  " of the image is not the program's: "
                                  "compile it anew");
  return Status();
}

Status LoadedProgram::loadCuda(const std::vector<std::string> &images,
                               int device) {
  Result<DeviceInfo> description = driver->device(device);
  if (!description)
    return description.status();
  if (Status status = driver->makeCurrent(device); !status)
    return status;
  multiprocessors = description->multiprocessors;
  const cuda::API &api = driver->api();
  cuda::CUdevice handle = 0;
  if (Status status = driver->check(api.deviceGet(&handle, device),
                                    "cuDeviceGet", Code::LoadFailed);
      !status)
    return status;

  for (size_t i = 0; i < images.size(); ++i) {
    const KernelInfo &info = program.kernels[i];
    cuda::CUlibrary library = nullptr;
    cuda::CUkernel kernel = nullptr;
    Kernel loaded;
    loaded.info = &info;
    const char *step = "cuLibraryLoadData";
    int result = api.loadLibraryData(&library, images[i].data(), nullptr,
                                     nullptr, 0, nullptr, nullptr, 0);
    if (result == 0) {
      step = "cuLibraryGetKernel";
      result = api.getLibraryKernel(&kernel, library, info.symbol.c_str());
    }
    const Expression &shared = info.plan.sharedBytes;
    if (result == 0 && !shared.isConstant(0)) {
      int staticShared = 0;
      step = "cuKernelGetAttribute";
      result = api.kernelGetAttribute(&staticShared, cuda::FunctionStaticShared,
                                      kernel, handle);
      // What depends on extents may be as much as there is.
      const int64_t left =
          std::max(description->sharedBytesPerBlock - staticShared, 0);
      const int64_t most = shared.isConstant() ? shared.getConstant() : left;
      if (result == 0 && most > left)
        return loadFailed(info,
                          "needs " + std::to_string(most) + " + " +
                              std::to_string(staticShared) +
                              " bytes of shared memory, the device has " +
                              std::to_string(description->sharedBytesPerBlock) +
                              ": choose a smaller schedule");
      loaded.maxSharedBytes = uint32_t(most);
    }
    if (result == 0 && loaded.maxSharedBytes > 0) {
      step = "cuKernelSetAttribute";
      result =
          api.kernelSetAttribute(cuda::FunctionMaxDynamicShared,
                                 int(loaded.maxSharedBytes), kernel, handle);
    }
    if (result == 0 && info.plan.cluster.count() > 8) {
      // What only some devices have must be asked for.
      step = "cuKernelSetAttribute";
      result = api.kernelSetAttribute(cuda::FunctionNonPortableCluster, 1,
                                      kernel, handle);
    }
    if (result == 0) {
      step = "cuKernelGetFunction";
      result = api.kernelGetFunction(&loaded.function, kernel);
    }
    if (result == 0) {
      step = "cuFuncLoad"; // Now, not lazily in the first launch.
      result = api.funcLoad(loaded.function);
    }
    if (result == cuda::ErrorNoBinaryForGPU)
      return loadFailed(info,
                        "its image, for " + program.arch +
                            ", does not run on device " +
                            std::to_string(device) + " (" + description->name +
                            "): compile it for " + description->arch,
                        result);
    if (result == cuda::ErrorInvalidImage)
      return loadFailed(
          info, "the driver cannot read its image: compile it anew", result);
    if (result != 0)
      return loadFailed(info, driver->check(result, step).message(), result);
    if (Status status = checkParameters(api, kernel, info, program); !status)
      return status;
    kernels.push_back(std::move(loaded));
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

Result<uint64_t> LoadedProgram::workspaceBytes(const Argument *arguments,
                                               size_t count) const {
  int64_t dims[MaxDims];
  LaunchShapes shapes;
  uint64_t bytes;
  if (Status status = checkShapes(arguments, count, dims); !status)
    return status;
  if (Status status = evaluatePlans(dims, shapes.each, bytes); !status)
    return status;
  return bytes;
}

Result<std::vector<LaunchShape>>
LoadedProgram::launchShapes(const Argument *arguments, size_t count) const {
  int64_t dims[MaxDims];
  std::vector<LaunchShape> shapes(kernels.size());
  uint64_t bytes;
  if (Status status = checkShapes(arguments, count, dims); !status)
    return status;
  if (Status status = evaluatePlans(dims, shapes.data(), bytes); !status)
    return status;
  return shapes;
}

Status LoadedProgram::launch(Stream stream, const Argument *arguments,
                             size_t count, Workspace workspace) const {
  int64_t dims[MaxDims];
  LaunchShapes shapes;
  uint64_t needed;
  if (Status status = checkShapes(arguments, count, dims); !status)
    return status;
  if (Status status = evaluatePlans(dims, shapes.each, needed); !status)
    return status;
  for (size_t i = 0; i < count; ++i)
    if (!arguments[i].data && !isEmpty(program.bindings[i], arguments[i]))
      return nullArgument(program, i);
  if (Status status = checkBuffers(arguments, dims, shapes.each); !status)
    return status;
  if (!suffices(workspace, needed))
    return wrongWorkspace(program, needed, workspace);
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!shapes.each[i].runs)
      continue;
    if (Status status = run(kernels[i], shapes.each[i], stream, arguments, dims,
                            workspace.data);
        !status)
      return status;
  }
  return Status();
}

void dsv4::rt::packParameters(const LaunchPlan &plan,
                              const LaunchInputs &inputs,
                              const Argument *arguments, void *workspace,
                              ParameterValue *values, void **parameters) {
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const Parameter &parameter = plan.parameters[i];
    parameters[i] = &values[i];
    switch (parameter.kind) {
    case Parameter::Kind::Buffer: {
      int64_t offset = 0;
      (void)parameter.offset.evaluate(inputs, offset); // As checkBuffer did.
      values[i].pointer = reinterpret_cast<void *>(
          reinterpret_cast<uintptr_t>(arguments[parameter.binding].data) +
          uintptr_t(offset));
      break;
    }
    case Parameter::Kind::Int32:
    case Parameter::Kind::Int64: {
      int64_t value = 0;
      (void)parameter.value.evaluate(inputs, value); // As evaluatePlans did.
      if (parameter.kind == Parameter::Kind::Int32)
        values[i].int32 = int32_t(value);
      else
        values[i].int64 = value;
      break;
    }
    case Parameter::Kind::Scalar:
      // The driver and the host copy as many bytes as the kernel's type has.
      parameters[i] = arguments[parameter.binding].data;
      break;
    case Parameter::Kind::Workspace:
      values[i].pointer = workspace;
      break;
    case Parameter::Kind::TensorMap:
      break; // load() refuses it.
    }
  }
}

void dsv4::rt::configure(const LaunchPlan &plan, const LaunchShape &shape,
                         cuda::LaunchConfig &config,
                         cuda::LaunchAttribute &attribute) {
  config.gridDimX = shape.grid.x;
  config.gridDimY = shape.grid.y;
  config.gridDimZ = shape.grid.z;
  config.blockDimX = plan.block.x;
  config.blockDimY = plan.block.y;
  config.blockDimZ = plan.block.z;
  config.sharedMemBytes = shape.sharedBytes;
  config.attributes = &attribute;
  config.numAttributes = plan.programmaticLaunch ? 1 : 0;
  if (plan.programmaticLaunch) {
    std::memset(&attribute, 0, sizeof(attribute));
    attribute.id = cuda::LaunchProgrammaticSerialization;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
}

Status dsv4::rt::launchFailed(const Driver &driver, const KernelInfo &kernel,
                              int result) {
  return Status(Code::LaunchFailed,
                "kernel '" + kernel.symbol +
                    "': " + driver.check(result, "cuLaunchKernelEx").message())
      .about("launch.failed", -1, result);
}

Status LoadedProgram::run(const Kernel &kernel, const LaunchShape &shape,
                          Stream stream, const Argument *arguments,
                          const int64_t *dims, void *workspace) const {
  const LaunchPlan &plan = kernel.info->plan;
  ParameterValue values[MaxParameters];
  void *parameters[MaxParameters];
  packParameters(plan, {dims, multiprocessors}, arguments, workspace, values,
                 parameters);
  if (kernel.host)
    return kernel.host->launch(shape.grid, plan.block, shape.sharedBytes,
                               parameters);
  cuda::LaunchAttribute attribute;
  cuda::LaunchConfig config;
  configure(plan, shape, config, attribute);
  config.stream = static_cast<cuda::CUstream>(stream);
  int result = driver->api().launchKernelEx(&config, kernel.function,
                                            parameters, nullptr);
  if (__builtin_expect(result == 0, true))
    return Status();
  return launchFailed(*driver, *kernel.info, result);
}
