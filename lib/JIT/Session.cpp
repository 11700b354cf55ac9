//===- Session.cpp - Compile, cache and launch programs ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SingleFlight.h"

#include "dsv4-runtime/Entry.h"
#include "dsv4/JIT/JIT.h"
#include "dsv4/JIT/NVRTC.h"
#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/Host/HostCompiler.h"
#include "host/HostKernel.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <unordered_map>

using namespace dsv4;
using rt::Code;
using rt::Result;
using rt::Status;

namespace {

/// Milliseconds since the last call.
class Stopwatch {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double passed =
        std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
    return passed;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

} // namespace

/// What one call of compile() is about.
struct Request {
  const std::string &source, &sourceName;
  const CompileOptions &options;
  ListingForm form;
};

static std::string keyOf(const Request &request, const std::string &target,
                         const std::string &arch) {
  return rt::digestHex(
      getCacheKeyText(request.source, request.options, target, arch));
}

struct Session::State {
  State(const SessionOptions &options)
      : options(options), disk(options.cache) {}

  using Loaded = Result<const rt::LoadedProgram *>;

  /// The loaded program of a key, or null.
  const rt::LoadedProgram *find(const std::string &key) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = loaded.find(key);
    return found == loaded.end() ? nullptr : found->second.get();
  }

  /// Keeps a loaded program; of two threads the first one's stays.
  const rt::LoadedProgram *keep(const std::string &key,
                                std::unique_ptr<rt::LoadedProgram> program) {
    std::lock_guard<std::mutex> lock(mutex);
    return loaded.try_emplace(key, std::move(program)).first->second.get();
  }

  Loaded load(const rt::CompiledProgram &program, CompileReport &did);
  std::optional<Loaded> look(CompileReport &did, Outcome &outcome,
                             bool &isUnusable);
  Loaded lookOrMake(const Request &request, CompileReport &did,
                    Outcome &outcome, bool isNested);

  SessionOptions options;

  std::string target, arch;
  rt::Driver *driver = nullptr;
  rt::Backend backend;
  rt::DiskCache disk;
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<rt::LoadedProgram>> loaded;
};

Session::Session(std::unique_ptr<State> state) : state(std::move(state)) {}
Session::~Session() = default;
const std::string &Session::target() const { return state->target; }
const std::string &Session::arch() const { return state->arch; }
rt::Driver *Session::driver() const { return state->driver; }
rt::DiskCache &Session::diskCache() { return state->disk; }

