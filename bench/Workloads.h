//===- Workloads.h - What is measured, and its data -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workload owns device memory for many launches that share no data, so that
// launches in turn over its slices find nothing warm. Before timing, random
// rows of a launch are compared with the oracle.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_BENCH_WORKLOADS_H
#define DSV4_BENCH_WORKLOADS_H

#include "Device.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dsv4::bench {

/// Arguments of one launch; they point into the workload.
struct Arguments {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<rt::Argument> values;
  void add(char *data, std::vector<int64_t> shape) {
    shapes.push_back(std::move(shape));
    values.push_back({data, nullptr});
  }
  rt::Status launch(const rt::LoadedProgram &program, rt::Stream stream,
                    rt::Workspace workspace) {
    link();
    return program.launch(stream, values.data(), values.size(), workspace);
  }
  uint64_t workspaceBytes(const rt::LoadedProgram &program) {
    link();
    return take(program.workspaceBytes(values.data(), values.size()));
  }
  void link() {
    for (size_t i = 0; i < values.size(); ++i)
      values[i].shape = shapes[i].data();
  }
};

/// A few rows of a launch as a small launch of their own, in host memory, for
/// the oracle.
struct Excerpt {
  /// Bytes that both launches must leave the same.
  struct Result {
    size_t binding, offset; ///< Of the small one.
    char *device;           ///< Of the large one.
    size_t bytes;
  };
  std::vector<std::vector<char>> data; ///< By binding.
  std::vector<std::vector<int64_t>> shapes;
  std::vector<Result> results;

  void add(const void *from, size_t bytes, std::vector<int64_t> shape) {
    const char *begin = static_cast<const char *>(from);
    add(std::vector<char>(begin, begin + bytes), std::move(shape));
  }
  void add(std::vector<char> bytes, std::vector<int64_t> shape) {
    data.push_back(std::move(bytes));
    shapes.push_back(std::move(shape));
  }
};

/// One binding of the argument "cache".
struct CachePart {
  std::vector<int64_t> pageShape;
  int64_t pageBytes;
  std::vector<int64_t> getShape(int64_t pages) const {
    std::vector<int64_t> shape = pageShape;
    shape.insert(shape.begin(), pages);
    return shape;
  }
};

class Workload {
public:
  virtual ~Workload();

  const std::string name;   ///< "gather", "append_chain".
  std::string compileName;  ///< What its compile costs are called: `name`.
  const std::string layout; ///< "v4_584", "nvfp4".
  const std::string source;
  CompileOptions options;
  int64_t bytesPerRow = 0;    ///< Every byte read or written once.
  int64_t bytesPerLaunch = 0; ///< More, or less, than those of its rows.
  int64_t rowsPerSize = 1; ///< Rows of a launch of size 1: a token is k rows.
  int64_t poolBytes = 0;   ///< What one pool holds.
  unsigned maxLaunches = 1024; ///< Of a graph that finds nothing warm.
  bool compileCosts = true;    ///< Measured unless another's stand for them.
  std::string sizeDim;         ///< The dim that the size of a launch is.

  /// Compiles for launches of `size` as the policies of the program have it,
  /// with the given schedule; empty: the table's.
  rt::Result<const rt::LoadedProgram *> compile(const std::string &schedule,
                                                int64_t size);
  /// Rows of a launch.
  virtual int64_t rows(int64_t size) const { return size * rowsPerSize; }
  /// How many launches of `size` share no data.
  virtual unsigned slices(int64_t size) const = 0;
  virtual Arguments arguments(int64_t size, unsigned slice) = 0;
  /// Launches, and compares `count` random rows, or all if there are no more,
  /// with the oracle: "" or what differs. Nothing of results that are not the
  /// same in every bit.
  std::string verify(const rt::LoadedProgram &program, int64_t size,
                     unsigned slice, unsigned count);

protected:
  Workload(Device &device, std::string name, std::string layout,
           std::string source);
  virtual Excerpt extract(int64_t size, unsigned slice,
                          const std::vector<int64_t> &rows) = 0;
  std::vector<char> download(const char *from, size_t bytes);
  /// The bindings of the argument "cache", in order.
  std::vector<CachePart> getCacheParts();

