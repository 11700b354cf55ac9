//===- Writers.h - Text of programs that write ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_INTEGRATION_WRITERS_H
#define DSV4_TEST_INTEGRATION_WRITERS_H

#include "Programs.h"
#include "Testing.h"

#include <optional>

namespace dsv4::test {

/// One of `values`.
template <typename T>
T draw(const std::vector<T> &values, std::mt19937_64 &random) {
  return values[random() % values.size()];
}

/// A function of dsv4 ops on rows; its dims are n and m, as far as the rank has
/// them.
class Writer {
public:
  explicit Writer(int rank = 2) : rank(rank) {}

  /// The type of rows of `extent` elements; < 0: of one element.
  std::string rows(const std::string &element, int64_t extent) const;
  /// An argument of rows, "%name : type".
  std::string addRows(const std::string &name, const std::string &element,
                      int64_t extent);
  std::string add(const std::string &name, const std::string &type,
                  const std::vector<std::string> &dims);
  void addCache(int64_t page, const Record &record);

  /// Where an op of this many results writes: arguments, which are returned, or
  /// where not `kept`, tensor.empty.
  struct Destination {
    std::string name, element;
    int64_t extent;
  };
  /// Adds an op; `head` is up to its `outs`. The results are called %v_NAME.
  void addOp(const std::string &head,
             const std::vector<Destination> &destinations,
             const std::string &attributes, const std::string &sourceType,
             bool kept);
  /// Lines of types before the function.
  void addType(const std::string &line) { types += line + "\n"; }
  void addArgument(const std::string &text) { inputs.addArgument(text); }
  void addText(const std::string &text) { ops += "  " + text + "\n"; }

  /// "dim = #dsv4.policy<...>".
  void addPolicy(const std::string &text) {
    policies += (policies.empty() ? "" : ", ") + text;
  }

  /// "func.func ...".
  std::string getText() const;

private:
  int rank;
  Function inputs, outputs;
  std::string types, ops, returned, returnedTypes, policies;
  bool hasEmpty = false;
};

/// A quantize.
struct Quantize {
  std::string name, element;
  std::vector<Level> levels;
  std::string recipe; ///< What is between < and >.
  int64_t extent = 512, begin = 0, count = 512;
  std::string input = "bf16";
  int rank = 2;
  bool inverse = false; ///< Whether the given scale is the inverse of one.

  /// Elements that share a scale of the first level.
  int64_t getGroup() const;
  /// Whether the only level is per tensor.
  bool hasGivenScaleAlone() const;
  std::string getName() const;
  std::string getText() const;
  /// Adds the op to a function where `source` is a value of `extent` columns;
  /// the results are %v_payload, %v_scales and %v_outer.
  void addTo(Writer &writer, const std::string &source, bool kept) const;
  /// A recipe that the format takes.
  void drawRecipe(std::mt19937_64 &random);
  /// Any columns that the groups divide, of any row.
  void drawColumns(std::mt19937_64 &random);
};

/// The recipes of public engines, docs/Quantisation.md.
std::vector<Quantize> getKnownQuantizes();
/// Every kind of format, with a drawn recipe.
std::vector<Quantize> drawQuantizes(std::mt19937_64 &random);

/// rms_norm, rope, hadamard or add_rows. Dims: n, m, p.
struct RowOp {
  std::string op = "rms_norm";
  int64_t extent = 512, rotated = 64;
  std::string input = "bf16", result = "bf16", weight; ///< "": none.
  std::string positions = "%pos", table = "f32";
  bool inverse = false, neox = false, interleaved = false;
  /// Whether rows along the second axis have one position.
  bool sharesPositions = false;
  int64_t begin = 0, count = 512; ///< Columns of add_rows.
  int rank = 2;

  std::string getName() const;
  std::string getText() const;
  /// Adds the op; the result is %v_NAME.
  void addTo(Writer &writer, const std::string &source, const std::string &name,
             bool kept) const;
  /// "tensor<?xi32>".
  std::string getPositionType(const Writer &writer) const;
};

std::vector<RowOp> drawRowOps(std::mt19937_64 &random);

/// A compress. Dims: n (entries), t (tokens), r, mp (of the state's pages).
struct Compressor {
  int64_t channels = 512, window = 4;
  bool overlap = true, bias = true, online = false;
  std::string input = "f32", result = "bf16";
  bool state = true, table = false, arrays = false, biased = false;
  int64_t ring = 8, page = 8; ///< Of the state; 0: no ring.

  int64_t getColumns() const { return channels * (overlap ? 2 : 1); }
  int64_t getRows() const { return window * (overlap ? 2 : 1); }
  std::string getName() const;
  std::string getText() const;
  /// Adds the op; the result is %v_pooled.
  void addTo(Writer &writer, bool kept) const;
  /// Dims of so many entries and tokens, and of a state for them.
  Dims getDims(int64_t entries, int64_t tokens, int64_t requests) const;
  static Compressor draw(int64_t channels, std::mt19937_64 &random);
  static Compressor drawOnline(int64_t channels, std::mt19937_64 &random);
};

/// A schedule with a group of threads and, with `clusters`, perhaps several
/// blocks a row, which may not fit.
std::string drawWindowSchedule(std::mt19937_64 &random);

/// A field of a record, as an append writes it.
struct Field {
  std::string name, element;
  int64_t extent;
  bool isScale;
  int64_t group; ///< -1: per row, -2: per tensor.
  bool isWritten() const { return group != -2; }
};

std::vector<Field> getFields(const Record &record);

/// Which entries an append writes. Dims: n, r, mp.
struct Slots {
  int64_t ring = 0; ///< 0: none.
  bool table = false, requests = false, unique = false;

  std::string getName() const;
  /// Adds the arguments; returns the op up to its `fields`.
  std::string addTo(Writer &writer, bool addIndices = true) const;
  static Slots draw(int64_t page, std::mt19937_64 &random);
};

/// An append of fields that are arguments.
struct Append {
  Record record;
  int64_t page = 64;
  Slots slots;
  uint64_t seed = 0; ///< Of columns and shapes of operands; 0: plain ones.

  std::string getName() const;
  std::string getText() const;
};

/// [compress,] [rms_norm,] [rope,] [hadamard,] [quantize,] append: one kernel,
/// or `kept`, with everything in between returned.
struct Chain {
  Record record;
  int64_t page = 64;
  Slots slots;
  bool norm = true, rope = true, hadamard = false, kept = false;
  std::string input = "bf16", between = "bf16", last = "bf16";
  std::optional<Compressor> compress;
  std::optional<Quantize> quantize;

  std::string getName() const;
  std::string getText() const;
  size_t getOpCount() const;
  /// A chain into `record`, or nothing where no op makes what it holds.
  static std::optional<Chain> draw(const Record &record,
                                   std::mt19937_64 &random);
};

} // namespace dsv4::test

#endif // DSV4_TEST_INTEGRATION_WRITERS_H
