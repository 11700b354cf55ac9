//===- Driver.cpp - dsv4-fuzz: hostile inputs by seed ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   dsv4-fuzz pipeline --seed=1 --runs=2000 --jobs=2 examples test
//   dsv4-fuzz pipeline --replay crash.mlir
//
// Inputs run in child processes, so that a crash is a result. An input that
// crashes, takes longer than --limit seconds or breaks a promise is printed and
// saved.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dsv4::fuzz;
namespace cl = llvm::cl;

static cl::opt<std::string> targetName(cl::Positional, cl::Required,
                                       cl::desc("TARGET"));
static cl::list<std::string> paths(cl::Positional, cl::desc("CORPUS..."));
static cl::opt<uint64_t> seed("seed", cl::desc("first seed"), cl::init(1));
static cl::opt<uint64_t> runs("runs", cl::desc("inputs to make"),
                              cl::init(1000));
static cl::opt<unsigned> seconds("seconds", cl::init(0),
                                 cl::desc("stop after these; 0: after --runs"));
static cl::opt<unsigned> jobs("jobs", cl::desc("processes"), cl::init(1));
static cl::opt<unsigned> limit("limit", cl::init(5),
                               cl::desc("seconds that one input may take"));
static cl::opt<std::string> save("save", cl::init("."),
                                 cl::desc("folder for inputs that fail"));
static cl::opt<bool> replay("replay",
                            cl::desc("run the files as they are, in process"));

/// A process starts anew after so many inputs: contexts leave memory behind.
static constexpr uint64_t kInputsPerProcess = 5000;
static constexpr unsigned kMaxFailures = 20;
/// How a process ends that gets no memory: an error of dsv4-run, too.
static constexpr int kOutOfMemory = 77;

namespace {

/// Shared by a worker and its parent.
struct Progress {
  uint64_t next; ///< Number of the input that runs.
  uint64_t done, accepted, refused;
  unsigned failures;
  double slowest;       ///< Seconds,
  uint64_t slowestSeed; ///< and the input that took them.
};

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Campaign {
public:
  Campaign(const Target &target, const std::vector<std::string> &corpus)
      : target(target), mutator(corpus, target.isText) {}

  int run();

private:
  void runWorker(unsigned job, Progress &progress);
  void runInputs(Progress &progress);
  void report(Progress &progress, uint64_t number, const std::string &what);
  bool isOver() const {
    return seconds && since(begin) > static_cast<double>(seconds);
  }

  const Target &target;
  Mutator mutator;
  Clock::time_point begin = Clock::now();
};

} // namespace

/// Bytes of address space of this process: with a GPU's driver in it, hundreds
/// of GiB that nothing is in.
[[maybe_unused]] static rlim_t addressSpace() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * rlim_t(sysconf(_SC_PAGESIZE));
}

static void endOutOfMemory() { _exit(kOutOfMemory); }

/// A stack that grows later counts against the limit of addresses, and ends the
/// process where there are none left.
[[gnu::noinline, maybe_unused]] static char growStack() {
  volatile char bytes[2 << 20];
  return bytes[0] = 0;
}

/// Crash reports only take time, and a runaway input must not take memory.
static void limitProcess() {
#if !defined(__SANITIZE_ADDRESS__)
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
    std::signal(signal, SIG_DFL);
  growStack();
  // A GPU's driver reserves more addresses than any limit of use allows.
  rlim_t bytes = addressSpace() + (rlim_t(4) << 30);
  rlimit limits = {bytes, bytes};
  if (!runsOnGPU())
    setrlimit(RLIMIT_AS, &limits);
#endif
  std::signal(SIGALRM, SIG_DFL);
  std::set_new_handler(endOutOfMemory);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endOutOfMemory(); });
}

void Campaign::report(Progress &progress, uint64_t number,
                      const std::string &what) {
  ++progress.failures;
  std::string path = save + "/" + target.name + "-" +
                     std::to_string(seed + number) +
                     (target.isText ? ".mlir" : ".bin");
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error)
    file << mutator.make(seed + number);
  llvm::errs() << target.name << " seed " << seed + number << ": " << what
               << "; input saved as " << path << "\n";
}

/// Runs inputs from `progress.next` on; in a child process.
void Campaign::runInputs(Progress &progress) {
  uint64_t last = progress.next;
  for (uint64_t count = 0; count < kInputsPerProcess; ++count) {
    if (progress.next >= runs || isOver())
      break;
    last = progress.next;
    std::string input = mutator.make(seed + progress.next);
    Clock::time_point start = Clock::now();
    alarm(limit);
    Outcome outcome = target.run(input);
    alarm(0);
    if (double took = since(start); took > progress.slowest) {
      progress.slowest = took;
      progress.slowestSeed = seed + progress.next;
    }
    ++progress.done;
    if (outcome.kind == Outcome::Broken)
      report(progress, progress.next, outcome.why);
    else
      ++(outcome.kind == Outcome::Accepted ? progress.accepted
                                           : progress.refused);
    progress.next += jobs;
  }
  if (!target.finish)
    return;
  Outcome outcome = target.finish();
  if (outcome.kind == Outcome::Broken)
    report(progress, last, outcome.why);
}

