//===- LoadedProgram.cpp - The launch path --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/LoadedProgram.h"

#include "CudaDriverAPI.h"

#include <cinttypes>
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

/// A resolved kernel; one of `function` and `host` is set.
struct LoadedProgram::Kernel {
  const KernelInfo *info = nullptr;
  cuda::CUfunction function = nullptr;
  std::unique_ptr<HostModule> host;
};

LoadedProgram::LoadedProgram() = default;
LoadedProgram::~LoadedProgram() = default;

//===----------------------------------------------------------------------===//
// Load
//===----------------------------------------------------------------------===//

static Status loadFailed(const KernelInfo &kernel, const std::string &what) {
  return Status(Code::LoadFailed, "kernel '" + kernel.symbol + "': " + what);
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
  bool onDevice = compiled.info.target == "cuda";
  if (onDevice ? !backend.driver : !backend.host)
    return Status(Code::InvalidArgument,
                  "program '" + name + "' is for target '" +
                      compiled.info.target +
                      "', which this backend does not run: compile it for the "
                      "other target");
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram());
  loaded->program = compiled.info;
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

/// The program's parameters must be those the image has: a launch copies
/// exactly these bytes. (Asking the driver for one more than there are would be
/// an error that memory checkers report.)
static Status checkParameters(const cuda::API &api, cuda::CUkernel kernel,
                              const KernelInfo &info) {
  size_t offset, size, expected = info.parameters.size();
  for (size_t i = 0; i < expected; ++i) {
    Parameter::Kind kind = info.parameters[i].kind;
    size_t bytes =
        kind == Parameter::Kind::Int32 || kind == Parameter::Kind::Rows ? 4 : 8;
    if (api.kernelGetParamInfo(kernel, i, &offset, &size) != 0 || size != bytes)
      return loadFailed(info, "parameter " + std::to_string(i) +
                                  " of the image is not the program's: "
                                  "compile it anew");
  }
  return Status();
}

