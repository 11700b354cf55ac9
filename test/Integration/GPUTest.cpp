//===- GPUTest.cpp - What only a GPU can show -----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pools beyond 4 GiB, outputs beyond 4 GiB, many rows, streams, graphs.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Testing.h"

#include "dsv4/InitAll.h"
#include "dsv4/Reference/Check.h"
#include "dsv4/Testing/RandomInputs.h"

#include "mlir/Parser/Parser.h"

#include <cstring>

using namespace dsv4;
using namespace dsv4::test;
using rt::Status;

namespace {

/// A compiled program with memory on the device for one set of dims.
class DeviceProgram {
public:
  DeviceProgram(const std::string &text, Dims dims,
                const std::string &schedule = "")
      : text(text), schedule(schedule), dims(std::move(dims)) {}
  ~DeviceProgram() {
    for (void *block : memory)
      (void)driver->release(block);
  }

  Status open() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    module = mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(context.get()));
    if (!module)
      return Status(rt::Code::InvalidArgument, "the text does not parse");
    func = *module->getOps<mlir::func::FuncOp>().begin();
    SessionOptions options;
    options.target = TargetKind::Cuda;
    options.cache.memoryOnly = true;
    auto created = Session::create(options);
    if (!created)
      return created.status();
    session = created.take();
    driver = session->driver();
    CompileOptions compile;
    compile.schedule = schedule;
    auto compiled = session->compile(text, "test.mlir", compile);
    if (!compiled)
      return compiled.status();
    program = *compiled;
    auto made = makeInputs(0);
    if (!made)
      return made.status();
    shapes = made->shapes;
    for (size_t i = 0; i < shapes.size(); ++i) {
      auto block = driver->allocate(made->bytes[i].size());
      if (!block)
        return block.status();
      memory.push_back(*block);
      arguments.push_back({*block, shapes[i].data()});
    }
    return Status();
  }

  rt::Result<reference::InputSet> makeInputs(uint64_t seed) {
    return reference::makeRandomInputs(func, dims, seed);
  }

  Status upload(const reference::InputSet &inputs, rt::Stream stream) {
    for (size_t i = 0; i < memory.size(); ++i)
      if (Status status =
              driver->copyToDevice(memory[i], inputs.bytes[i].data(),
                                   inputs.bytes[i].size(), stream);
          !status)
        return status;
    return Status();
  }

  Status launch(rt::Stream stream) {
    return program->launch(stream, arguments.data(), arguments.size(),
                           workspace);
  }

  Status download(reference::InputSet &outputs, rt::Stream stream) {
    for (size_t i = 0; i < memory.size(); ++i)
      if (program->info().bindings[i].written)
        if (Status status =
                driver->copyToHost(outputs.bytes[i].data(), memory[i],
                                   outputs.bytes[i].size(), stream);
            !status)
          return status;
    return Status();
  }

  /// Whether `outputs` is what the oracle makes of `inputs`.
  bool matches(const reference::InputSet &inputs,
               const reference::InputSet &outputs) {
    reference::InputSet expected = inputs;
    reference::InputSet got = outputs;
    auto oracle = reference::evaluate(func, expected.buffers());
    EXPECT_TRUE(oracle.ok());
    return oracle &&
           reference::explainDifference(*oracle, got.buffers()).empty();
  }

  std::string text, schedule;
  Dims dims;
  rt::Workspace workspace; ///< The test's.
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  std::unique_ptr<Session> session;
  rt::Driver *driver = nullptr;
  const rt::LoadedProgram *program = nullptr;
  std::vector<void *> memory;
  std::vector<rt::Argument> arguments;
  std::vector<std::vector<int64_t>> shapes;
};

#define ASSERT_GOOD(expression)                                                \
  do {                                                                         \
    Status status_ = (expression);                                             \
    ASSERT_TRUE(status_.ok()) << status_.message();                            \
  } while (false)

Gather getGather(const std::string &record, int64_t page, Table table) {
  Gather gather;
  for (const Record &known : getKnownRecords())
    if (known.name == record)
      gather.record = known;
  gather.page = page;
  gather.table = table;
  gather.lengths = gather.mask = true;
  return gather;
}

