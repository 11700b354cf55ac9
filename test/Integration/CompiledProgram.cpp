//===- CompiledProgram.cpp - A program to run many times ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/InitAll.h"
#include "dsv4/Reference/Check.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace dsv4;
using namespace dsv4::test;
using rt::Status;

Sessions::Sessions() {
  SessionOptions options;
  options.target = getTarget();
  options.cache.root = directory.path() + "/cache";
  std::vector<std::string> orders = {"reverse", "forward",
                                     "random:" + std::to_string(getSeed())};
  if (isCuda())
    orders.resize(1);
  for (const std::string &order : orders) {
    options.threadOrder = order;
    auto created = Session::create(options);
    if (!created)
      llvm::report_fatal_error(created.status().message().c_str());
    sessions.push_back(created.take());
  }
}

CompiledProgram::CompiledProgram(Sessions &sessions, std::string text,
                                 const std::string &schedule)
    : sessions(sessions), text(std::move(text)), schedule(schedule),
      programs(sessions.size()), workspaces(sessions.size()) {}

CompiledProgram::~CompiledProgram() = default;

std::string CompiledProgram::compile() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  std::string told;
  mlir::ScopedDiagnosticHandler handler(context.get(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          told += diagnostic.str() + "\n";
                                          return mlir::success();
                                        });
  module = mlir::parseSourceString<mlir::ModuleOp>(
      text, mlir::ParserConfig(context.get()));
  if (!module)
    return told;
  func = *module->getOps<mlir::func::FuncOp>().begin();
  if (failed(unifyDims(func)))
    return told;
  auto found = getSignature(func);
  if (failed(found))
    return told;
  signature = std::move(*found);
  CompileOptions options;
  options.schedule = schedule;
  for (size_t i = 0; i < sessions.size(); ++i) {
    auto compiled = sessions[i].compile(text, "test.mlir", options);
    if (!compiled)
      return compiled.status().message();
    programs[i] = *compiled;
  }
  return "";
}

size_t CompiledProgram::getKernelCount() const {
  return programs.front()->info().kernels.size();
}

unsigned CompiledProgram::find(const std::string &name) const {
  for (unsigned i = 0; i < signature.bindings.size(); ++i)
    if (signature.bindings[i].name == name)
      return i;
  llvm::report_fatal_error("a program lacks a binding that a test needs");
}

