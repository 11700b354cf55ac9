//===- FuzzTest.cpp - Damaged programs give errors ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes the examples in ways drawn from DSV4_TEST_SEED and emits what comes
// out. Whatever a text says, there is a program that a C++ compiler takes, or
// an error of one line. Batches run in a child process, so that a crash is a
// failure that names its text.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Testing.h"

#include "host/HostCompiler.h"
#include "host/Prelude.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dsv4;
using namespace dsv4::test;

namespace {

constexpr unsigned kMutants = 2000, kBatch = 100;
/// One emitted program in so many is compiled.
constexpr unsigned kCompileEach = 8;
/// One text may take this long, all of them together that long.
constexpr unsigned kSecondsEach = 10, kSecondsAll = 40;

/// The example programs, and gathers of every kind.
std::vector<std::string> getSeeds() {
  std::vector<std::string> seeds;
  std::error_code error;
  std::vector<std::string> paths;
  for (llvm::sys::fs::directory_iterator it(DSV4_EXAMPLES, error), end;
       !error && it != end; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".mlir"))
      paths.push_back(it->path());
  llvm::sort(paths);
  for (const std::string &path : paths)
    if (auto buffer = llvm::MemoryBuffer::getFile(path))
      seeds.push_back((*buffer)->getBuffer().str());
  std::mt19937_64 random(getSeed());
  for (const Record &record : getOwnRecords())
    seeds.push_back(Gather::draw(record, 4, random).getText());
  std::vector<Dequantize> dequantizes = getDequantizes();
  for (size_t i = 0; i < dequantizes.size(); i += 7)
    seeds.push_back(dequantizes[i].getText());
  return seeds;
}

/// Splits a text into words, numbers and single other characters.
std::vector<std::string> tokenize(const std::string &text) {
  std::vector<std::string> tokens;
  bool inWord = false;
  for (char c : text) {
    bool wordLike = isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (wordLike && inWord)
      tokens.back() += c;
    else
      tokens.push_back(std::string(1, c));
    inWord = wordLike;
  }
  return tokens;
}

class Mutator {
public:
  Mutator(const std::vector<std::string> &seeds, uint64_t seed)
      : seeds(seeds), random(seed) {}

  std::string make() {
    std::vector<std::string> tokens = tokenize(pick(seeds));
    for (size_t count = below(2) ? 1 : 1 + below(4);
         count > 0 && !tokens.empty(); --count)
      mutate(tokens);
    std::string text;
    for (const std::string &token : tokens)
      text += token;
    if (below(16) == 0 && !text.empty())
      text[below(text.size())] = static_cast<char>(random());
    if (below(40) == 0)
      text.resize(below(text.size() + 1));
    return text;
  }

private:
  size_t below(size_t bound) { return random() % bound; }
  template <typename T>
  const T &pick(const std::vector<T> &list) {
    return list[below(list.size())];
  }
  size_t span(const std::vector<std::string> &tokens, size_t at) {
    return std::min<size_t>(tokens.size() - at, 1 + below(12));
  }

  void mutate(std::vector<std::string> &tokens) {
    static const std::vector<std::string> numbers = {"0",
                                                     "1",
                                                     "2",
                                                     "3",
                                                     "4",
                                                     "7",
                                                     "8",
                                                     "16",
                                                     "24",
                                                     "31",
                                                     "33",
                                                     "64",
                                                     "96",
                                                     "65535",
                                                     "65537",
                                                     "1048576",
                                                     "2147483647",
                                                     "2147483648",
                                                     "4294967296",
                                                     "9223372036854775807",
                                                     "9223372036854775808",
                                                     "-1",
                                                     "-2",
                                                     "18446744073709551616",
                                                     "?"};
    static const std::vector<std::string> words = {
        "f4E2M1FN",   "f8E4M3FN",     "f8E8M0FNU",  "bf16",    "f16",
        "f32",        "f64",          "i1",         "i4",      "i8",
        "i32",        "i64",          "index",      "row",     "tail",
        "array",      "tensor",       "memref",     "vector",  "complex",
        "none",       "exact",        "bucket",     "dynamic", "high_first",
        "interleave", "per",          "scales",     "at",      "pad",
        "align",      "dsv4",         "cuda",       "gpu",     "func",
        "return",     "paged_gather", "dequantize", "kernel",  "yield",
        "buffer",     "extent",       "row_count",  "module",  "v4_584",
        "seed_580",   "nvfp4_352",    "c",          "i",       "o",
        "algorithm",  "online",       "windowed",   "unknown"};
    size_t at = below(tokens.size());
    auto place = tokens.begin() + at;
    switch (below(12)) {
    case 0: // Remove.
      tokens.erase(place, place + span(tokens, at));
      break;
    case 1: { // Repeat.
      std::vector<std::string> copy(place, place + span(tokens, at));
      tokens.insert(place, copy.begin(), copy.end());
      break;
    }
    case 2: // Swap.
      std::swap(tokens[at], tokens[below(tokens.size())]);
      break;
    case 3: { // Take from another text.
      std::vector<std::string> other = tokenize(pick(seeds));
      size_t from = below(other.size());
      tokens.insert(place, other.begin() + from,
                    other.begin() + from + span(other, from));
      break;
    }
    default: { // Another number or word, here or everywhere.
      bool number = below(2);
      std::vector<size_t> places;
      for (size_t i = 0; i < tokens.size(); ++i) {
        unsigned char first = tokens[i].front();
        if (number ? isdigit(first) : isalpha(first))
          places.push_back(i);
      }
      if (places.empty())
        return;
      std::string old = tokens[pick(places)];
      std::string fresh = pick(number ? numbers : words);
      if (below(3) == 0)
        fresh = tokens[pick(places)];
      bool everywhere = below(2);
      size_t only = pick(places);
      for (size_t i : places)
        if (everywhere ? tokens[i] == old : i == only)
          tokens[i] = fresh;
      break;
    }
    }
  }

