//===- Run.cpp - Compile, run, check and time a program ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Run/Run.h"

#include "Execution.h"
#include "Launches.h"
#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Dialect/RecordLayout.h"
#include "dsv4/InitAll.h"
#include "dsv4/Reference/Check.h"
#include "dsv4/Reference/Interpreter.h"
#include "dsv4/Signature.h"
#include "dsv4/Support/Diagnostics.h"
#include "dsv4/Support/Files.h"
#include "dsv4/Support/Npy.h"
#include "dsv4/Support/ParseProgram.h"
#include "dsv4/Support/Watchdog.h"
#include "dsv4/Testing/RandomInputs.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace dsv4;
using rt::Code;
using rt::Result;
using rt::Status;

namespace {

/// Everything about one run, in the order it comes to be known.
class Runner {
public:
  explicit Runner(const RunOptions &options) : options(options) {}
  Result<RunResult> run();

private:
  Status readProgram();
  /// The file of every input and output: named, or in a folder.
  Status findFiles();
  Status readInputs();
  Status checkOutputs();
  /// Extents of all dims: given, or read off the inputs.
  Status resolveDims();
  Status fillBuffers();
  Status compile();
  void warnOfOutOfRange();
  Status execute();
  /// Launches again, from what destinations held before the first launch.
  Status relaunch(Execution &execution,
                  const std::map<unsigned, std::vector<char>> &initial);
  Status check();
  Status writeOutputs();
  /// What the run reads from the file `path`, except input `except`, or an
  /// empty string.
  std::string explainRead(const std::string &path,
                          const std::string &except) const;
  Status writeListing();
  double countBytes();
  int findBinding(const std::string &name) const;

  const RunOptions &options;
  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;
  std::string source;
  Signature signature;
  std::map<std::string, std::string> inputs, outputs; ///< Binding to file.
  std::map<std::string, NpyArray> files;
  std::map<std::string, int64_t> dims;
  reference::InputSet buffers;
  /// What caches that the program writes held before it ran, by binding.
  std::map<unsigned, std::vector<char>> before;
  /// What appends are given that they promise not to be given.
  std::vector<std::string> sharedEntries;
  std::unique_ptr<Session> session;
  const rt::LoadedProgram *program = nullptr;
  RunResult result;
};

} // namespace

