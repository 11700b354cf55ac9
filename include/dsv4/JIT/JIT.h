//===- JIT.h - Compile, cache and launch programs ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The C++ interface of dsv4. A Session holds a target, the caches and compiled
// programs. compile() turns the text of a program into a launchable kernel:
//
//   auto session = dsv4::Session::create({});
//   auto kernel = (*session)->compile(text, "gather.mlir", {"gather_kv",
//   dims});
//   (*kernel)->launch(stream, arguments, count);
//
// A hit in a cache needs neither MLIR nor NVRTC. Nothing in launch() allocates,
// locks, synchronises or compiles.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_JIT_JIT_H
#define DSV4_JIT_JIT_H

#include "dsv4-runtime/DiskCache.h"
#include "dsv4-runtime/LoadedProgram.h"
#include "dsv4/Target/CUDA/Prelude.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace dsv4 {

/// Dialects of the caller's own ops (docs/AddingAnOp.md).
struct DialectExtension {
  /// The version of their lowering, a part of the cache key: kernels of another
  /// version are not used.
  std::string identity;
  std::function<void(mlir::DialectRegistry &)> registerDialects;
  /// The device code that their ops call (docs/TileSources.md), which goes
  /// after the device library into every kernel that needs it. A part of the
  /// cache key, too.
  std::vector<rt::DeviceFile> deviceFiles = {};
};

/// Where programs run. Auto: the GPU if one exists, else the host target.
enum class TargetKind { Auto, Cuda, Host };

struct SessionOptions {
  TargetKind target = TargetKind::Auto;
  /// Architecture to compile for; empty: that of the device, "sm_90a" on the
  /// host target (it selects schedules there, and nothing else).
  std::string arch;
  int device = 0;
  rt::DiskCacheOptions cache;
  /// Order of threads on the host target: forward, reverse or random:SEED.
  std::string threadOrder = "forward";
  /// Receives a line for each launch on the host target that skipped accesses
  /// out of range, such as entries beyond a pool.
  std::function<void(const std::string &)> warn;
};

struct CompileOptions {
  /// The function to compile; empty: the only one of the program.
  std::string entry;
  /// Extents of exact dims, and bounds of buckets (powers of two), as
  /// getCompileDims computes them. Other extents give the same kernels under
  /// more keys: the policies are in the program, which a hit does not parse.
  std::map<std::string, int64_t> dims;
  /// A #dsv4.schedule<...> for every kernel; empty: from the table.
  std::string schedule;
  /// A schedule table file; empty: the built-in one.
  std::string table;
  /// Kernels print accesses out of range, which they skip. The host target
  /// always reports them to `SessionOptions::warn`.
  bool checks = false;
  /// Machine code names the lines of its source, for the tools of CUDA.
  bool lineInfo = false;
  /// Dialects that the program uses beside dsv4's. Every identity is non-empty.
  std::vector<DialectExtension> extensions;
};

/// Text of a program at every level, for people.
struct Listing {
  /// Name and text: "00-input.mlir", ..., in order.
  std::vector<std::pair<std::string, std::string>> files;
};

/// What a listing has of the device library.
enum class ListingForm {
  None,          ///< There is no listing.
  Including,     ///< A file that every kernel includes.
  SelfContained, ///< In each kernel, the parts that it calls.
};

/// What a compile did. Times in milliseconds.
struct CompileReport {
  enum class Origin { Memory, Disk, Compiled };
  Origin origin = Origin::Compiled;
  std::string key;       ///< Hex digest.
  std::string entryPath; ///< The cache file, if there is a disk cache.
  /// Whether another process made the same entry meanwhile.
  bool waited = false;
  /// Whether one did not come to an end, and was passed by.
  bool passedBy = false;
  double lookup = 0;  ///< Key and caches, and the wait.
  double passes = 0;  ///< Parsing, passes and printing.
  double backend = 0; ///< NVRTC, or the system compiler.
  double load = 0;    ///< Until launchable.
  /// Filled when something was compiled and a listing was asked for.
  Listing listing;
};

class Session {
public:
  static rt::Result<std::unique_ptr<Session>>
  create(const SessionOptions &options);
  ~Session();

  /// The launchable program; it lives as long as the session. Fills in
  /// `report`, if given. With a listing it compiles even on a hit, to list
  /// every level. Safe from several threads.
  rt::Result<const rt::LoadedProgram *> compile(const std::string &source,
                                                const std::string &sourceName,
                                                const CompileOptions &options,
                                                CompileReport *report = nullptr,
                                                ListingForm form = {});

  /// "cuda" or "host".
  const std::string &target() const;
  const std::string &arch() const;
  /// The driver, or null on the host target.
  rt::Driver *driver() const;
  rt::DiskCache &diskCache();

private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Turns extents of any dims in `options.dims` into those that belong there:
/// exact dims, and bounds of buckets. A name that the program does not have is
/// an error. Parses the program, so call it when an engine starts.
rt::Result<std::map<std::string, int64_t>>
getCompileDims(const std::string &source, const std::string &sourceName,
               const CompileOptions &options);

/// Compiles a program without loading it, or takes it from the disk cache.
/// Needs no device: `target` is "cuda" or "host", and `arch` what to compile
/// for. The report's key is that of the entry.
rt::Result<rt::CompiledProgram>
compileProgram(const std::string &source, const std::string &sourceName,
               const CompileOptions &options, const std::string &target,
               const std::string &arch, rt::DiskCache &cache,
               CompileReport *report = nullptr);

/// The canonical text of a cache key: the program, its dims, schedule, target,
/// and the digests of compiler, device library and back end.
std::string getCacheKeyText(const std::string &source,
                            const CompileOptions &options,
                            const std::string &target, const std::string &arch);

/// What became one kernel, and what did not.
struct FormedKernel {
  std::string symbol;
  std::vector<std::string> ops;            ///< Their names, in order.
  std::vector<std::string> unfusedReasons; ///< Why others are not among them.
};

/// How ops became kernels, and kernels launches, for people.
struct FusionDecisions {
  std::vector<FormedKernel> kernels; ///< Before any of them are joined.
  std::vector<std::string> launches; ///< Which share a launch, or why not.
};

/// Emits the program without compiling it: its launch plan and the text of
/// every kernel. `target` is "cuda" or "host". Fills in `decisions`, if given.
struct EmittedProgram {
  rt::ProgramInfo info;
  std::vector<std::string> texts; ///< One per kernel; compiled after a prelude.
  /// Files of the device library and of extensions that each kernel calls.
  std::vector<std::vector<std::string>> headers;
  /// All files of extensions.
  std::vector<rt::DeviceFile> deviceFiles;
  Listing listing; ///< Filled when one was asked for.
};
rt::Result<EmittedProgram>
emitProgram(const std::string &source, const std::string &sourceName,
            const CompileOptions &options, const std::string &target,
            const std::string &arch, ListingForm form = {},
            FusionDecisions *decisions = nullptr);

} // namespace dsv4

#endif // DSV4_JIT_JIT_H