  const std::vector<std::string> &seeds;
  std::mt19937_64 random;
};

/// Bytes of address space that this process has now: with a GPU's driver in
/// it, hundreds of GiB that nothing is in.
rlim_t addressSpace() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * rlim_t(sysconf(_SC_PAGESIZE));
}

/// What the child tells of.
struct Progress {
  unsigned next, emitted, refused, badMessages;
};

/// Emits mutants from `progress->next` to `end`.
void emitMutants(const std::vector<std::string> &seeds, unsigned end,
                 Progress *progress) {
  for (; progress->next < end; ++progress->next) {
    std::string text =
        Mutator(seeds, getSeed() * 1000003 + progress->next).make();
    alarm(kSecondsEach);
    CompileOptions options;
    if (text.find("exact") != std::string::npos)
      options.dims = {{"k", 3}, {"mp", 5}, {"topk", 8}};
    auto emitted = emitProgram(text, "mutant.mlir", options, "cuda", "sm_90a",
                               /*wantListing=*/progress->next % 8 == 0);
    if (emitted) {
      // What is emitted is C++, whatever the text said.
      bool compiled = ++progress->emitted % kCompileEach != 0;
      for (size_t i = 0; i < emitted->texts.size() && !compiled; ++i) {
        auto image = rt::compileHost(
            rt::hostPrelude(emitted->headers[i]) + emitted->texts[i] +
            rt::hostEpilogue(emitted->info.kernels[i].symbol));
        if (image)
          continue;
        ++progress->badMessages;
        std::fprintf(stderr, "mutant %u: %s:\n%s\n", progress->next,
                     image.status().message().c_str(), text.c_str());
      }
      continue;
    }
    ++progress->refused;
    const std::string &message = emitted.status().message();
    if (message.empty() || message.find('\n') != std::string::npos ||
        message.find("please report") != std::string::npos) {
      ++progress->badMessages;
      std::fprintf(stderr, "mutant %u: message '%s'\n", progress->next,
                   message.c_str());
    }
  }
  alarm(0);
}

} // namespace

TEST(FuzzTest, DamagedPrograms) {
  std::vector<std::string> seeds = getSeeds();
  ASSERT_GT(seeds.size(), 10u);
  auto *progress = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(progress, MAP_FAILED);
  auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(kSecondsAll);
  unsigned count = kMutants * std::max(getScale(), 1u), crashes = 0;
  while (progress->next < count &&
         (getScale() > 1 || std::chrono::steady_clock::now() < deadline)) {
    unsigned end = std::min(progress->next + kBatch, count);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Crash reports only take time, and a runaway text no memory.
      for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM})
        std::signal(signal, SIG_DFL);
#if !defined(__SANITIZE_ADDRESS__)
      rlim_t bytes = addressSpace() + (rlim_t(4) << 30);
      rlimit limit = {bytes, bytes};
      setrlimit(RLIMIT_AS, &limit);
#endif
      emitMutants(seeds, end, progress);
      _exit(0);
    }
    int state = 0;
    ASSERT_EQ(waitpid(child, &state, 0), child);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
      continue;
    ADD_FAILURE()
        << "mutant " << progress->next << " of seed " << getSeed()
        << (WIFSIGNALED(state) ? WTERMSIG(state) == SIGALRM
                                     ? " hangs"
                                     : " crashes with signal "
                               : " ends the process with ")
        << (WIFSIGNALED(state) ? WTERMSIG(state) : state) << ":\n"
        << Mutator(seeds, getSeed() * 1000003 + progress->next).make();
    ++progress->next;
    if (++crashes == 20)
      break;
  }
  std::printf("%u mutants: %u programs, %u errors\n", progress->next,
              progress->emitted, progress->refused);
  EXPECT_EQ(progress->badMessages, 0u);
  // The mutants are neither all nonsense nor all good.
  EXPECT_GT(progress->emitted, progress->next / 50);
  EXPECT_GT(progress->refused, progress->next / 4);
  munmap(progress, sizeof(Progress));
}
