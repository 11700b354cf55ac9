//===- Programs.h - Text of programs over every layout ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_INTEGRATION_PROGRAMS_H
#define DSV4_TEST_INTEGRATION_PROGRAMS_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace dsv4::test {

/// A function under construction: its arguments.
class Function {
public:
  /// Adds a tensor argument; `dims` names its axes, "" for the constant last.
  /// Returns "%name : type".
  std::string add(const std::string &name, const std::string &type,
                  const std::vector<std::string> &dims);
  void addArgument(const std::string &text) {
    arguments += (arguments.empty() ? "" : ",\n    ") + text;
  }

  std::string arguments;
};

/// tensor<?x?x512xbf16>; `last` < 0: no constant last extent.
std::string tensor(int dynamic, int64_t last, const std::string &element);

/// A record as a program spells it.
struct Record {
  std::string name;      ///< For people.
  std::string attribute; ///< "#dsv4.record<...>".
  int64_t rowExtent = 0; ///< Values in the row of an entry.
};

/// Every record the dialect knows by name.
std::vector<Record> getKnownRecords();
/// Records nobody has, for what the known ones do not reach.
std::vector<Record> getOwnRecords();

/// Which page table a gather has.
enum class Table {
  None,       ///< An index is the entry itself.
  PerQuery,   ///< A row a token.
  PerRequest, ///< A row a request, and the request of every token.
  Single      ///< One row; only with indices of rank 1.
};

enum class Policy { Dynamic, Bucket, Exact };

/// A gather. Its dims are t, k, r, mp and c.pages, as far as they occur.
struct Gather {
  Record record;
  int64_t page = 64;
  int rank = 2; ///< Of the indices.
  Table table = Table::None;
  bool lengths = false, mask = false;
  std::string result = "bf16";
  Policy policy = Policy::Dynamic; ///< Of k and mp.

  std::string getName() const;
  std::string getText() const;
  /// Any kind of gather of `record` in pages of `page` entries.
  static Gather draw(Record record, int64_t page, std::mt19937_64 &random);
};

/// Scales of a dequantize: element type and "16", "row" or "tensor".
struct Level {
  std::string element, group;
};

/// A dequantize. Its leading extents are the dims n and m, as far as they
/// occur.
struct Dequantize {
  std::string element;
  std::vector<Level> levels;
  int64_t extent = 512;
  int rank = 2;
  bool highFirst = false;
  std::string result = "bf16";

  std::string getName() const;
  std::string getText() const;
};

/// Every format of the field at every rank, with both results.
std::vector<Dequantize> getDequantizes();

} // namespace dsv4::test

#endif // DSV4_TEST_INTEGRATION_PROGRAMS_H