void checkLarge(const Gather &gather, const Dims &dims) {
  TemporaryDirectory directory;
  std::string file =
      directory.write(gather.getName() + ".mlir", gather.getText());
  std::string failure =
      explainFailure(getCheckedRun(file, directory, dims, getSeed()));
  EXPECT_EQ(failure, "") << gather.getName() << " with " << toText(dims);
}

} // namespace

// 4.6 GiB of pages; random pages, so most indices are beyond 2 GiB.
TEST(GPUTest, PagesBeyond4GiB) {
  DSV4_NEEDS_GPU();
  checkLarge(
      getGather("v4_584", 64, Table::PerRequest),
      {{"t", 64}, {"k", 129}, {"r", 8}, {"mp", 16384}, {"c.pages", 131072}});
}

// An index is the entry itself, 8.4 million of them.
TEST(GPUTest, EntriesBeyond4GiB) {
  DSV4_NEEDS_GPU();
  checkLarge(getGather("v41_528", 128, Table::None),
             {{"t", 64}, {"k", 129}, {"c.pages", 70000}});
}

// Every array has an offset of its own; that of the values is beyond 2 GiB.
TEST(GPUTest, ArraysBeyond2GiB) {
  DSV4_NEEDS_GPU();
  checkLarge(getGather("seed_580", 128, Table::PerQuery),
             {{"t", 64}, {"k", 129}, {"mp", 1024}, {"c.pages", 40000}});
}

TEST(GPUTest, MoreThan65535Rows) {
  DSV4_NEEDS_GPU();
  checkLarge(getGather("index_mxfp4_68", 64, Table::PerRequest),
             {{"t", 70001}, {"k", 3}, {"r", 5}, {"mp", 7}, {"c.pages", 40}});
  Gather flat = getGather("index_fp8_132", 64, Table::Single);
  flat.rank = 1;
  checkLarge(flat, {{"k", 200003}, {"mp", 7}, {"c.pages", 9}});
}

// 4.3 million rows make 4.4 GB. The oracle would take minutes for these: the
// same tokens in a small batch give the same bytes.
TEST(GPUTest, ResultBeyond4GiB) {
  DSV4_NEEDS_GPU();
  const int64_t tokens = 8400, few = 40, topk = 512;
  Gather gather = getGather("v4_584", 64, Table::None);
  gather.lengths = gather.mask = false;
  DeviceProgram large(gather.getText(),
                      {{"t", tokens}, {"k", topk}, {"c.pages", 300}});
  DeviceProgram small(gather.getText(),
                      {{"t", few}, {"k", topk}, {"c.pages", 300}});
  ASSERT_GOOD(large.open());
  ASSERT_GOOD(small.open());
  auto stream = large.driver->createStream();
  ASSERT_GOOD(stream.status());
  auto inputs = large.makeInputs(getSeed());
  ASSERT_GOOD(inputs.status());
  ASSERT_GOOD(large.upload(*inputs, *stream));
  ASSERT_GOOD(large.launch(*stream));
  ASSERT_GOOD(large.download(*inputs, *stream));
  auto part = small.makeInputs(getSeed());
  ASSERT_GOOD(part.status());
  // Bindings: c, i, o.
  const size_t cache = 0, indices = 1, rows = 2;
  part->bytes[cache] = inputs->bytes[cache];
  for (int64_t first : {int64_t(0), tokens / 2, tokens - few}) {
    size_t size = part->bytes[indices].size();
    std::memcpy(part->bytes[indices].data(),
                inputs->bytes[indices].data() + first * topk * 4, size);
    ASSERT_GOOD(small.upload(*part, *stream));
    ASSERT_GOOD(small.launch(*stream));
    reference::InputSet outputs = *part;
    ASSERT_GOOD(small.download(outputs, *stream));
    ASSERT_GOOD(small.driver->synchronize(*stream));
    EXPECT_TRUE(small.matches(*part, outputs));
    EXPECT_EQ(std::memcmp(outputs.bytes[rows].data(),
                          inputs->bytes[rows].data() + first * topk * 512 * 2,
                          outputs.bytes[rows].size()),
              0)
        << "tokens from " << first;
  }
  ASSERT_GOOD(large.driver->destroyStream(*stream));
}

