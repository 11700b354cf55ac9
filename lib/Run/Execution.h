//===- Execution.h - Launches on either target, with its memory -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUN_EXECUTION_H
#define DSV4_RUN_EXECUTION_H

#include "dsv4/JIT/JIT.h"
#include "dsv4/Testing/RandomInputs.h"

namespace dsv4 {

/// Launches of one program over one set of buffers: copies them to the device,
/// and what was written back.
class Execution {
public:
  Execution(Session &session, const rt::LoadedProgram &program,
            reference::InputSet &buffers)
      : session(session), program(program), buffers(buffers) {}
  ~Execution();

  rt::Status prepare();
  /// Of the workspace that the launches share.
  uint64_t getWorkspaceBytes() const { return workspace.bytes; }
  /// Launches once and brings the destinations back.
  rt::Status launchOnce();
  /// Puts `bytes`, by binding, back where the program has written.
  rt::Status restore(const std::map<unsigned, std::vector<char>> &bytes);
  /// Seconds a launch takes: on a GPU, of `count` launches in one graph; on the
  /// host target, by the wall clock.
  rt::Result<double> time(unsigned count);
  /// Bytes read plus written a second by a copy that moves `bytes`.
  rt::Result<double> timeCopy(double bytes);
  const std::string &getDeviceName() const { return deviceName; }

private:
  /// Allocates the workspace, and sets it to zero once for all launches.
  rt::Status prepareWorkspace();
  rt::Status launch(rt::Stream stream);
  /// Seconds from a graph of `count` times `body`.
  rt::Result<double>
  timeGraph(unsigned count, const std::function<rt::Status(rt::Stream)> &body);

  Session &session;
  const rt::LoadedProgram &program;
  reference::InputSet &buffers;
  std::vector<void *> memory; ///< On the device; of `buffers` on the host.
  std::vector<rt::Argument> arguments;
  rt::Workspace workspace;
  std::vector<char> hostWorkspace;
  rt::Stream stream = nullptr;
  std::string deviceName = "host";
};

} // namespace dsv4

#endif // DSV4_RUN_EXECUTION_H
