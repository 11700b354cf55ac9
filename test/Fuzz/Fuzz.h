//===- Fuzz.h - Targets and mutations of dsv4-fuzz --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target reads hostile input and says whether the code under test treated it
// as promised. The driver (Driver.cpp) makes inputs by mutation of a corpus,
// deterministically by seed, and runs them in child processes; libFuzzer
// (LibFuzzer.cpp) runs the same targets with its own mutations.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_FUZZ_FUZZ_H
#define DSV4_TEST_FUZZ_FUZZ_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace dsv4::fuzz {

/// What the code under test did with one input.
struct Outcome {
  enum Kind { Accepted, Refused, Broken } kind;
  /// Of a broken promise: what was expected and what happened.
  std::string why;
};

inline Outcome accepted() { return {Outcome::Accepted, ""}; }
inline Outcome refused() { return {Outcome::Refused, ""}; }
inline Outcome broken(std::string why) { return {Outcome::Broken, why}; }

/// Refused if `message` is an error as dsv4 promises them: one line that says
/// something.
Outcome refusedWith(llvm::StringRef message);

struct Target {
  const char *name;
  const char *description;
  /// Whether inputs are texts, which are changed word by word, or bytes.
  bool isText;
  /// Inputs of the target's own, beside the files of the command line. `random`
  /// draws them.
  std::vector<std::string> (*makeSeeds)(std::mt19937_64 &random);
  Outcome (*run)(llvm::StringRef input);
  /// Does what run() put off until several inputs are there; may be null.
  Outcome (*finish)() = nullptr;
};

extern const Target pipelineTarget, checkTarget, npyTarget, entryTarget,
    resealedEntryTarget, tableTarget, nameTarget;

/// What the limit of the driver is not for: the time of a C++ compiler.
constexpr unsigned kCompilerSeconds = 120;

/// Whether DSV4_TEST_TARGET asks for a GPU, as it does of other tests.
bool runsOnGPU();

/// All of them.
const std::vector<const Target *> &getTargets();

/// The texts of `path`: a file, or all .mlir files below a folder. A file of
/// several parts, as tests have them, gives one text a part.
std::vector<std::string> readCorpus(const std::string &path);

/// Changes inputs. One seed gives one input.
class Mutator {
public:
  Mutator(const std::vector<std::string> &corpus, bool isText);

  std::string make(uint64_t seed) const;

private:
  std::string mutateText(std::mt19937_64 &random) const;
  std::string mutateBytes(std::mt19937_64 &random) const;
  void mutateTokens(std::vector<std::string> &tokens,
                    std::mt19937_64 &random) const;

  const std::vector<std::string> &corpus;
  bool isText;
  /// Words of the corpus.
  std::vector<std::string> dictionary;
};

/// Splits a text into words, numbers and single other characters.
std::vector<std::string> tokenize(llvm::StringRef text);

} // namespace dsv4::fuzz

#endif // DSV4_TEST_FUZZ_FUZZ_H
