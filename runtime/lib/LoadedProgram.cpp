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
// Errors of a launch; out of line, so that the path without one stays short.
//===----------------------------------------------------------------------===//

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
  return wrongArgument(program, binding, "argument.extent", text);
}

[[gnu::cold, gnu::noinline]] static Status
dimOutOfRange(const ProgramInfo &program, const Dim &dim, int64_t value) {
  return wrongArgument(
      program, size_t(dim.binding), "argument.extent",
      "extent " + std::to_string(dim.axis) + " (dim '" + dim.name + "') is " +
          std::to_string(value) + ", compiled for 0 to " +
          std::to_string(dim.max) +
          (dim.multiple > 1 ? ", multiples of " + std::to_string(dim.multiple)
                            : ""));
}

Status dsv4::rt::misaligned(const ProgramInfo &program, size_t index,
                            uintptr_t address, uint32_t alignment,
                            int64_t offset) {
  const Binding &binding = program.bindings[index];
  std::string text = "is at an address aligned to " +
                     std::to_string(address & (~address + 1)) + " bytes" +
                     (offset ? " at byte " + std::to_string(offset) +
                                   ", where a slice of it begins"
                             : "") +
                     ", expected " + std::to_string(alignment) +
                     ": pass memory that is aligned so";
  // An element has to be aligned to its own size in any program.
  if (int64_t(alignment) > getByteSize(binding.storage))
    text += binding.strides.empty()
                ? ", or compile with 'dsv4.strides' of this argument, and a "
                  "smaller 'align' in it"
                : ", or compile with a smaller 'align' in 'dsv4.strides'";
  return wrongArgument(program, index, "argument.alignment", text);
}

[[gnu::cold, gnu::noinline]] static Status wrongPlan(const ProgramInfo &program,
                                                     const PlanNames &names,
                                                     const LaunchInputs &inputs,
                                                     const KernelInfo &kernel,
                                                     const Status &status) {
  bool holds = true;
  const Comparison *failed = nullptr;
  Fault fault = kernel.plan.requirements.evaluate(inputs, holds, failed);
  // An extent that another one bounds: that of an argument is wrong.
  if (fault == Fault::None && !holds && failed->op == Comparison::Op::Le)
    for (size_t i = 0; i < program.dims.size(); ++i)
      if (failed->rhs == Expression::extent(unsigned(i))) {
        const Dim &dim = program.dims[i];
        int64_t least = 0;
        (void)failed->lhs.evaluate(inputs, least);
        return wrongArgument(
            program, size_t(dim.binding), "argument.extent",
            "extent " + std::to_string(dim.axis) + " (dim '" + dim.name +
                "') is " + std::to_string(inputs.extents[i]) +
                ", expected at least " + std::to_string(least) +
                (failed->lhs.isConstant() ? ""
                                          : ", " + failed->lhs.print(names)));
      }
  return Status(status.code(),
                "kernel '" + kernel.symbol + "': " + status.message())
      .about("launch.plan");
}

/// That a slice is not part of its argument.
[[gnu::cold, gnu::noinline]] static Status
beyondArgument(const ProgramInfo &program, size_t index, Fault fault,
               const Comparison *failed, const LaunchInputs &inputs,
               const PlanNames &names) {
  if (fault != Fault::None)
    return wrongArgument(program, index, "argument.overflow",
                         "the end of a slice of it is 2^63 or more: pass "
                         "smaller extents");
  int64_t end = 0, extent = 0;
  (void)failed->lhs.evaluate(inputs, end);
  (void)failed->rhs.evaluate(inputs, extent);
  return wrongArgument(program, index, "argument.extent",
                       "a slice of it needs " + failed->print(names) +
                           ", but ends at " + std::to_string(end) + " of " +
                           std::to_string(extent) + ": pass a larger argument");
}

[[gnu::cold, gnu::noinline]] static Status
tooMuchShared(const KernelInfo &kernel, uint32_t needed, uint32_t most) {
  return Status(Code::InvalidArgument,
                "kernel '" + kernel.symbol + "' needs " +
                    std::to_string(needed) +
                    " bytes of dynamic shared memory for these shapes, "
                    "expected at most " +
                    std::to_string(most))
      .about("launch.shared_memory");
}

