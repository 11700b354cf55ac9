//===- dsv4-bench.cpp - Measures what dsv4 compiles on a GPU --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints one JSON object. What its members mean: bench/README.md.
//
//===----------------------------------------------------------------------===//

#include "CompileCosts.h"
#include "Device.h"
#include "Workloads.h"

#include "dsv4/Support/Version.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"

using namespace dsv4;
using namespace dsv4::bench;
namespace cl = llvm::cl;
namespace json = llvm::json;

static cl::opt<std::string> output("output", cl::desc("file to write"),
                                   cl::init("-"));
static cl::opt<unsigned> rounds("rounds", cl::desc("replays of every graph"),
                                cl::init(21));
static cl::opt<unsigned> samples("samples", cl::init(64),
                                 cl::desc("rows compared with the oracle"));
static cl::list<std::string>
    schedules("schedule",
              cl::desc("#dsv4.schedule<...> to try beside the table's"));
static cl::opt<bool> quick("quick", cl::desc("one layout, no compile costs"));
static cl::opt<bool> noCompileCosts("no-compile-costs",
                                    cl::desc("kernels alone"));
static cl::list<std::string> only("only", cl::CommaSeparated,
                                  cl::desc("rows whose name begins so"));

static constexpr size_t copyBytes = size_t(1) << 30;

namespace {
/// Everything measured on one device.
class Bench {
public:
  explicit Bench(Session &session)
      : device(session), from(device.allocate(copyBytes)),
        to(device.allocate(copyBytes)) {
    device.fillRandom(from);
  }
  void copies();
  void run(Workload &workload, const std::vector<int64_t> &sizes);
  json::Object finish();
  Device device;

private:
  /// One program under one schedule.
  struct Variant {
    std::string schedule; ///< As given; empty: from the table.
    const rt::LoadedProgram *program;
    std::string mismatch;
  };
  std::vector<Variant> compile(Workload &workload, int64_t size);
  void measure(Workload &workload, int64_t size, std::vector<Variant> &variants,
               bool cold);
  Candidate copyOf(const CopyKernel &kernel, size_t bytes, unsigned launches,
                   bool cold);

  Memory from, to;
  json::Array copyRows, rows, compileRows, skipped, failures;
  json::Object dispatch;
};
} // namespace

/// Copies that move `bytes` in all, half of them read.
Candidate Bench::copyOf(const CopyKernel &kernel, size_t bytes,
                        unsigned launches, bool cold) {
  size_t half = bytes / 2 / 16 * 16;
  unsigned slices = cold ? copyBytes / half : 1;
  return {kernel.name, launches,
          [this, &kernel, half, slices](unsigned i, rt::Stream stream) {
            size_t at = i % slices * half;
            return device.copy(kernel, to.at(at), from.at(at), half, stream);
          }};
}

void Bench::copies() {
  std::vector<Candidate> candidates;
  for (const CopyKernel &kernel : device.copies())
    candidates.push_back(copyOf(kernel, 2 * copyBytes, 3, false));
  std::vector<Timing> timings = device.time(candidates, rounds);
  for (auto [candidate, timing] : llvm::zip(candidates, timings))
    copyRows.push_back(
        json::Object{{"name", candidate.name},
                     {"bytes", static_cast<int64_t>(2 * copyBytes)},
                     {"us", timing.us},
                     {"tb_per_s", 2 * copyBytes / timing.us * 1e-6}});
}