// A launch comes after what is before it on the stream of the caller, and
// launches on two streams do not disturb each other.
TEST(GPUTest, CallersStreams) {
  DSV4_NEEDS_GPU();
  Dims dims = {{"t", 256}, {"k", 64}, {"r", 4}, {"mp", 16}, {"c.pages", 64}};
  DeviceProgram a(getGather("v4_584", 64, Table::PerRequest).getText(), dims);
  DeviceProgram b(getGather("seed_292", 64, Table::PerRequest).getText(), dims);
  ASSERT_GOOD(a.open());
  ASSERT_GOOD(b.open());
  auto first = a.driver->createStream(), second = b.driver->createStream();
  ASSERT_GOOD(first.status());
  ASSERT_GOOD(second.status());
  for (uint64_t seed : {1, 2, 3}) {
    auto inputsA = a.makeInputs(seed), inputsB = b.makeInputs(seed);
    reference::InputSet outputsA = *inputsA, outputsB = *inputsB;
    ASSERT_GOOD(a.upload(*inputsA, *first));
    ASSERT_GOOD(b.upload(*inputsB, *second));
    for (int i = 0; i < 20; ++i) {
      ASSERT_GOOD(a.launch(*first));
      ASSERT_GOOD(b.launch(*second));
    }
    ASSERT_GOOD(a.download(outputsA, *first));
    ASSERT_GOOD(b.download(outputsB, *second));
    ASSERT_GOOD(a.driver->synchronize(*first));
    ASSERT_GOOD(b.driver->synchronize(*second));
    EXPECT_TRUE(a.matches(*inputsA, outputsA)) << "seed " << seed;
    EXPECT_TRUE(b.matches(*inputsB, outputsB)) << "seed " << seed;
  }
  ASSERT_GOOD(a.driver->destroyStream(*first));
  ASSERT_GOOD(b.driver->destroyStream(*second));
}

// A captured launch reads what is in memory when it is replayed.
TEST(GPUTest, GraphReplayWithOtherInputs) {
  DSV4_NEEDS_GPU();
  for (const char *record : {"v4_584", "v41_fp4_288", "seed_580"}) {
    DeviceProgram program(
        getGather(record, 64, Table::PerRequest).getText(),
        {{"t", 33}, {"k", 65}, {"r", 4}, {"mp", 16}, {"c.pages", 64}});
    ASSERT_GOOD(program.open());
    rt::Driver &driver = *program.driver;
    auto stream = driver.createStream();
    ASSERT_GOOD(stream.status());
    ASSERT_GOOD(driver.beginCapture(*stream));
    ASSERT_GOOD(program.launch(*stream));
    ASSERT_GOOD(program.launch(*stream)); // Writes the same bytes again.
    auto graph = driver.endCapture(*stream);
    ASSERT_GOOD(graph.status());
    for (uint64_t seed : {11, 12, 13}) {
      auto inputs = program.makeInputs(seed);
      reference::InputSet outputs = *inputs;
      ASSERT_GOOD(program.upload(*inputs, *stream));
      ASSERT_GOOD(driver.replay(*graph, *stream));
      ASSERT_GOOD(driver.replay(*graph, *stream));
      ASSERT_GOOD(program.download(outputs, *stream));
      ASSERT_GOOD(driver.synchronize(*stream));
      EXPECT_TRUE(program.matches(*inputs, outputs))
          << record << ", seed " << seed;
    }
    ASSERT_GOOD(driver.destroyGraph(*graph));
    ASSERT_GOOD(driver.destroyStream(*stream));
  }
}

/// The best of long rows, each by `parts` blocks that are no cluster.
static DeviceProgram selectByGrid(int64_t rows, int64_t columns, int64_t places,
                                  int64_t parts) {
  const std::string scores = "tensor<?x?xf32>",
                    chosen = "tensor<?x" + std::to_string(places) + "xi32>";
  return DeviceProgram(
      "func.func @select(%s: " + scores +
          " {dsv4.name = \"s\", dsv4.dims = [\"rows\", \"columns\"]}, %i: " +
          chosen + " {dsv4.name = \"i\", dsv4.dims = [\"rows\", \"\"]}) -> " +
          chosen + " {\n  %0 = dsv4.topk %s order index_ascending outs(%i : " +
          chosen + ") : " + scores + "\n  return %0 : " + chosen + "\n}\n",
      {{"rows", rows}, {"columns", columns}},
      "#dsv4.schedule<threads = 256, pdl = true, parts = [#dsv4.select<"
      "algorithm = grid, vector = 4, vectors = 2, blocks = " +
          std::to_string(parts) + ">]>");
}