Status dsv4::rt::wrongWorkspace(const ProgramInfo &program, uint64_t needed,
                                const Workspace &workspace) {
  std::string text = "program '" + program.name + "' needs a workspace of " +
                     std::to_string(needed) + " bytes for these shapes, ";
  if (!workspace.data)
    text += "got none: pass memory that was once set to zero";
  else if (workspace.bytes < needed)
    text += "got " + std::to_string(workspace.bytes);
  else
    text += "aligned to " + std::to_string(WorkspaceAlignment);
  return Status(Code::InvalidArgument, text).about("workspace");
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
                      std::to_string(arguments ? count : 0))
        .about("argument.count");
  for (size_t i = 0; i < expected; ++i)
    if (!arguments[i].shape && !program.bindings[i].shape.empty())
      return wrongArgument(program, i, "argument.null", "has no shape");

  for (size_t i = 0; i < program.dims.size(); ++i) {
    const Dim &dim = program.dims[i];
    if (dim.isStride)
      continue;
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
    if (arguments[i].strides || needsStrideCheck[i])
      if (Status status = checkStrides(program, i, arguments[i], dims); !status)
        return status;
  }
  return Status();
}

static bool isEmpty(const Binding &binding, const Argument &argument) {
  for (size_t axis = 0; axis < binding.shape.size(); ++axis)
    if (argument.shape[axis] == 0)
      return true;
  return false;
}

/// Checks that a buffer is part of its argument, and aligned as its kernel
/// requires.
Status LoadedProgram::checkBuffer(const Parameter &parameter,
                                  const Argument &argument,
                                  const LaunchInputs &inputs) const {
  const size_t index = size_t(parameter.binding);
  int64_t offset = 0;
  if (!parameter.offset.isConstant(0) ||
      !parameter.within.comparisons.empty()) {
    bool holds;
    const Comparison *failed = nullptr;
    Fault fault = parameter.within.evaluate(inputs, holds, failed);
    if (fault != Fault::None || !holds)
      return beyondArgument(program, index, fault, failed, inputs, names);
    fault = parameter.offset.evaluate(inputs, offset);
    if (fault != Fault::None)
      return beyondArgument(program, index, fault, nullptr, inputs, names);
  }
  const uintptr_t address =
      reinterpret_cast<uintptr_t>(argument.data) + uintptr_t(offset);
  if ((address & (parameter.alignment - 1)) &&
      !isEmpty(program.bindings[index], argument))
    return misaligned(program, index, address, parameter.alignment, offset);
  return Status();
}

/// Checks that non-empty arguments have memory, as the kernels of this launch
/// require.
Status LoadedProgram::checkMemory(const Argument *arguments,
                                  const int64_t *dims,
                                  const LaunchShape *shapes) const {
  const LaunchInputs inputs = {dims, multiprocessors};
  for (size_t i = 0; i < program.bindings.size(); ++i)
    if (!arguments[i].data && !isEmpty(program.bindings[i], arguments[i]))
      return wrongArgument(program, i, "argument.null",
                           program.bindings[i].scalar
                               ? "is null: pass the address of its value"
                               : "is null but not empty");
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!shapes[i].runs)
      continue;
    for (const Parameter &parameter : kernels[i].info->plan.parameters)
      if (parameter.kind == Parameter::Kind::Buffer)
        if (Status status =
                checkBuffer(parameter, arguments[parameter.binding], inputs);
            !status)
          return status;
  }
  return Status();
}

Status LoadedProgram::evaluatePlans(const int64_t *dims, LaunchShape *shapes,
                                    uint64_t &workspaceBytes) const {
  const LaunchInputs inputs = {dims, multiprocessors};
  // Kernels run one after another, so they share one workspace.
  workspaceBytes = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Kernel &kernel = kernels[i];
    if (Status status = kernel.info->plan.evaluate(inputs, names, shapes[i]);
        !status)
      return wrongPlan(program, names, inputs, *kernel.info, status);
    if (shapes[i].sharedBytes > kernel.maxSharedBytes)
      return tooMuchShared(*kernel.info, shapes[i].sharedBytes,
                           kernel.maxSharedBytes);
    workspaceBytes = std::max(workspaceBytes, shapes[i].workspaceBytes);
  }
  return Status();
}

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
  if (Status status = checkMemory(arguments, dims, shapes.each); !status)
    return status;
  if (needed != 0 &&
      (!workspace.data || workspace.bytes < needed ||
       reinterpret_cast<uintptr_t>(workspace.data) % WorkspaceAlignment != 0))
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