void Campaign::runWorker(unsigned job, Progress &progress) {
  for (progress.next = job;
       progress.next < runs && !isOver() && progress.failures < kMaxFailures;) {
    uint64_t first = progress.next;
    pid_t child = fork();
    if (child < 0) {
      report(progress, progress.next, "cannot be run: fork fails");
      return;
    }
    if (child == 0) {
      limitProcess();
      runInputs(progress);
      _exit(0);
    }
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
      continue;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
      continue;
    bool outOfMemory = WIFEXITED(state) && WEXITSTATUS(state) == kOutOfMemory;
    // What earlier inputs left behind may be most of it.
    if (outOfMemory && progress.next != first)
      continue;
    if (outOfMemory)
      report(progress, progress.next, "is out of memory");
    else if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM)
      report(progress, progress.next, "takes too long");
    else if (WIFSIGNALED(state))
      report(progress, progress.next,
             "crashes with signal " + std::to_string(WTERMSIG(state)));
    else
      report(progress, progress.next,
             "ends the process with " + std::to_string(WEXITSTATUS(state)));
    ++progress.done;
    progress.next += jobs;
  }
}

int Campaign::run() {
  auto *progress = static_cast<Progress *>(
      mmap(nullptr, jobs * sizeof(Progress), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED)
    return 1;
  std::vector<pid_t> workers;
  for (unsigned job = 0; job < jobs; ++job) {
    pid_t worker = fork();
    if (worker == 0) {
      runWorker(job, progress[job]);
      _exit(0);
    }
    workers.push_back(worker);
  }
  Progress sum = {};
  for (pid_t worker : workers) {
    int state = 0;
    if (worker < 0 || waitpid(worker, &state, 0) != worker || state != 0) {
      llvm::errs() << target.name << ": a worker did not end by itself\n";
      ++sum.failures;
    }
  }
  for (unsigned job = 0; job < jobs; ++job) {
    sum.done += progress[job].done;
    sum.accepted += progress[job].accepted;
    sum.refused += progress[job].refused;
    sum.failures += progress[job].failures;
    if (progress[job].slowest > sum.slowest) {
      sum.slowest = progress[job].slowest;
      sum.slowestSeed = progress[job].slowestSeed;
    }
  }
  std::printf("%s: %llu inputs, %llu accepted, %llu refused, %u failures; "
              "slowest %.2f s (seed %llu), %.0f s in all\n",
              target.name, (unsigned long long)sum.done,
              (unsigned long long)sum.accepted, (unsigned long long)sum.refused,
              sum.failures, sum.slowest, (unsigned long long)sum.slowestSeed,
              since(begin));
  return sum.failures || sum.done == 0;
}

const std::vector<const Target *> &dsv4::fuzz::getTargets() {
  static const std::vector<const Target *> targets = {
      &pipelineTarget,      &checkTarget, &npyTarget, &entryTarget,
      &resealedEntryTarget, &tableTarget, &nameTarget};
  return targets;
}

/// Runs the files themselves.
static int replayFiles(const Target &target) {
  bool good = true;
  for (const std::string &path : paths) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) {
      llvm::errs() << path << ": " << buffer.getError().message() << "\n";
      return 1;
    }
    Outcome outcome = target.run((*buffer)->getBuffer());
    good &= outcome.kind != Outcome::Broken;
    std::printf("%s: %s %s\n", path.c_str(),
                outcome.kind == Outcome::Accepted  ? "accepted"
                : outcome.kind == Outcome::Refused ? "refused"
                                                   : "BROKEN",
                outcome.why.c_str());
  }
  Outcome last = target.finish ? target.finish() : accepted();
  if (last.kind == Outcome::Broken)
    std::printf("BROKEN %s\n", last.why.c_str());
  good &= last.kind != Outcome::Broken;
  return !good;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "hostile inputs for dsv4\n");
  auto found = llvm::find_if(getTargets(), [](const Target *target) {
    return target->name == targetName;
  });
  if (found == getTargets().end() || jobs == 0) {
    llvm::errs() << "dsv4-fuzz: error: no target '" << targetName
                 << "'; there are";
    for (const Target *target : getTargets())
      llvm::errs() << "\n  " << target->name << ": " << target->description;
    llvm::errs() << "\n";
    return 1;
  }
  const Target &target = **found;
  if (replay)
    return replayFiles(target);
  std::mt19937_64 random(seed);
  std::vector<std::string> corpus = target.makeSeeds(random);
  for (const std::string &path : paths) {
    std::vector<std::string> texts = readCorpus(path);
    corpus.insert(corpus.end(), texts.begin(), texts.end());
  }
  if (corpus.empty()) {
    llvm::errs() << "dsv4-fuzz: error: target '" << targetName
                 << "' needs a corpus: give files or folders of .mlir\n";
    return 1;
  }
  return Campaign(target, corpus).run();
}