// Launches that start before their previous kernel has ended share one
// workspace, and so do programs that have it of other sizes: each finds zeros.
TEST(GPUTest, GraphOfSelectionsWithOneWorkspace) {
  DSV4_NEEDS_GPU();
  DeviceProgram a = selectByGrid(3, 200000, 512, 32);
  DeviceProgram b = selectByGrid(1, 70001, 64, 128);
  ASSERT_GOOD(a.open());
  ASSERT_GOOD(b.open());
  rt::Driver &driver = *a.driver;
  const size_t bytes = 3 * (16 + 512 * 32 * 8);
  auto block = driver.allocate(bytes);
  auto stream = driver.createStream();
  ASSERT_GOOD(block.status());
  ASSERT_GOOD(stream.status());
  ASSERT_GOOD(driver.fill(*block, 0, bytes, *stream));
  ASSERT_FALSE(a.launch(*stream).ok());
  a.workspace = b.workspace = {*block, bytes};
  ASSERT_GOOD(driver.beginCapture(*stream));
  for (int i = 0; i < 50; ++i) {
    ASSERT_GOOD(a.launch(*stream));
    ASSERT_GOOD(b.launch(*stream));
    ASSERT_GOOD(b.launch(*stream));
  }
  auto graph = driver.endCapture(*stream);
  ASSERT_GOOD(graph.status());
  for (uint64_t seed : {21, 22, 23}) {
    auto inputsA = a.makeInputs(seed), inputsB = b.makeInputs(seed);
    reference::InputSet outputsA = *inputsA, outputsB = *inputsB;
    std::vector<char> workspace(bytes, 1);
    ASSERT_GOOD(a.upload(*inputsA, *stream));
    ASSERT_GOOD(b.upload(*inputsB, *stream));
    for (int i = 0; i < 3; ++i)
      ASSERT_GOOD(driver.replay(*graph, *stream));
    ASSERT_GOOD(a.download(outputsA, *stream));
    ASSERT_GOOD(b.download(outputsB, *stream));
    ASSERT_GOOD(driver.copyToHost(workspace.data(), *block, bytes, *stream));
    ASSERT_GOOD(driver.synchronize(*stream));
    EXPECT_TRUE(a.matches(*inputsA, outputsA)) << "seed " << seed;
    EXPECT_TRUE(b.matches(*inputsB, outputsB)) << "seed " << seed;
    EXPECT_EQ(std::count(workspace.begin(), workspace.end(), 0), bytes);
  }
  ASSERT_GOOD(driver.destroyGraph(*graph));
  ASSERT_GOOD(driver.release(*block));
  ASSERT_GOOD(driver.destroyStream(*stream));
}

TEST(GPUTest, EmptyLaunches) {
  DSV4_NEEDS_GPU();
  for (Dims dims :
       {Dims{{"t", 0}, {"k", 7}, {"r", 1}, {"mp", 1}, {"c.pages", 1}},
        Dims{{"t", 7}, {"k", 0}, {"r", 1}, {"mp", 1}, {"c.pages", 1}},
        Dims{{"t", 0}, {"k", 0}, {"r", 0}, {"mp", 0}, {"c.pages", 0}}}) {
    DeviceProgram program(getGather("v4_584", 64, Table::PerRequest).getText(),
                          dims);
    ASSERT_GOOD(program.open());
    rt::Driver &driver = *program.driver;
    auto stream = driver.createStream();
    ASSERT_GOOD(stream.status());
    ASSERT_GOOD(program.launch(*stream));
    ASSERT_GOOD(driver.synchronize(*stream));
    ASSERT_GOOD(driver.beginCapture(*stream));
    ASSERT_GOOD(program.launch(*stream));
    auto graph = driver.endCapture(*stream);
    ASSERT_GOOD(graph.status());
    ASSERT_GOOD(driver.replay(*graph, *stream));
    ASSERT_GOOD(driver.synchronize(*stream));
    ASSERT_GOOD(driver.destroyGraph(*graph));
    ASSERT_GOOD(driver.destroyStream(*stream));
  }
}
