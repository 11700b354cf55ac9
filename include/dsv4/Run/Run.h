//===- Run.h - Compile, run, check and time a program -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUN_RUN_H
#define DSV4_RUN_RUN_H

#include "dsv4/JIT/JIT.h"

#include <optional>

namespace dsv4 {

/// The options of dsv4-run.
struct RunOptions {
  std::string file;
  CompileOptions compile; ///< `dims` holds every extent that was given.
  SessionOptions session; ///< `warn` also reports repeated entries.
  std::map<std::string, std::string> inputs;  ///< Binding to .npy file.
  std::map<std::string, std::string> outputs; ///< Destination to .npy file.
  /// A folder with a file BINDING.npy for bindings that `inputs` does not name,
  /// and one that destinations not in `outputs` are written to; empty: none.
  std::string inputDirectory, outputDirectory;
  std::optional<uint64_t> randomSeed; ///< For bindings without a file.
  bool validIndices = false; ///< Of random data; else some are out of range.
  bool check = false;
  unsigned repeat = 0; ///< Timed launches; 0: none.
  /// Launches on the same inputs whose results must have equal bits.
  unsigned launches = 1;
  std::string emitDirectory;
  bool selfContained = false; ///< Each emitted kernel includes no file.
  /// Milliseconds that the compile may take; then the process ends. 0: any.
  unsigned deadline = 10 * 60 * 1000;
};

/// One kernel as it was launched.
struct RunResult {
  rt::ProgramInfo info;
  CompileReport report;
  std::map<std::string, int64_t> dims;
  std::string listingDirectory; ///< Where every level was written, or empty.
  std::string device;           ///< "NVIDIA H200", or "host".
  bool checked = false;
  std::string mismatch;  ///< First difference to the oracle, or empty.
  unsigned launches = 1; ///< That were compared with each other.
  /// First difference of a launch to the first one, or empty.
  std::string launchMismatch;
  /// Contract of every destination that is not compared exactly.
  std::map<std::string, std::string> contracts;
  uint64_t workspaceBytes = 0;
  double bytesMoved = 0;   ///< Read and written once each, by the formats.
  double microseconds = 0; ///< Per launch; 0 if not timed.
  double copyBytesPerSecond = 0; ///< Of a copy moving as many bytes, same run.
};

/// Compiles and runs a program. Errors are one line and name the argument.
rt::Result<RunResult> run(const RunOptions &options);

/// The result as a table for people, or as one JSON object.
std::string formatTable(const RunResult &result);
std::string formatJSON(const RunResult &result);

/// The whole of dsv4-run, for programs with ops of `extensions` too; returns
/// the exit status.
int runMain(int argc, char **argv,
            const std::vector<DialectExtension> &extensions = {});

} // namespace dsv4

#endif // DSV4_RUN_RUN_H