void Bench::measure(Workload &workload, int64_t size,
                    std::vector<Variant> &variants, bool cold) {
  const unsigned slices = workload.slices(size);
  const unsigned most = cold ? workload.maxLaunches : 1024;
  const unsigned launches = std::min(std::max(slices, 12u), most);
  const int64_t count = workload.rows(size);
  const int64_t bytes = count * workload.bytesPerRow + workload.bytesPerLaunch;
  std::vector<Arguments> arguments;
  for (unsigned i = 0; i < (cold ? std::min(slices, launches) : 1); ++i)
    arguments.push_back(workload.arguments(size, i));
  // What few bytes a graph moves would be warm in its next replay.
  const bool flush = cold && launches * bytes < 4ll * device.info.l2Bytes;

  std::vector<Candidate> candidates;
  for (const Variant &variant : variants)
    candidates.push_back(
        {variant.schedule, launches,
         [&arguments, &variant,
          workspace = device.workspace(arguments[0].workspaceBytes(
              *variant.program))](unsigned i, rt::Stream stream) {
           return arguments[i % arguments.size()].launch(*variant.program,
                                                         stream, workspace);
         }});
  for (const CopyKernel &kernel : device.copies())
    candidates.push_back(copyOf(kernel, bytes, launches, cold));
  const int64_t blocks = take(variants[0].program->launchShapes(
      arguments[0].values.data(), arguments[0].values.size()))[0]
                             .grid.count();
  for (bool programmatic : {false, true})
    candidates.push_back(
        {programmatic ? "pdl" : "plain", launches,
         [this, programmatic, blocks](unsigned, rt::Stream on) {
           return device.launchEmpty(programmatic, blocks, on);
         }});
  std::vector<Timing> timings = device.time(candidates, rounds, flush);

  // The fastest copy, and the fastest with nothing special about it.
  const size_t firstCopy = variants.size(), empty = timings.size() - 2;
  size_t best = firstCopy, plain = firstCopy;
  for (size_t i = firstCopy; i < empty; ++i) {
    if (timings[i].us < timings[best].us)
      best = i;
    if (candidates[i].name.find(',') == std::string::npos &&
        timings[i].us < timings[plain].us)
      plain = i;
  }
  for (auto [i, variant] : llvm::enumerate(variants)) {
    const std::vector<rt::KernelInfo> &kernels =
        variant.program->info().kernels;
    const rt::KernelInfo &kernel = kernels[0];
    const Timing &timing = timings[i];
    json::Object row{{"what", workload.name},
                     {"layout", workload.layout},
                     {"size", size},
                     {"rows", count},
                     {"bytes_per_row", workload.bytesPerRow},
                     {"bytes", bytes},
                     {"pool_bytes", workload.poolBytes},
                     {"l2", cold ? "cold" : "warm"},
                     {"flushed", flush},
                     {"from_table", variant.schedule.empty()},
                     {"schedule", kernel.schedule},
                     {"registers", kernel.registers},
                     {"spill_bytes", kernel.spillBytes},
                     {"kernels", static_cast<int64_t>(kernels.size())},
                     {"launches", launches},
                     {"us", timing.us},
                     {"us_low", timing.low}, // Quartiles.
                     {"us_high", timing.high},
                     {"tb_per_s", bytes / timing.us * 1e-6},
                     {"same_copy_us", timings[best].us},
                     {"same_copy", candidates[best].name},
                     {"same_plain_copy_us", timings[plain].us},
                     {"same_plain_copy", candidates[plain].name},
                     {"empty_us", timings[empty].us},
                     {"empty_pdl_us", timings[empty + 1].us},
                     {"checked_rows", std::min<int64_t>(samples, count)},
                     {"matches_oracle", variant.mismatch.empty()}};
    if (!variant.mismatch.empty())
      row["mismatch"] = variant.mismatch;
    rows.push_back(std::move(row));
  }
}

/// The program of the table and of every schedule that is to be tried; nothing
/// where the table's does not compile.
std::vector<Bench::Variant> Bench::compile(Workload &workload, int64_t size) {
  std::vector<Variant> variants;
  auto fromTable = workload.compile("", size);
  if (!fromTable) {
    // The others still have something to say.
    const std::string &why = fromTable.status().message();
    llvm::errs() << llvm::formatv("{0} {1}: {2}\n", workload.name,
                                  workload.layout, why);
    failures.push_back(json::Object{
        {"what", workload.name}, {"layout", workload.layout}, {"why", why}});
    return variants;
  }
  variants.push_back({"", *fromTable, ""});
  for (const std::string &schedule : schedules) {
    auto program = workload.compile(schedule, size);
    if (program)
      variants.push_back({schedule, *program, ""});
    else
      skipped.push_back(json::Object{{"what", workload.name},
                                     {"layout", workload.layout},
                                     {"schedule", schedule},
                                     {"why", program.status().message()}});
  }
  return variants;
}

void Bench::run(Workload &workload, const std::vector<int64_t> &sizes) {
  for (int64_t size : sizes) {
    std::vector<Variant> variants = compile(workload, size);
    if (variants.empty())
      return;
    for (Variant &variant : variants)
      variant.mismatch = workload.verify(*variant.program, size,
                                         workload.slices(size) - 1, samples);
    for (bool cold : {true, false})
      measure(workload, size, variants, cold);
    llvm::errs() << llvm::formatv("{0} {1} {2}\n", workload.name,
                                  workload.layout, size);
  }
  if (quick || noCompileCosts || !workload.compileCosts)
    return;
  compileRows.push_back(measureCompile(device, workload));
  if (dispatch.empty() && workload.name == "gather")
    dispatch = measureDispatch(device, workload);
}