  Device &device;

private:
  mlir::func::FuncOp getFunction();

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Cosines, then sines, of 32 rotary pairs for every position, base 10,000.
std::vector<float> makeAngles(int64_t positions);

/// 1024 tokens of `topk` entries in each of four pools, every token with pages
/// of its own, scattered over the pool; sizes are tokens.
std::unique_ptr<Workload> makeGather(Device &device, const std::string &layout,
                                     int64_t recordBytes, int64_t topk);

/// All positions of 64 requests, of `v4_584`, in pages scattered over one pool;
/// sizes are rows. The kernel finds what each row is for, or it is `given`.
std::unique_ptr<Workload> makeRaggedGather(Device &device, bool given);

/// Four dense tensors of 524,288 rows of 512 NVFP4 values; sizes are rows.
std::unique_ptr<Workload> makeDequantize(Device &device);

/// Four dense tensors of 114,688 rows of 512 bf16 values (8192 rows of 7168),
/// to "nvfp4" or "fp8_ue8m0"; sizes are rows.
std::unique_ptr<Workload> makeQuantize(Device &device,
                                       const std::string &layout);

/// Four dense tensors of 16,384 rows of `columns` bf16 values, normalised with
/// one weight; sizes are rows.
std::unique_ptr<Workload> makeNorm(Device &device, int64_t columns);

/// Four dense tensors of 16,384 rows of 7168 bf16 values to E4M3 with an f32
/// scale per 128 elements; sizes are rows.
std::unique_ptr<Workload> makeLongQuantize(Device &device);

/// Where the tokens of a prompt are: in pages anywhere in the pool, as of a
/// pool that has been in use; in pages one after the other; or each anywhere.
enum class Placement { pages, inOrder, scattered };

/// 524,288 tokens, each with an entry of its own in one pool, of "v4_584" or
/// "seed_580"; sizes are tokens. `chain`: normalised, rotated, quantised and
/// written to rings of 128; else quantised and written to slots. Entries are
/// anywhere, but those of more than 256 tokens written to slots are a prompt's.
/// Without `unique` the program does not promise that the slots differ.
std::unique_ptr<Workload> makeAppend(Device &device, const std::string &layout,
                                     bool chain,
                                     Placement placement = Placement::pages,
                                     bool unique = true);

/// 16,384 tokens of 64 heads, which are normalised, rotated and quantised to
/// E4M3, and of a key, which is rotated, quantised and written to a slot of its
/// own: by one launch, or by one for each; sizes are tokens.
std::unique_ptr<Workload> makeQuery(Device &device, bool oneLaunch);

/// Windows of tokens into records, by name: "compress_csa", "compress_hca",
/// "compress_index" (prefills), "compress_decode", "compress_decode_state"
/// (which also keeps the tokens); sizes are entries, multiples of 64.
std::unique_ptr<Workload> makeCompress(Device &device, const std::string &name);

/// Windows of 128 tokens whose state is sums: `segments` segments a launch,
/// each of `segment` tokens of a request of its own; the size is `segments`.
std::unique_ptr<Workload> makeOnline(Device &device, const char *name,
                                     int64_t segment, int64_t segments);

/// 262,144 tokens that are routed to 6 of their experts by score and bias or,
/// with `hash`, by token id.
struct RouterJob {
  std::string name;
  int64_t experts;
  bool hash;
  std::string groups; ///< What the selection has of groups.
};
std::vector<RouterJob> getRouterJobs();

/// Sizes are tokens.
std::unique_ptr<Workload> makeRouter(Device &device, const RouterJob &of);

/// Hidden rows that are routed to 8 experts by the sigmoid of their logits and
/// bias, by one kernel, or with logits that are stored by two.
struct DenseRouterJob {
  int64_t experts, depth;
  bool stored = false;
  std::string getName() const;
};

/// Sizes are tokens.
std::unique_ptr<Workload> makeDenseRouter(Device &device,
                                          const DenseRouterJob &of);

/// One topk: indices alone, unordered, of f32 rows without lengths, which with
/// `starts` begin within a vector.
struct TopkJob {
  /// Normally distributed; adversarial ones: ascending, all equal, with the
  /// same sign, exponent and first bits of the mantissa, NaN, infinities, zeros
  /// and denormal numbers, of which the last of the best is one, or fewer
  /// numbers than are wanted and -infinity.
  enum class Scores { Normal, Ascending, Equal, Bucket, Specials, Masked };
  int64_t rows, columns, places;
  bool compileCosts = false;
  Scores scores = Scores::Normal;
  bool starts = false;
  /// "topk_64", "topk_64_equal", "topk_64_starts".
  std::string getName() const;
};

/// Launches of `of.rows` rows each; the size is `of.columns`.
std::unique_ptr<Workload> makeTopk(Device &device, const TopkJob &of);

/// Scores of all keys of an index by queries of 64 heads in E4M3, and the 512
/// best: by a kernel of their own, or in the kernel of the scores.
struct IndexScoreJob {
  enum class Result { Scores, Selected, Fused };
  std::string record; ///< "index_mxfp4_68", "index_fp8_132".
  int64_t requests, columns;
  Result result = Result::Scores;
  int64_t nextN = 1;        ///< Rows of a request.
  int64_t length = columns; ///< Keys that a request has.
  /// "index_score_64", "index_select_64_next2", "index_fused_1".
  std::string getName() const;
};

/// The size is `of.columns`.
std::unique_ptr<Workload> makeIndexScore(Device &device,
                                         const IndexScoreJob &of);

} // namespace dsv4::bench

#endif // DSV4_BENCH_WORKLOADS_H
