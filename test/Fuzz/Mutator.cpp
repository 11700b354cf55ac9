//===- Mutator.cpp - Inputs made from a corpus ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>
#include <set>

using namespace dsv4;
using namespace dsv4::fuzz;

namespace {

/// Numbers at the edges of what types and limits hold.
const std::vector<std::string> numbers = {"0",          "1",
                                          "2",          "3",
                                          "4",          "7",
                                          "8",          "16",
                                          "24",         "31",
                                          "33",         "64",
                                          "96",         "255",
                                          "256",        "1024",
                                          "65535",      "65537",
                                          "1048576",    "2147483647",
                                          "2147483648", "4294967296",
                                          "-1",         "-2",
                                          "-9",         "9223372036854775807",
                                          "?",          "18446744073709551616",
                                          "0.0",        "1.0e-300",
                                          "3.5e+38",    "0x7FC00000",
                                          "0xFF800000", "9223372036854775808"};

/// Types, names and snippets that a corpus may lack.
const std::vector<std::string> words = {
    "f4E2M1FN", "f8E4M3FN", "f8E8M0FNU", "bf16",  "f16",   "f32",
    "f64",      "i1",       "i4",        "i8",    "i32",   "i64",
    "index",    "tensor",   "memref",    "none",  "tuple", "vector",
    "complex",  "exact",    "bucket",    "gpu",   "cuda",  "int",
    "main",     "printf",   "dsv4",      "class", "A7",    "x_module",
    "\\0A",     "\\22",     "?\?/",      "*/",    "#",     "\\5C"};

size_t below(std::mt19937_64 &random, size_t bound) { return random() % bound; }

template <typename T>
const T &pick(const std::vector<T> &list, std::mt19937_64 &random) {
  return list[below(random, list.size())];
}

/// What separates tokens, and what looks as if it did.
const std::vector<std::string> blanks = {" ",  "\n",       " // >\n", "//\n",
                                         "\t", " // \"\n", "// ]\r",  ""};

/// Aliases, each of which holds the one before, up to `sigil` a`count`.
std::string makeAliases(std::mt19937_64 &random, char sigil, unsigned count) {
  const std::string name = std::string(1, sigil) + "a";
  const bool isType = sigil == '!';
  std::string text = name + "0 = " + (isType ? "i32" : "1 : i32") + "\n";
  unsigned uses = below(random, 3), depth = 1 + below(random, 300);
  for (unsigned i = 1; i <= count; ++i) {
    std::string last = name + std::to_string(i - 1), body = last;
    for (unsigned use = 0; use < uses; ++use)
      body += "," + pick(blanks, random) + last;
    text += name + std::to_string(i) + pick(blanks, random) + "=" +
            pick(blanks, random);
    for (unsigned level = 0; level < depth; ++level)
      text += isType ? "tuple" + pick(blanks, random) + "<" : "[";
    text += body + std::string(depth, isType ? '>' : ']') + "\n";
  }
  return text;
}

bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

} // namespace

std::vector<std::string> dsv4::fuzz::tokenize(llvm::StringRef text) {
  std::vector<std::string> tokens;
  bool inWord = false;
  for (char c : text) {
    if (isWordCharacter(c) && inWord)
      tokens.back() += c;
    else
      tokens.push_back(std::string(1, c));
    inWord = isWordCharacter(c);
  }
  return tokens;
}

std::vector<std::string> dsv4::fuzz::readCorpus(const std::string &path) {
  std::vector<std::string> files, texts;
  std::error_code error;
  if (!llvm::sys::fs::is_directory(path))
    files.push_back(path);
  else
    for (llvm::sys::fs::recursive_directory_iterator it(path, error), end;
         !error && it != end; it.increment(error))
      if (llvm::StringRef(it->path()).ends_with(".mlir"))
        files.push_back(it->path());
  // Folders are listed in no order; seeds mean the same everywhere.
  llvm::sort(files);
  for (const std::string &file : files)
    if (auto buffer = llvm::MemoryBuffer::getFile(file)) {
      llvm::SmallVector<llvm::StringRef> parts;
      (*buffer)->getBuffer().split(parts, "// -----");
      for (llvm::StringRef part : parts)
        texts.push_back(part.str());
    }
  return texts;
}

bool dsv4::fuzz::runsOnGPU() {
  const char *target = std::getenv("DSV4_TEST_TARGET");
  return target && llvm::StringRef(target) == "cuda";
}

Mutator::Mutator(const std::vector<std::string> &corpus, bool isText)
    : corpus(corpus), isText(isText) {
  std::set<std::string> found(words.begin(), words.end());
  for (const std::string &text : corpus)
    if (isText)
      for (std::string &token : tokenize(text))
        if (llvm::isAlpha(token.front()))
          found.insert(std::move(token));
  dictionary.assign(found.begin(), found.end());
}