/// Rows of few and many elements, few and many of them; those that something is
/// required of with adversarial scores, too. Compile costs are measured once an
/// algorithm.
static std::vector<TopkJob> getTopkJobs() {
  const std::vector<TopkJob> required = {
      {1, 4096, 512},          {1, 16384, 512, true},    {1, 65536, 512, true},
      {1, 262144, 512, true},  {16, 65536, 512},         {64, 8192, 512, true},
      {64, 32768, 512},        {64, 131072, 2048},       {64, 262144, 512},
      {256, 16384, 512, true}, {256, 131072, 2048, true}};
  std::vector<TopkJob> all = required;
  // Each beside the same without starts.
  for (TopkJob job : required) {
    job.compileCosts = false;
    job.starts = true;
    all.push_back(job);
  }
  llvm::append_range(all, std::initializer_list<TopkJob>{{1, 32768, 512},
                                                         {16, 16384, 512},
                                                         {32, 16384, 512},
                                                         {32, 32768, 512},
                                                         {8, 65536, 512},
                                                         {16, 65536, 2048},
                                                         {1, 131072, 1024},
                                                         {1, 1048576, 512},
                                                         {1, 4194304, 512}});
  for (auto scores : {TopkJob::Scores::Ascending, TopkJob::Scores::Equal,
                      TopkJob::Scores::Bucket, TopkJob::Scores::Specials,
                      TopkJob::Scores::Masked})
    for (TopkJob job : required) {
      job.compileCosts = false;
      job.scores = scores;
      all.push_back(job);
    }
  return all;
}

/// Decode steps in FP4 and FP8, speculative ones, short requests of a program
/// for long ones, and smaller and larger batches.
static std::vector<IndexScoreJob> getIndexScoreJobs() {
  using Result = IndexScoreJob::Result;
  const std::pair<int64_t, int64_t> shapes[] = {
      {64, 32768}, {1, 262144}, {64, 8192}};
  std::vector<IndexScoreJob> jobs;
  for (const char *record : {"index_mxfp4_68", "index_fp8_132"})
    for (auto [requests, columns] : shapes)
      for (Result result : {Result::Scores, Result::Selected, Result::Fused})
        jobs.push_back({record, requests, columns, result});
  for (int64_t nextN : {2, 4})
    for (Result result : {Result::Scores, Result::Selected, Result::Fused})
      jobs.push_back({"index_mxfp4_68", 64, 32768, result, nextN});
  for (int64_t requests : {1, 64})
    for (int64_t length : {2000, 8192})
      for (Result result : {Result::Selected, Result::Fused})
        jobs.push_back({"index_mxfp4_68", requests, 262144, result, 1, length});
  for (int64_t requests : {8, 16, 32, 256})
    for (Result result : {Result::Selected, Result::Fused})
      jobs.push_back(
          {"index_mxfp4_68", requests, requests > 64 ? 8192 : 32768, result});
  return jobs;
}