Status LoadedProgram::loadCuda(const std::vector<std::string> &images,
                               int device) {
  Result<DeviceInfo> description = driver->device(device);
  if (!description)
    return description.status();
  if (Status status = driver->makeCurrent(device); !status)
    return status;
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
    if (result == 0 && info.sharedBytes > 0) {
      int staticShared = 0;
      step = "cuKernelGetAttribute";
      result = api.kernelGetAttribute(&staticShared, cuda::FunctionStaticShared,
                                      kernel, handle);
      const int64_t needed = int64_t(info.sharedBytes) + staticShared;
      if (result == 0 && needed > description->sharedBytesPerBlock)
        return loadFailed(info,
                          "needs " + std::to_string(needed) +
                              " bytes of shared memory, the device has " +
                              std::to_string(description->sharedBytesPerBlock) +
                              ": choose a smaller schedule");
    }
    if (result == 0 && info.sharedBytes > 0) {
      step = "cuKernelSetAttribute";
      result = api.kernelSetAttribute(cuda::FunctionMaxDynamicShared,
                                      int(info.sharedBytes), kernel, handle);
    }
    if (result == 0 && info.cluster > 8) {
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
      return loadFailed(
          info, "its image, for " + program.arch + ", does not run on device " +
                    std::to_string(device) + " (" + description->name +
                    "): compile it for " + description->arch);
    if (result == cuda::ErrorInvalidImage)
      return loadFailed(info,
                        "the driver cannot read its image: compile it anew");
    if (result != 0)
      return loadFailed(info, driver->check(result, step).message());
    if (Status status = checkParameters(api, kernel, info); !status)
      return status;
    kernels.push_back(std::move(loaded));
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Errors of a launch; out of line, so that the path without one stays short.
//===----------------------------------------------------------------------===//

[[gnu::cold, gnu::noinline]] static Status wrongArgument(const Binding &binding,
                                                         std::string what) {
  return Status(Code::InvalidArgument,
                "argument '" + binding.name + "': " + what);
}

[[gnu::cold, gnu::noinline]] static Status
wrongExtent(const ProgramInfo &program, size_t binding, size_t axis,
            int64_t value, int64_t expected) {
  const Binding &at = program.bindings[binding];
  std::string text = "extent " + std::to_string(axis) + " is " +
                     std::to_string(value) + ", expected " +
                     std::to_string(expected);
  int index = at.shape[axis].dim;
  if (index >= 0) {
    const Dim &dim = program.dims[size_t(index)];
    text += " (dim '" + dim.name + "', from extent " +
            std::to_string(dim.axis) + " of '" +
            program.bindings[size_t(dim.binding)].name + "')";
  }
  return wrongArgument(at, text);
}

[[gnu::cold, gnu::noinline]] static Status
dimOutOfRange(const ProgramInfo &program, const Dim &dim, int64_t value) {
  return wrongArgument(
      program.bindings[size_t(dim.binding)],
      "extent " + std::to_string(dim.axis) + " (dim '" + dim.name + "') is " +
          std::to_string(value) + ", compiled for 0 to " +
          std::to_string(dim.max) +
          (dim.multiple > 1 ? ", multiples of " + std::to_string(dim.multiple)
                            : ""));
}

/// The most rows of one launch: neither the last block nor the number of blocks
/// may count past 2^31 - 1.
static int64_t maxRows(const KernelInfo &kernel) {
  return std::min(int64_t(INT32_MAX) - (kernel.rowsPerBlock - 1),
                  int64_t(INT32_MAX / (kernel.cluster * kernel.parts)) *
                      kernel.rowsPerBlock);
}

[[gnu::cold, gnu::noinline]] static Status
tooManyRows(const ProgramInfo &program, const KernelInfo &kernel,
            const int64_t *dims) {
  std::string names;
  int64_t product = 1;
  bool overflow = false;
  for (const Extent &extent : kernel.rows) {
    int64_t value = extent.dim < 0 ? extent.constant : dims[extent.dim];
    names += (names.empty() ? "" : " x ") +
             (extent.dim < 0 ? std::to_string(value)
                             : program.dims[size_t(extent.dim)].name);
    overflow |= __builtin_mul_overflow(product, value, &product);
  }
  return Status(Code::InvalidArgument,
                "rows = " + names + " = " +
                    (overflow ? "2^63 or more" : std::to_string(product)) +
                    " exceeds " + std::to_string(maxRows(kernel)) +
                    ": split the launch");
}

[[gnu::cold, gnu::noinline]] static Status
wrongWorkspace(const ProgramInfo &program, uint64_t needed,
               const Workspace &workspace) {
  std::string text = "program '" + program.name + "' needs a workspace of " +
                     std::to_string(needed) + " bytes for these shapes, ";
  if (!workspace.data)
    text += "got none: pass memory that was once set to zero";
  else if (workspace.bytes < needed)
    text += "got " + std::to_string(workspace.bytes);
  else
    text += "aligned to " + std::to_string(WorkspaceAlignment);
  return Status(Code::InvalidArgument, text);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

Status LoadedProgram::checkShapes(const Argument *arguments, size_t count,
                                  int64_t *dims) const {
  size_t expected = program.bindings.size();
  if (count != expected || (expected && !arguments))
    return Status(Code::InvalidArgument,
                  "program '" + program.name + "' takes " +
                      std::to_string(expected) + " arguments, got " +
                      std::to_string(arguments ? count : 0));
  for (size_t i = 0; i < expected; ++i)
    if (!arguments[i].shape && !program.bindings[i].shape.empty())
      return wrongArgument(program.bindings[i], "has no shape");

  for (size_t i = 0; i < program.dims.size(); ++i) {
    const Dim &dim = program.dims[i];
    dims[i] = arguments[dim.binding].shape[dim.axis];
    if (dims[i] < 0 || dims[i] > dim.max || dims[i] & (dim.multiple - 1))
      return dimOutOfRange(program, dim, dims[i]);
  }

  for (size_t i = 0; i < expected; ++i) {
    const Binding &binding = program.bindings[i];
    for (size_t axis = 0; axis < binding.shape.size(); ++axis) {
      const Extent &extent = binding.shape[axis];
      int64_t required = extent.dim < 0 ? extent.constant : dims[extent.dim];
      int64_t value = arguments[i].shape[axis];
      if (value != required)
        return wrongExtent(program, i, axis, value, required);
    }
  }
  return Status();
}

Status LoadedProgram::checkMemory(const Argument *arguments) const {
  for (size_t i = 0; i < program.bindings.size(); ++i) {
    const Binding &binding = program.bindings[i];
    bool empty = false;
    for (size_t axis = 0; axis < binding.shape.size(); ++axis)
      empty |= arguments[i].shape[axis] == 0;
    if (empty)
      continue;
    if (!arguments[i].data)
      return wrongArgument(binding, "is null but not empty");
    if (reinterpret_cast<uintptr_t>(arguments[i].data) &
        (binding.alignment - 1))
      return wrongArgument(binding, "is not aligned to " +
                                        std::to_string(binding.alignment) +
                                        " bytes");
  }
  return Status();
}

/// The row count of a kernel, or -1 when it is too large for one launch.
static int64_t countRows(const KernelInfo &kernel, const int64_t *dims) {
  int64_t rows = 1;
  bool overflow = false;
  for (const Extent &extent : kernel.rows) {
    int64_t value = extent.dim < 0 ? extent.constant : dims[extent.dim];
    if (value == 0)
      return 0;
    overflow |= __builtin_mul_overflow(rows, value, &rows);
  }
  return overflow || rows > maxRows(kernel) ? -1 : rows;
}

Status LoadedProgram::countRows(const int64_t *dims, int32_t *rowCounts,
                                uint64_t &workspaceBytes) const {
  // Kernels run one after another, so they share one workspace.
  workspaceBytes = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelInfo &info = *kernels[i].info;
    int64_t rows = ::countRows(info, dims);
    if (rows < 0)
      return tooManyRows(program, info, dims);
    rowCounts[i] = int32_t(rows);
    workspaceBytes =
        std::max(workspaceBytes, uint64_t(rows) * info.workspaceBytesPerRow);
  }
  return Status();
}

Result<uint64_t> LoadedProgram::workspaceBytes(const Argument *arguments,
                                               size_t count) const {
  int64_t dims[MaxDims];
  int32_t rowCounts[MaxKernels];
  uint64_t bytes;
  if (Status status = checkShapes(arguments, count, dims); !status)
    return status;
  if (Status status = countRows(dims, rowCounts, bytes); !status)
    return status;
  return bytes;
}

Status LoadedProgram::launch(Stream stream, const Argument *arguments,
                             size_t count, Workspace workspace) const {
  int64_t dims[MaxDims];
  if (Status status = checkShapes(arguments, count, dims); !status)
    return status;
  if (Status status = checkMemory(arguments); !status)
    return status;
  int32_t rowCounts[MaxKernels];
  uint64_t needed;
  if (Status status = countRows(dims, rowCounts, needed); !status)
    return status;
  if (needed != 0 &&
      (!workspace.data || workspace.bytes < needed ||
       reinterpret_cast<uintptr_t>(workspace.data) % WorkspaceAlignment != 0))
    return wrongWorkspace(program, needed, workspace);
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (rowCounts[i] == 0)
      continue;
    if (Status status = run(kernels[i], rowCounts[i], stream, arguments, dims,
                            workspace.data);
        !status)
      return status;
  }
  return Status();
}

Status LoadedProgram::run(const Kernel &kernel, int32_t rows, Stream stream,
                          const Argument *arguments, const int64_t *dims,
                          void *workspace) const {
  const KernelInfo &info = *kernel.info;
  uint64_t grid = (uint64_t(rows) + info.rowsPerBlock - 1) / info.rowsPerBlock *
                  info.cluster * info.parts;
  union Value {
    void *pointer;
    int32_t int32;
    int64_t int64;
  };
  Value values[MaxParameters];
  void *parameters[MaxParameters];
  for (size_t i = 0; i < info.parameters.size(); ++i) {
    const Parameter &parameter = info.parameters[i];
    switch (parameter.kind) {
    case Parameter::Kind::Buffer:
      values[i].pointer = arguments[parameter.index].data;
      break;
    case Parameter::Kind::Int32:
      values[i].int32 = int32_t(dims[parameter.index]);
      break;
    case Parameter::Kind::Int64:
      values[i].int64 = dims[parameter.index];
      break;
    case Parameter::Kind::Rows:
      values[i].int32 = rows;
      break;
    case Parameter::Kind::Workspace:
      values[i].pointer = workspace;
      break;
    }
    parameters[i] = &values[i];
  }
  if (kernel.host) {
    return kernel.host->launch(grid, info.threads, info.sharedBytes,
                               parameters);
  }

  cuda::LaunchAttribute attribute;
  cuda::LaunchConfig config;
  config.gridDimX = unsigned(grid);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = info.threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = info.sharedBytes;
  config.stream = static_cast<cuda::CUstream>(stream);
  config.attributes = &attribute;
  config.numAttributes = info.programmaticLaunch ? 1 : 0;
  if (info.programmaticLaunch) {
    std::memset(&attribute, 0, sizeof(attribute));
    attribute.id = cuda::LaunchProgrammaticSerialization;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  int result = driver->api().launchKernelEx(&config, kernel.function,
                                            parameters, nullptr);
  if (__builtin_expect(result == 0, true))
    return Status();
  return Status(Code::LaunchFailed,
                "kernel '" + info.symbol + "': " +
                    driver->check(result, "cuLaunchKernelEx").message());
}
