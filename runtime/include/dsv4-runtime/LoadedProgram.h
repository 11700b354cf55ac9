//===- LoadedProgram.h - The launch path ------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that is ready to run. Everything about the program that can be slow
// or fail happens in load(); launch() checks the caller's arguments, packs
// parameters on its stack and calls the driver. It does not allocate, lock,
// synchronise or read device memory unless it fails, so a launch can be
// captured into a graph.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LOADEDPROGRAM_H
#define DSV4_RUNTIME_LOADEDPROGRAM_H

#include "dsv4-runtime/Driver.h"
#include "dsv4-runtime/HostModule.h"
#include "dsv4-runtime/Program.h"
#include "dsv4-runtime/Status.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace dsv4::rt {

/// Where a program runs: `driver` and `device` for target "cuda", `host` for
/// target "host". Only the members that the target needs must be set.
struct Backend {
  Driver *driver = nullptr;
  int device = 0;
  HostModuleFactory host;
  /// Multiprocessors for persistent grids on the host; a GPU has its own
  /// number.
  int hostMultiprocessors = 4;

  static Backend cuda(Driver *driver, int device = 0);
  static Backend onHost(HostModuleFactory factory);
};

/// The argument of one binding: the address of the first element, one extent
/// per axis of the binding (null if it has none), and one stride in bytes per
/// axis (null: contiguous), all read during launch() only. The stride of an
/// axis of one element has no meaning. For a scalar it is the address of its
/// value in host memory.
struct Argument {
  void *data;
  const int64_t *shape;
  const int64_t *strides = nullptr;
};

/// Memory that the blocks of a kernel share, for programs that need some. It
/// must be zero before its first launch, and is zero again after each one, a
/// replay of a graph included. A launch that failed on the device may leave
/// other bytes. Launches that may run at the same time need one each; those of
/// one stream, of whatever programs and shapes, share one.
struct Workspace {
  void *data = nullptr; ///< Aligned to WorkspaceAlignment.
  uint64_t bytes = 0;
};

/// Immutable once loaded: any number of threads may launch it.
class LoadedProgram {
public:
  /// Loads every kernel, resolves it and sets its attributes, so that nothing
  /// of this is left to the first launch. Makes the device's context current.
  static Result<std::unique_ptr<LoadedProgram>>
  load(const CompiledProgram &program, const Backend &backend);

  /// Kernels on a GPU stay loaded: a graph may hold them, and unloading would
  /// break a capture in progress.
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram &) = delete;
  LoadedProgram &operator=(const LoadedProgram &) = delete;

  /// Launches the kernels in order, one argument per binding in order. On a GPU
  /// the context of the backend's device must be current on this thread; on the
  /// host `stream` is ignored and the work is done when launch() returns. All
  /// checks come before the first kernel; a kernel whose condition does not
  /// hold, or whose grid has an extent of 0, is skipped. A workspace that is
  /// smaller than workspaceBytes() of these arguments is refused.
  Status launch(Stream stream, const Argument *arguments, size_t count,
                Workspace workspace = {}) const;

  /// The workspace of a launch with arguments of these shapes, or 0. Their data
  /// is not read and may be null.
  Result<uint64_t> workspaceBytes(const Argument *arguments,
                                  size_t count) const;

  /// How each kernel would be launched with arguments of these shapes, for
  /// tools.
  Result<std::vector<LaunchShape>> launchShapes(const Argument *arguments,
                                                size_t count) const;

  const ProgramInfo &info() const { return program; }

  struct Kernel; ///< Private to the runtime.

private:
  friend class BoundLaunch;

  LoadedProgram();
  Status loadCuda(const std::vector<std::string> &images, int device);
  Status loadHost(const std::vector<std::string> &images,
                  const HostModuleFactory &factory);
  Status checkShapes(const Argument *arguments, size_t count,
                     int64_t *dims) const;
  /// Checks the buffers of the kernels that run.
  Status checkBuffers(const Argument *arguments, const int64_t *dims,
                      const LaunchShape *shapes) const;
  Status checkBuffer(const Parameter &parameter, const Argument &argument,
                     const LaunchInputs &inputs) const;
  /// Evaluates the plan of every kernel; the largest workspace is that of the
  /// program.
  Status evaluatePlans(const int64_t *dims, LaunchShape *shapes,
                       uint64_t &workspaceBytes) const;
  Status run(const Kernel &kernel, const LaunchShape &shape, Stream stream,
             const Argument *arguments, const int64_t *dims,
             void *workspace) const;

  ProgramInfo program;
  /// Whether each binding has strides, or extents whose bytes may not fit 63
  /// bits: what a launch checks even if the argument has no strides.
  std::vector<bool> needsStrideCheck;
  PlanNames names;
  std::vector<Kernel> kernels;
  Driver *driver = nullptr;
  int64_t multiprocessors = 0;
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_LOADEDPROGRAM_H