static Status invalid(const std::string &message) {
  return Status(Code::InvalidArgument, message);
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

Status Runner::readProgram() {
  auto text = readFile(options.file, kMaxProgramBytes);
  if (!text)
    return text.status();
  source = text.take();
  registerAllDialects(registry);
  for (const dsv4::DialectExtension &extension : options.compile.extensions)
    extension.registerDialects(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  FirstError error(context.get());
  module = parseProgram(source, options.file, context.get());
  if (!module)
    return error.status(Code::InvalidArgument);
  auto entry = findEntry(*module, options.compile.entry);
  if (!entry)
    return entry.status();
  func = *entry;
  if (failed(unifyDims(func)))
    return error.status(Code::InvalidArgument);
  auto found = getSignature(func);
  if (failed(found))
    return error.status(Code::InvalidArgument);
  signature = std::move(*found);
  return Status();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

int Runner::findBinding(const std::string &name) const {
  for (auto [i, binding] : llvm::enumerate(signature.bindings))
    if (binding.name == name)
      return i;
  return -1;
}

/// The dtype of a .npy file of `binding`, whose shape counts such elements. The
/// array of a cache field is bound as bytes, but its elements have a type.
static StringRef getDtype(const rt::Binding &binding) {
  switch (binding.storage) {
  case rt::Storage::U8:
    return llvm::StringSwitch<StringRef>(binding.element)
        .Case("f32", "f4")
        .Case("i32", "i4")
        .Case("bf16", "u2")
        .Case("f16", "f2")
        .Default("u1");
  case rt::Storage::U16:
    return binding.element == "f16"   ? "f2"
           : binding.element == "i16" ? "i2"
                                      : "u2";
  case rt::Storage::I32:
    return binding.element == "ui32" ? "u4" : "i4";
  case rt::Storage::F32:
    return "f4";
  case rt::Storage::I64:
    return "i8";
  }
  return "";
}

/// Elements of `binding`'s last axis that one element of its file stands for:
/// more than one where the file has numbers and the binding bytes.
static int64_t getFileElementBytes(const rt::Binding &binding) {
  if (binding.storage != rt::Storage::U8)
    return 1;
  return llvm::StringSwitch<int64_t>(getDtype(binding))
      .Cases({"f4", "i4"}, 4)
      .Cases({"u2", "f2"}, 2)
      .Default(1);
}

static std::string describeDtype(const rt::Binding &binding) {
  return (getNumpyName(getDtype(binding)) + " (" + binding.element + ")").str();
}

std::string Runner::explainRead(const std::string &path,
                                const std::string &except) const {
  auto isFile = [&](const std::string &other) {
    bool same = false;
    return !llvm::sys::fs::equivalent(path, other, same) && same;
  };
  if (isFile(options.file))
    return "the program";
  if (!options.compile.table.empty() && isFile(options.compile.table))
    return "the schedule table";
  for (const auto &[input, source] : inputs)
    if (input != except && isFile(source))
      return "the file of input '" + input + "'";
  return "";
}

/// The file of binding `name` in `folder`. Names are identifiers, as verifiers
/// demand, with dots between them.
static std::string getFileIn(const std::string &folder,
                             const std::string &name) {
  return folder + "/" + name + ".npy";
}

Status Runner::findFiles() {
  inputs = options.inputs;
  outputs = options.outputs;
  using llvm::sys::fs::is_directory;
  if (!options.inputDirectory.empty() && !is_directory(options.inputDirectory))
    return invalid(
        "--inputs: '" + options.inputDirectory +
        "' is not a folder; expected one with a file ARG.npy for each "
        "argument that is not random");
  if (!options.outputDirectory.empty()) {
    std::error_code error =
        llvm::sys::fs::create_directories(options.outputDirectory);
    if (!error && !is_directory(options.outputDirectory))
      error = std::make_error_code(std::errc::not_a_directory);
    if (error)
      return invalid("--outputs: '" + options.outputDirectory +
                     "': " + error.message());
  }
  for (const rt::Binding &binding : signature.bindings) {
    if (!options.inputDirectory.empty()) {
      std::string path = getFileIn(options.inputDirectory, binding.name);
      if (llvm::sys::fs::exists(path))
        inputs.try_emplace(binding.name, path);
    }
    if (!options.outputDirectory.empty() && binding.written) {
      outputs.try_emplace(binding.name,
                          getFileIn(options.outputDirectory, binding.name));
    }
  }
  return Status();
}

Status Runner::readInputs() {
  std::string names;
  for (const rt::Binding &binding : signature.bindings)
    names += (names.empty() ? "" : ", ") + binding.name;
  for (const auto &[name, path] : inputs) {
    int index = findBinding(name);
    if (index < 0)
      return invalid("input '" + name +
                     "': the program has no such argument "
                     "(it has " +
                     names + ")");
    auto array = readNpy(path);
    if (!array)
      return invalid("input '" + name + "': " + array.status().message());
    const rt::Binding &binding = signature.bindings[index];
    // Bytes are taken for elements of any type.
    bool isBytes = binding.storage == rt::Storage::U8 && array->dtype == "u1";
    if (array->dtype != getDtype(binding) && !isBytes)
      return invalid("input '" + name + "': " + path + " holds " +
                     getNumpyName(array->dtype).str() + ", expected " +
                     describeDtype(binding));
    if (array->shape.size() != binding.shape.size())
      return invalid("input '" + name + "': " + path + " has rank " +
                     std::to_string(array->shape.size()) + ", expected " +
                     std::to_string(binding.shape.size()));
    if (!isBytes && !array->shape.empty())
      array->shape.back() *= getFileElementBytes(binding);
    files[name] = array.take();
  }
  return Status();
}

Status Runner::checkOutputs() {
  std::string written;
  for (const rt::Binding &binding : signature.bindings)
    if (binding.written)
      written += (written.empty() ? "" : ", ") + binding.name;
  std::map<std::string, std::string> taken;
  for (const auto &[name, path] : outputs) {
    int index = findBinding(name);
    if (index < 0 || !signature.bindings[index].written)
      return invalid(
          "output '" + name +
          "': the program writes no argument of that name (it writes " +
          written + ")");
    if (Status status = checkWritable(path); !status)
      return invalid("output '" + name + "': " + status.message());
    // An argument that is written in place may go to its input file.
    if (std::string read = explainRead(path, /*except=*/name); !read.empty())
      return invalid("output '" + name + "': " + path + " is " + read);
    if (auto [other, isNew] = taken.try_emplace(canonicalPath(path), name);
        !isNew)
      return invalid("output '" + name + "': " + path +
                     " is the file of output '" + other->second + "'");
  }
  return Status();
}

Status Runner::resolveDims() {
  std::map<std::string, std::string> givenBy;
  if (Status status = checkDims(func, signature, options.compile.dims); !status)
    return status;
  for (const auto &[name, extent] : options.compile.dims) {
    dims[name] = extent;
    givenBy[name] = "--dim";
  }
  for (const auto &[name, array] : files) {
    const rt::Binding &binding = signature.bindings[findBinding(name)];
    for (auto [axis, extent] : llvm::enumerate(binding.shape)) {
      int64_t value = array.shape[axis];
      int64_t expected = extent.constant;
      std::string dim;
      if (extent.dim >= 0) {
        dim = signature.dims[extent.dim].name;
        expected = dims.try_emplace(dim, value).first->second;
        givenBy.try_emplace(dim, "input '" + name + "'");
      }
      if (value != expected)
        return invalid(
            "input '" + name + "': extent " + std::to_string(axis) + " is " +
            std::to_string(value) + ", expected " + std::to_string(expected) +
            (dim.empty() ? ""
                         : " (dim '" + dim + "', from " + givenBy[dim] + ")"));
    }
  }
  for (const rt::Dim &dim : signature.dims)
    if (!dims.count(dim.name) && !dim.isStride)
      return invalid("dim '" + dim.name + "' (extent " +
                     std::to_string(dim.axis) + " of argument '" +
                     signature.bindings[dim.binding].name +
                     "') is not known: give --dim " + dim.name +
                     "=N or the argument as --input");
  return Status();
}

Status Runner::fillBuffers() {
  for (auto [binding, holdsInput] :
       llvm::zip(signature.bindings, signature.holdsInput))
    if (holdsInput && !files.count(binding.name) && !options.randomSeed)
      return invalid("argument '" + binding.name + "': give --input " +
                     binding.name + "=FILE.npy, or --random=SEED");
  auto made = reference::makeRandomInputs(
      func, dims, options.randomSeed.value_or(0), reference::Codes::NoNaN,
      options.validIndices ? reference::Indices::Valid
                           : reference::Indices::All);
  if (!made)
    return made.status();
  buffers = made.take();
  for (auto &[name, array] : files) {
    int index = findBinding(name);
    buffers.shapes[index] = array.shape;
    buffers.setElements(index, signature.bindings[index], array.bytes);
  }
  for (auto [i, binding] : llvm::enumerate(signature.bindings))
    if (binding.written && signature.holdsInput[i])
      before[i] = buffers.bytes[i];
  sharedEntries = reference::findSharedEntries(func, buffers.buffers());
  if (options.session.warn)
    for (const std::string &line : sharedEntries)
      options.session.warn(line);
  return Status();
}

//===----------------------------------------------------------------------===//
// Compile and execute
//===----------------------------------------------------------------------===//

Status Runner::compile() {
  auto created = Session::create(options.session);
  if (!created)
    return created.status();
  session = created.take();
  CompileOptions compile = options.compile;
  compile.entry = func.getName().str();
  compile.dims = selectDims(func, dims);
  Watchdog::Options watch;
  watch.deadline = std::chrono::milliseconds(options.deadline);
  watch.message = "dsv4-run: error: program '" + options.file +
                  "' was not compiled within " +
                  std::to_string(options.deadline) +
                  " ms: simplify it, or give a longer --deadline\n";
  const Watchdog watchdog(std::move(watch));
  auto compiled =
      session->compile(source, options.file, compile, &result.report,
                       options.emitDirectory.empty() ? ListingForm::None
                       : options.selfContained ? ListingForm::SelfContained
                                               : ListingForm::Including);
  if (!compiled)
    return compiled.status();
  program = *compiled;
  result.info = program->info();
  result.dims = dims;
  return Status();
}

/// Whether a binding is the cache argument `name`, or an array field of it.
static bool isOf(const rt::Binding &binding, const std::string &name) {
  return binding.name == name ||
         StringRef(binding.name).starts_with(name + ".");
}

/// The argument that `value` is, or is written to; null where it stays in a
/// kernel.
static BlockArgument findArgument(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!op)
      return {};
    value = op.getTiedOpOperand(result)->get();
  }
  return cast<BlockArgument>(value);
}

double Runner::countBytes() {
  double bytes = 0;
  for (auto [i, binding] : llvm::enumerate(signature.bindings)) {
    bool isCache = llvm::any_of(func.getArguments(), [&](BlockArgument arg) {
      return isa<CacheType>(arg.getType()) &&
             isOf(binding, getArgumentName(func, arg.getArgNumber()));
    });
    if (!isCache)
      bytes += reference::getByteSize(binding, buffers.shapes[i]).value_or(0);
  }
  auto addEntries = [&](Value rowsOf, int64_t axes, CacheType cache) {
    BlockArgument argument = findArgument(rowsOf);
    if (!argument)
      return;
    double rows = 1;
    for (int64_t extent :
         ArrayRef(buffers.shapes[signature.getBinding(argument.getArgNumber())])
             .take_front(axes))
      rows *= extent;
    bytes += rows * getLayout(cache).getRecordBytes();
  };
  func.walk([&](PagedGatherOp op) {
    // Of ragged requests, at most one entry per row.
    Value rows = op.isRagged() ? op.getRowOperand() : op.getIndices();
    addEntries(rows, op.getRowRank(), op.getCache().getType());
  });
  func.walk([&](PagedAppendOp op) {
    addEntries(op.getIndices(), 1, op.getCache().getType());
  });
  func.walk([&](CompressOp op) {
    if (!op.isOnline())
      return;
    // Read, and written.
    BlockArgument plan = findArgument(op.getPlan());
    if (!plan)
      return;
    double segments =
        buffers.shapes[signature.getBinding(plan.getArgNumber())].front();
    bytes += 2 * segments * getLayout(op.getState().getType()).getRecordBytes();
  });
  return bytes;
}

/// The host target has the data that kernels read.
void Runner::warnOfOutOfRange() {
  if (session->target() != "host" || !options.session.warn)
    return;
  for (const std::string &line :
       reference::findOutOfRangeIndices(func, buffers.buffers()))
    options.session.warn(line);
}

Status Runner::relaunch(Execution &execution,
                        const std::map<unsigned, std::vector<char>> &initial) {
  reference::InputSet results = buffers;
  reference::InputSet first = makeComparable(func, signature, results);
  for (result.launches = 2; result.launches <= options.launches;
       ++result.launches) {
    if (Status status = execution.restore(initial); !status)
      return status;
    if (Status status = execution.launchOnce(); !status)
      return status;
    reference::InputSet again = makeComparable(func, signature, buffers);
    std::string why = explainLaunch(signature, first, again);
    if (!why.empty()) {
      result.launchMismatch = "launch " + std::to_string(result.launches) +
                              " of " + std::to_string(options.launches) +
                              " differs from the first one: " + why;
      break;
    }
  }
  result.launches = std::min(result.launches, options.launches);
  // The oracle is compared with the first launch.
  for (const auto &[i, bytes] : initial)
    llvm::copy(results.bytes[i], buffers.bytes[i].begin());
  return Status();
}

Status Runner::execute() {
  warnOfOutOfRange();
  std::map<unsigned, std::vector<char>> initial;
  for (auto [i, binding] : llvm::enumerate(signature.bindings))
    if (options.launches > 1 && binding.written)
      initial[i] = buffers.bytes[i];
  Execution execution(*session, *program, buffers);
  if (Status status = execution.prepare(); !status)
    return status;
  if (Status status = execution.launchOnce(); !status)
    return status;
  if (options.launches > 1)
    if (Status status = relaunch(execution, initial); !status)
      return status;
  result.device = execution.getDeviceName();
  result.workspaceBytes = execution.getWorkspaceBytes();
  result.bytesMoved = countBytes();
  if (options.repeat == 0)
    return Status();
  // Once more need not be the same where a cache is read and written.
  std::vector<std::vector<char>> after;
  if (!before.empty())
    after = buffers.bytes;
  auto seconds = execution.time(options.repeat);
  if (!seconds)
    return seconds.status();
  if (!before.empty())
    buffers.bytes = std::move(after);
  result.microseconds = *seconds * 1e6;
  auto copy = execution.timeCopy(result.bytesMoved);
  if (!copy)
    return copy.status();
  result.copyBytesPerSecond = *copy;
  return Status();
}

Status Runner::check() {
  reference::InputSet expected = buffers;
  for (auto [i, binding] : llvm::enumerate(signature.bindings))
    if (signature.holdsInput[i] && binding.written)
      expected.bytes[i] = before.at(i);
    else if (binding.written)
      llvm::fill(expected.bytes[i], static_cast<char>(0xAB));
  auto oracle = reference::evaluate(func, expected.buffers());
  if (!oracle)
    return oracle.status();
  result.checked = true;
  result.contracts = oracle->describeContracts();
  reference::InputSet got = buffers;
  result.mismatch = reference::explainDifference(*oracle, got.buffers());
  // What stays there depends on the order of threads.
  if (!result.mismatch.empty())
    for (const std::string &line : sharedEntries)
      result.mismatch += "; " + line;
  return Status();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Status Runner::writeOutputs() {
  for (const auto &[name, path] : outputs) {
    int index = findBinding(name);
    const rt::Binding &binding = signature.bindings[index];
    NpyArray array{getDtype(binding).str(), buffers.shapes[index],
                   reference::pack(binding, buffers.getBuffer(index))};
    if (!array.shape.empty())
      array.shape.back() /= getFileElementBytes(binding);
    if (Status status = writeNpy(path, array); !status)
      return invalid("output '" + name + "': " + status.message());
  }
  return Status();
}

Status Runner::writeListing() {
  if (options.emitDirectory.empty())
    return Status();
  const std::string &directory = options.emitDirectory;
  result.listingDirectory = directory;
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return invalid("emit directory '" + directory + "': " + error.message());
  auto fail = [&](const std::string &what) {
    return invalid("emit directory '" + directory + "': " + what);
  };
  // Nothing is written unless all can be.
  for (const auto &[name, text] : result.report.listing.files) {
    const std::string path = directory + "/" + name;
    if (std::string read = explainRead(path, /*except=*/""); !read.empty())
      return fail(name + " is " + read);
    for (const auto &[output, file] : outputs)
      if (canonicalPath(file) == canonicalPath(path))
        return fail(name + " is the file of output '" + output + "'");
    llvm::sys::fs::file_status status;
    if (!llvm::sys::fs::status(path, status, /*follow=*/false) &&
        status.type() != llvm::sys::fs::file_type::regular_file)
      return fail(name + " exists and is not a regular file");
  }
  for (const auto &[name, text] : result.report.listing.files)
    if (Status status = writeFile(directory + "/" + name, {text}); !status)
      return fail(status.message());
  return Status();
}

Result<RunResult> Runner::run() {
  for (auto step :
       {&Runner::readProgram, &Runner::findFiles, &Runner::readInputs,
        &Runner::checkOutputs, &Runner::resolveDims, &Runner::fillBuffers,
        &Runner::compile, &Runner::writeListing, &Runner::execute})
    if (Status status = (this->*step)(); !status)
      return status;
  if (options.check)
    if (Status status = check(); !status)
      return status;
  if (Status status = writeOutputs(); !status)
    return status;
  return result;
}

Result<RunResult> dsv4::run(const RunOptions &options) {
  return Runner(options).run();
}