/// The rows that were asked for, one workload after another: each takes much of
/// the memory.
static void runAll(Bench &bench) {
  Device &device = bench.device;
  auto run = [&](llvm::StringRef name, bool inQuick,
                 const std::vector<int64_t> &sizes, auto make) {
    bool wanted = only.empty() || llvm::any_of(only, [&](const std::string &o) {
                    return name.starts_with(o);
                  });
    if (wanted && (inQuick || !quick))
      bench.run(*make(), sizes);
  };
  const std::vector<int64_t> gathered = {1024, 128, 16, 1};
  const std::vector<int64_t> appended = {32768, 16384, 8192, 256, 64, 1};
  run("gather", true, gathered,
      [&] { return makeGather(device, "v4_584", 584, 512); });
  run("gather", false, gathered,
      [&] { return makeGather(device, "seed_580", 580, 512); });
  run("gather", false, gathered,
      [&] { return makeGather(device, "v41_fp4_288", 288, 512); });
  for (bool given : {false, true})
    run(given ? "gather_given" : "gather_ragged", false, {65536, 8192},
        [&] { return makeRaggedGather(device, given); });
  run("dequantize", true, {65536, 524288},
      [&] { return makeDequantize(device); });
  for (bool chain : {false, true})
    for (const char *layout : {"v4_584", "seed_580"})
      run(chain ? "append_chain" : "append", layout[0] == 'v', appended,
          [&] { return makeAppend(device, layout, chain); });
  const std::pair<const char *, Placement> placements[] = {
      {"append_in_order", Placement::inOrder},
      {"append_scattered", Placement::scattered}};
  for (auto [name, placement] : placements)
    for (const char *layout : {"v4_584", "seed_580"})
      run(name, false, {32768}, [&, placement = placement] {
        return makeAppend(device, layout, /*chain=*/false, placement);
      });
  // Slots that may repeat beside slots that differ.
  run("append_repeats", false, {16384, 1024, 64, 1}, [&] {
    return makeAppend(device, "v4_584", /*chain=*/false, Placement::pages,
                      /*unique=*/false);
  });
  // Beside each other: one launch, and two.
  for (bool oneLaunch : {true, false})
    run(oneLaunch ? "query_and_key" : "query_then_key", false, {4096, 64},
        [&] { return makeQuery(device, oneLaunch); });
  for (int64_t columns : {512, 4096, 7168})
    run("rms_norm", false, {8192, 64},
        [&] { return makeNorm(device, columns); });
  run("quantize_long", false, {8192}, [&] { return makeLongQuantize(device); });
  // As many values as 8192 rows of 7168 and of 512.
  for (const char *layout : {"nvfp4", "fp8_ue8m0"})
    run("quantize", layout[0] == 'n', {114688, 8192},
        [&] { return makeQuantize(device, layout); });
  // Entries of 8192 and 32768 tokens; of one token of each of 64 requests.
  run("compress_csa", true, {2048, 8192},
      [&] { return makeCompress(device, "compress_csa"); });
  run("compress_hca", false, {64, 256},
      [&] { return makeCompress(device, "compress_hca"); });
  run("compress_index", false, {2048, 8192},
      [&] { return makeCompress(device, "compress_index"); });
  for (const char *name : {"compress_decode", "compress_decode_state"})
    run(name, false, {64}, [&] { return makeCompress(device, name); });
  // 8192 tokens in whole windows and in quarters; one token of each request.
  struct {
    const char *name;
    int64_t segment, segments;
  } const online[] = {{"compress_hca_online", 128, 64},
                      {"compress_hca_online_chunks", 32, 256},
                      {"compress_hca_online_decode", 1, 64}};
  for (const auto &of : online)
    run(of.name, false, {of.segments},
        [&] { return makeOnline(device, of.name, of.segment, of.segments); });
  // Few tokens of a decode step, many of a prefill.
  for (const RouterJob &of : getRouterJobs())
    run(of.name, of.name == "router" && of.experts == 256, {1, 64, 1024, 8192},
        [&] { return makeRouter(device, of); });
  for (const DenseRouterJob &of : std::initializer_list<DenseRouterJob>{
           {256, 7168}, {256, 7168, true}, {384, 7168}})
    run(of.getName(), false,
        of.stored ? std::vector<int64_t>{1, 64, 256, 1024, 4096}
                  : std::vector<int64_t>{1, 8, 16, 32, 64},
        [&] { return makeDenseRouter(device, of); });
  for (const IndexScoreJob &of : getIndexScoreJobs())
    run(of.getName(), false, {of.columns},
        [&] { return makeIndexScore(device, of); });
  for (const TopkJob &of : getTopkJobs())
    run(of.getName(), of.columns == 32768, {of.columns},
        [&] { return makeTopk(device, of); });
}

json::Object Bench::finish() {
  return json::Object{
      {"device", json::Object{{"name", device.info.name},
                              {"arch", device.info.arch},
                              {"multiprocessors", device.info.multiprocessors},
                              {"l2_bytes", device.info.l2Bytes},
                              {"driver_api", device.driver.version()}}},
      {"rounds", static_cast<int64_t>(rounds)},
      {"copies", std::move(copyRows)},
      {"rows", std::move(rows)},
      {"compile", std::move(compileRows)},
      {"dispatch", std::move(dispatch)},
      {"skipped", std::move(skipped)},
      {"failures", std::move(failures)}};
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  dsv4::setVersionPrinter("dsv4-bench");
  cl::ParseCommandLineOptions(argc, argv,
                              "dsv4-bench: measure dsv4's kernels on a GPU\n");
  SessionOptions options;
  options.target = TargetKind::Cuda;
  options.cache.memoryOnly = true;
  auto session = take(Session::create(options));
  Bench bench(*session);
  bench.copies();
  runAll(bench);
  bench.copies(); // Again: what the machine does has not changed.
  std::error_code error;
  llvm::raw_fd_ostream os(output, error);
  if (error)
    check(
        rt::Status(rt::Code::InvalidArgument, output + ": " + error.message()));
  os << llvm::formatv("{0:2}\n", json::Value(bench.finish()));
  return 0;
}