Result<std::unique_ptr<Session>>
Session::create(const SessionOptions &options) {
  auto state = std::make_unique<State>(options);
  auto order = rt::parseThreadOrder(options.threadOrder);
  if (!order)
    return order.status();
  Result<rt::Driver *> driver(Status(Code::Unavailable, "not asked for"));
  if (options.target != TargetKind::Host)
    driver = rt::Driver::get();
  if (options.target == TargetKind::Cuda && !driver)
    return driver.status();
  if (driver) {
    auto device = (*driver)->device(options.device);
    if (!device)
      return device.status();
    if (Status status = (*driver)->makeCurrent(options.device); !status)
      return status;
    state->target = "cuda";
    state->driver = *driver;
    state->arch = options.arch.empty() ? device->arch : options.arch;
    state->backend = rt::Backend::cuda(*driver, options.device);
  } else {
    state->target = "host";
    state->arch = options.arch.empty() ? "sm_90a" : options.arch;
    state->backend = rt::Backend::onHost(rt::hostModules(*order, options.warn));
  }
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

/// Compiles the source of kernel `index` and fills in registers and spills.
static Result<std::string> compileKernel(EmittedProgram &emitted, size_t index,
                                         const CompileOptions &options,
                                         Listing *listing) {
  rt::KernelInfo &kernel = emitted.info.kernels[index];
  const std::string &text = emitted.texts[index];
  if (emitted.info.target == "host")
    return rt::compileHost(
        rt::hostPrelude(emitted.headers[index], emitted.deviceFiles) + text +
        rt::hostEpilogue(kernel.symbol));
  auto nvrtc = jit::NVRTC::get();
  if (!nvrtc)
    return nvrtc.status();
  std::vector<std::string> extra;
  if (options.checks)
    extra.push_back("-DDSV4_CHECKED");
  if (options.lineInfo)
    extra.push_back("--generate-line-info");
  auto output = (*nvrtc)->compile(
      rt::cudaPrelude(emitted.headers[index], emitted.deviceFiles) + text,
      kernel.symbol + ".cu", emitted.info.arch, extra);
  if (!output)
    return output.status();
  kernel.registers = output->registers;
  kernel.spillBytes = output->spillBytes;
  if (listing) {
    std::string name =
        emitted.info.kernels.size() == 1 ? "kernel" : kernel.symbol;
    listing->files.push_back({name + ".ptx", output->ptx});
    listing->files.push_back({name + ".cubin", output->cubin});
    listing->files.push_back({name + ".ptxas.txt", output->log});
  }
  return output->cubin;
}

/// Loads a program and keeps it under the key of the report.
Session::State::Loaded Session::State::load(const rt::CompiledProgram &program,
                                            CompileReport &did) {
  Stopwatch watch;
  auto loaded = rt::LoadedProgram::load(program, backend);
  did.load = watch.lap();
  if (!loaded)
    return loaded.status();
  return keep(did.key, loaded.take());
}

/// Compiles a program, whose key is in the report.
static Result<rt::CompiledProgram> make(const Request &request,
                                        const std::string &target,
                                        const std::string &arch,
                                        CompileReport &did) {
  Stopwatch watch;
  did.origin = CompileReport::Origin::Compiled;
  auto emitted = emitProgram(request.source, request.sourceName,
                             request.options, target, arch, request.form);
  if (!emitted)
    return emitted.status();
  did.passes = watch.lap();
  rt::CompiledProgram compiled;
  for (size_t i = 0; i < emitted->texts.size(); ++i) {
    auto image = compileKernel(
        *emitted, i, request.options,
        request.form != ListingForm::None ? &emitted->listing : nullptr);
    if (!image)
      return image.status();
    compiled.images.push_back(image.take());
  }
  compiled.info = emitted->info;
  did.backend = watch.lap();
  did.listing = std::move(emitted->listing);
  // The table was read after the key was made, and the compiler run.
  if (keyOf(request, target, arch) != did.key)
    return Status(
        Code::CompileFailed,
        "program '" + compiled.info.name + "': " +
            (request.options.table.empty()
                 ? std::string()
                 : "the schedule table '" + request.options.table + "' or ") +
            "the compiler changed while it was compiled: compile it "
            "again");
  return compiled;
}

/// From memory or from disk, or nothing: `isUnusable` if there is an entry that
/// does not load.
std::optional<Session::State::Loaded>
Session::State::look(CompileReport &did, Outcome &outcome, bool &isUnusable) {
  if (const rt::LoadedProgram *found = find(did.key)) {
    did.origin = CompileReport::Origin::Memory;
    return found;
  }
  Stopwatch watch;
  auto program = disk.lookup(arch, did.key);
  did.lookup += watch.lap();
  if (!program)
    return std::nullopt;
  did.origin = CompileReport::Origin::Disk;
  outcome.program = std::make_shared<rt::CompiledProgram>(std::move(*program));
  Loaded loaded = load(*outcome.program, did);
  if (loaded)
    return loaded;
  outcome.program = nullptr;
  isUnusable = true;
  if (options.cache.warn)
    options.cache.warn(did.entryPath + ": " + loaded.status().message() +
                       ": compiling it anew");
  return std::nullopt;
}

/// Waits for other processes that make the program. True if it may be on disk
/// now.
static bool waitForTurn(rt::DiskCache &cache, const std::string &arch,
                        CompileReport &did, rt::EntryLock &lock) {
  Stopwatch watch;
  lock = cache.lock(arch, did.key);
  did.waited = lock.waited();
  did.passedBy = lock.passedBy();
  did.lookup += watch.lap();
  return cache.contains(arch, did.key);
}

/// From memory, from disk, or made. What is made is published when it has
/// loaded: one that does not is nothing that another process could use, and one
/// that does replaces an entry that did not.
Session::State::Loaded Session::State::lookOrMake(const Request &request,
                                                  CompileReport &did,
                                                  Outcome &outcome,
                                                  bool isNested) {
  rt::EntryLock lock;
  if (request.form == ListingForm::None) {
    bool isUnusable = false;
    if (auto found = look(did, outcome, isUnusable))
      return *found;
    // A compile within another could wait for that one.
    if (!isNested && waitForTurn(disk, arch, did, lock) &&
        (did.waited || !isUnusable))
      if (auto found = look(did, outcome, isUnusable))
        return *found;
  }
  auto made = make(request, target, arch, did);
  if (!made) {
    outcome.status = made.status();
    return made.status();
  }
  outcome.program = std::make_shared<rt::CompiledProgram>(made.take());
  Loaded loaded = load(*outcome.program, did);
  if (loaded && disk.publish(arch, did.key, *outcome.program))
    lock.published();
  return loaded;
}

Result<const rt::LoadedProgram *>
Session::compile(const std::string &source, const std::string &sourceName,
                 const CompileOptions &options, CompileReport *report,
                 ListingForm form) {
  if (state->driver)
    if (Status status = state->driver->makeCurrent(state->backend.device);
        !status)
      return status;
  const Request request = {source, sourceName, options, form};
  CompileReport unused;
  CompileReport &did = report ? *report : unused;
  Stopwatch watch;
  did.key = keyOf(request, state->target, state->arch);
  did.entryPath = state->disk.entryPath(state->arch, did.key);
  Outcome outcome;
  if (form != ListingForm::None) {
    did.lookup = watch.lap();
    return state->lookOrMake(request, did, outcome, /*isNested=*/false);
  }
  for (;;) {
    if (const rt::LoadedProgram *found = state->find(did.key)) {
      did.origin = CompileReport::Origin::Memory;
      did.lookup = watch.lap();
      return found;
    }
    // The sessions of a process share what is made, and each loads it for
    // itself; those with other directories look for it elsewhere.
    Flight flight(state->disk.root() + '\0' + did.key);
    if (flight.leads()) {
      did.lookup = watch.lap();
      auto loaded = state->lookOrMake(request, did, outcome, flight.isNested());
      flight.land(outcome);
      return loaded;
    }
    outcome = flight.wait();
    if (!outcome.status)
      return outcome.status;
    if (outcome.program && !state->find(did.key)) {
      did.origin = CompileReport::Origin::Memory;
      did.lookup = watch.lap();
      return state->load(*outcome.program, did);
    }
  }
}

Result<rt::CompiledProgram>
dsv4::compileProgram(const std::string &source, const std::string &sourceName,
                     const CompileOptions &options, const std::string &target,
                     const std::string &arch, rt::DiskCache &cache,
                     CompileReport *report) {
  const Request request = {source, sourceName, options, ListingForm::None};
  CompileReport unused;
  CompileReport &did = report ? *report : unused;
  Stopwatch watch;
  did.key = keyOf(request, target, arch);
  did.entryPath = cache.entryPath(arch, did.key);
  auto found = cache.lookup(arch, did.key);
  did.lookup = watch.lap();
  rt::EntryLock lock;
  if (!found && waitForTurn(cache, arch, did, lock))
    found = cache.lookup(arch, did.key);
  if (found) {
    did.origin = CompileReport::Origin::Disk;
    return std::move(*found);
  }
  auto made = make(request, target, arch, did);
  if (made && cache.publish(arch, did.key, *made))
    lock.published();
  return made;
}