rt::Result<reference::InputSet>
CompiledProgram::makeInputs(const Dims &dims, uint64_t seed,
                            reference::Codes codes) {
  return reference::makeRandomInputs(func, dims, seed, codes);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Status CompiledProgram::launchOnDevice(Session &session,
                                       const rt::LoadedProgram &program,
                                       reference::InputSet &set,
                                       std::vector<char> &workspace,
                                       uint64_t bytes) {
  rt::Driver &driver = *session.driver();
  auto stream = driver.createStream();
  if (!stream)
    return stream.status();
  std::vector<void *> memory;
  std::vector<rt::Argument> arguments;
  Status status;
  for (size_t i = 0; i < set.bytes.size() && status; ++i) {
    auto block = driver.allocate(set.bytes[i].size());
    if (!block) {
      status = block.status();
      break;
    }
    memory.push_back(*block);
    arguments.push_back({static_cast<char *>(*block) + set.getOffset(i),
                         set.shapes[i].data(), set.getStrides(i)});
    status = driver.copyToDevice(*block, set.bytes[i].data(),
                                 set.bytes[i].size(), *stream);
  }
  auto shared = driver.allocate(workspace.size());
  if (status)
    status = shared.status();
  if (status)
    status = driver.copyToDevice(*shared, workspace.data(), workspace.size(),
                                 *stream);
  if (status)
    status = program.launch(*stream, arguments.data(), arguments.size(),
                            {*shared, bytes});
  if (status)
    status =
        driver.copyToHost(workspace.data(), *shared, workspace.size(), *stream);
  for (size_t i = 0; i < memory.size() && status; ++i)
    if (signature.bindings[i].written)
      status = driver.copyToHost(set.bytes[i].data(), memory[i],
                                 set.bytes[i].size(), *stream);
  if (status)
    status = driver.synchronize(*stream);
  if (shared)
    memory.push_back(*shared);
  for (void *block : memory)
    (void)driver.release(block);
  (void)driver.destroyStream(*stream);
  return status;
}

Status CompiledProgram::launch(reference::InputSet &set,
                               const std::vector<char> &dirt) {
  size_t index = turn++ % sessions.size();
  const rt::LoadedProgram &program = *programs[index];
  std::vector<rt::Argument> arguments;
  for (size_t i = 0; i < set.bytes.size(); ++i)
    arguments.push_back({set.bytes[i].data() + set.getOffset(i),
                         set.shapes[i].data(), set.getStrides(i)});
  auto needed = program.workspaceBytes(arguments.data(), arguments.size());
  if (!needed)
    return needed.status();
  // After what is asked for is what must not be touched.
  constexpr size_t guardBytes = 64;
  constexpr char guard = 0x5A;
  std::vector<char> &workspace = workspaces[index];
  if (workspace.size() < *needed + guardBytes)
    workspace.resize(*needed + guardBytes);
  auto after = workspace.begin() + *needed;
  std::fill(after, workspace.end(), guard);
  for (size_t i = 0; i < *needed && !dirt.empty(); ++i)
    workspace[i] = dirt[i % dirt.size()];
  Status status =
      sessions[index].driver()
          ? launchOnDevice(sessions[index], program, set, workspace, *needed)
          : program.launch(nullptr, arguments.data(), arguments.size(),
                           {workspace.data(), *needed});
  auto is = [](char value) { return [=](char c) { return c == value; }; };
  if (status && dirt.empty() && !std::all_of(workspace.begin(), after, is(0)))
    status = Status(rt::Code::LaunchFailed, "leaves its workspace not zero");
  if (status && !std::all_of(after, workspace.end(), is(guard)))
    status =
        Status(rt::Code::LaunchFailed, "writes past the end of its workspace");
  std::fill(dirt.empty() ? after : workspace.begin(), workspace.end(), 0);
  return status;
}

std::string CompiledProgram::check(const reference::InputSet &inputs,
                                   reference::InputSet *outputs) {
  reference::InputSet got = inputs, expected = inputs;
  auto oracle = reference::evaluate(func, expected.buffers());
  if (!oracle)
    return oracle.status().message();
  bool online = false;
  func.walk([&](CompressOp op) { online |= op.isOnline(); });
  for (const char *when : {"", " at the second launch"}) {
    // A segment may go on from what the first launch has left.
    if (online && *when)
      oracle = reference::evaluate(func, expected.buffers());
    if (!oracle)
      return oracle.status().message();
    if (Status status = launch(got); !status)
      return status.message();
    std::string difference =
        reference::explainDifference(*oracle, got.buffers());
    if (!difference.empty())
      return difference + when;
    for (size_t i = 0; i < got.bytes.size(); ++i)
      if (!signature.bindings[i].written && got.bytes[i] != inputs.bytes[i])
        return "'" + signature.bindings[i].name +
               "' is only read, and is written" + when;
    bool appends = false;
    for (size_t i = 0; i < got.bytes.size(); ++i)
      appends |= signature.holdsInput[i] && signature.bindings[i].written;
    if (!appends)
      break;
  }
  if (outputs)
    *outputs = std::move(got);
  return "";
}

//===----------------------------------------------------------------------===//
// Many of them
//===----------------------------------------------------------------------===//

std::string dsv4::test::checkShapes(CompiledProgram &program,
                                    const std::vector<Shape> &shapes,
                                    uint64_t seed) {
  for (const Shape &shape : shapes) {
    auto inputs = program.makeInputs(shape.dims, ++seed, shape.codes);
    std::string failure = inputs ? program.check(*inputs)
                                 : std::string(inputs.status().message());
    if (!failure.empty())
      return toText(shape.dims) + ", inputs of seed " + std::to_string(seed) +
             ": " + failure;
  }
  return "";
}

std::string dsv4::test::checkText(Sessions &sessions, const std::string &name,
                                  const std::string &text,
                                  const std::vector<Shape> &shapes,
                                  uint64_t seed, const std::string &schedule) {
  CompiledProgram program(sessions, text, schedule);
  std::string failure = program.compile();
  if (failure.empty())
    failure = checkShapes(program, shapes, seed);
  return failure.empty() ? "" : name + ": " + failure + "\n" + text;
}

std::string dsv4::test::checkSchedule(
    Sessions &sessions, const std::string &name, const std::string &text,
    const std::vector<Shape> &shapes, uint64_t seed,
    const std::string &schedule, std::atomic<unsigned> &fitted) {
  std::string failure = checkText(sessions, name, text, shapes, seed, schedule);
  for (const char *misfit : {"schedule_rows_c3: ", "schedule_window_c",
                             "schedule_c3: ", "schedule_c6: ", "schedule_c7: "})
    if (failure.find(misfit) != std::string::npos)
      return "";
  fitted += failure.empty();
  return failure.empty() ? "" : schedule + ": " + failure;
}

void dsv4::test::expectFitted(unsigned fitted, const Jobs &jobs) {
  std::printf("%u schedules fit\n", fitted);
  if (getScale() != 0) {
    EXPECT_GT(fitted, jobs.size() / 10);
  }
}

void dsv4::test::runAndCount(const Jobs &jobs) {
  runAll(jobs);
  std::printf("%zu programs\n", jobs.size());
}