std::string Mutator::make(uint64_t seed) const {
  std::mt19937_64 random(seed);
  return isText ? mutateText(random) : mutateBytes(random);
}

std::string Mutator::mutateText(std::mt19937_64 &random) const {
  std::vector<std::string> tokens = tokenize(pick(corpus, random));
  size_t count = below(random, 2) ? 1 : 1 + below(random, 4);
  for (; count > 0 && !tokens.empty(); --count)
    mutateTokens(tokens, random);
  std::string text = llvm::join(tokens, "");
  if (below(random, 16) == 0 && !text.empty())
    text[below(random, text.size())] = static_cast<char>(random());
  if (below(random, 40) == 0)
    text.resize(below(random, text.size() + 1));
  return text;
}

void Mutator::mutateTokens(std::vector<std::string> &tokens,
                           std::mt19937_64 &random) const {
  size_t at = below(random, tokens.size());
  auto place = tokens.begin() + at;
  auto span = [&](const std::vector<std::string> &of, size_t from) {
    return std::min<size_t>(of.size() - from, 1 + below(random, 12));
  };
  // Rarely, as these inputs are long.
  switch (below(random, 200)) {
  case 0: { // Nest, or repeat what may nest.
    std::vector<std::string> part(place, place + span(tokens, at));
    part.push_back(pick(blanks, random));
    std::vector<std::string> many;
    for (size_t count = 1 << below(random, 15); count > 0; --count)
      many.insert(many.end(), part.begin(), part.end());
    tokens.insert(place, many.begin(), many.end());
    return;
  }
  case 1: { // Aliases of aliases.
    char sigil = below(random, 2) ? '#' : '!';
    unsigned count = 1 << below(random, 11);
    tokens[at] = sigil + ("a" + std::to_string(count));
    tokens.insert(tokens.begin(), makeAliases(random, sigil, count));
    return;
  }
  default:
    break;
  }
  switch (below(random, 13)) {
  case 4: // Blanks and comments.
    tokens.insert(place, pick(blanks, random));
    return;
  case 0: // Remove.
    tokens.erase(place, place + span(tokens, at));
    return;
  case 1: { // Repeat.
    std::vector<std::string> copy(place, place + span(tokens, at));
    tokens.insert(place, copy.begin(), copy.end());
    return;
  }
  case 2: // Swap.
    std::swap(tokens[at], tokens[below(random, tokens.size())]);
    return;
  case 3: { // Take from another text.
    std::vector<std::string> other = tokenize(pick(corpus, random));
    if (other.empty())
      return;
    size_t from = below(random, other.size());
    tokens.insert(place, other.begin() + from,
                  other.begin() + from + span(other, from));
    return;
  }
  default: // Another number or word, here or everywhere.
    break;
  }
  bool isNumber = below(random, 2);
  std::vector<size_t> places;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (isNumber ? llvm::isDigit(tokens[i].front())
                 : llvm::isAlpha(tokens[i].front()))
      places.push_back(i);
  if (places.empty())
    return;
  std::string old = tokens[pick(places, random)];
  std::string fresh = pick(isNumber ? numbers : dictionary, random);
  if (below(random, 3) == 0)
    fresh = tokens[pick(places, random)];
  bool everywhere = below(random, 2);
  size_t only = pick(places, random);
  for (size_t i : places)
    if (everywhere ? tokens[i] == old : i == only)
      tokens[i] = fresh;
}

std::string Mutator::mutateBytes(std::mt19937_64 &random) const {
  std::string bytes = pick(corpus, random);
  for (size_t count = 1 + below(random, 3); count > 0; --count) {
    if (bytes.empty())
      return std::string(1, static_cast<char>(random()));
    size_t at = below(random, bytes.size());
    size_t length = 1 + below(random, 16);
    switch (below(random, 8)) {
    case 0:
      bytes[at] ^= char(1) << below(random, 8);
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, bytes.substr(below(random, bytes.size()), length));
      break;
    case 4:
      bytes.resize(at);
      break;
    case 5:
      for (size_t i = at; i < std::min(at + 8, bytes.size()); ++i)
        bytes[i] = below(random, 2) ? '\xFF' : '\0';
      break;
    case 6: { // An end of another input.
      const std::string &other = pick(corpus, random);
      bytes = bytes.substr(0, at) +
              other.substr(std::min(other.size(), below(random, at + 1)));
      break;
    }
    default: { // Another number in a text.
      const std::string &number = pick(numbers, random);
      size_t digit = bytes.find_first_of("0123456789", at);
      if (digit != std::string::npos)
        bytes.replace(digit, 1, number);
      break;
    }
    }
  }
  return bytes;
}
