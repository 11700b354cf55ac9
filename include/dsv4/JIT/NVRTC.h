//===- NVRTC.h - CUDA C++ text to machine code ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVRTC, opened at run time and always called the same way: the exact target,
// no cache of its own (which would start the CUDA driver), no include path. The
// same text, target and options give the same bytes in every process.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_JIT_NVRTC_H
#define DSV4_JIT_NVRTC_H

#include "dsv4-runtime/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dsv4::jit {

struct NVRTCOutput {
  std::string cubin;
  std::string ptx;
  std::string log; ///< Warnings and what ptxas says of its resources.
  // The largest of any function of the text, from the log:
  uint32_t registers = 0;   ///< Per thread.
  uint32_t spillBytes = 0;  ///< Stored per thread.
  uint32_t stackBytes = 0;  ///< Local memory, per thread.
  uint32_t sharedBytes = 0; ///< Static, per block.
};

/// Safe to use from several threads at once; compiles run in parallel.
class NVRTC {
public:
  /// The NVRTC of the process, opened by the first call and never closed.
  /// Unavailable if it is missing, with a way to get it.
  static rt::Result<NVRTC *> get();

  /// What distinguishes this NVRTC from any other, for cache keys: the GNU
  /// build-id of the library's file, or "none" without one. Reads the file's
  /// head but does not load the library, and looks once per process.
  static const std::string &identity();

  /// The file that get() opens; empty if it finds none.
  static const std::string &libraryPath();

  /// Every option of a compile, in order: nothing else reaches NVRTC, so these
  /// belong into cache keys.
  static std::vector<std::string>
  options(const std::string &arch, const std::vector<std::string> &extra = {});

  /// 13000 for 13.0.
  int version() const { return libraryVersion; }

  /// The targets it knows, as numbers: 90 for sm_90.
  const std::vector<int> &architectures() const { return archs; }

  /// Compiles one translation unit for `arch` ("sm_90a"). Messages use `name`
  /// if the text has no #line. A failure's message is the first error; the
  /// whole log goes to `log` if given, then as on success. Runs on a thread of
  /// its own, since NVRTC needs more stack than a caller may have.
  rt::Result<NVRTCOutput> compile(const std::string &source,
                                  const std::string &name,
                                  const std::string &arch,
                                  const std::vector<std::string> &extra = {},
                                  std::string *log = nullptr) const;

  struct API; ///< The entry points; private to NVRTC.cpp.
  ~NVRTC();

private:
  NVRTC();
  rt::Status open();
  rt::Status checkArch(const std::string &arch) const;

  std::unique_ptr<API> api;
  int libraryVersion = 0;
  std::vector<int> archs;
};

} // namespace dsv4::jit

#endif // DSV4_JIT_NVRTC_H
