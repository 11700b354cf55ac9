//===- SchemaTest.cpp - Schemas of models, and of one's own ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShadowPool.h"

#include <gtest/gtest.h>

using namespace dsv4;
using namespace dsv4::kv;

/// The members of V4-Flash's config.json that are about caches.
static std::string makeFlash(const std::string &more = "",
                             const std::string &last = "0") {
  std::string ratios = "0, 0";
  for (int layer = 2; layer < 43; ++layer)
    ratios += layer % 2 ? ", 128" : ", 4";
  return R"({"model_type": "deepseek_v4", "num_hidden_layers": 43,
    "num_nextn_predict_layers": 1, "head_dim": 512, "index_head_dim": 128,
    "sliding_window": 128, "max_position_embeddings": 1048576,
    "compress_ratios": [)" +
         ratios + ", " + last + "]" + more + "}";
}

static int64_t countOwners(const Schema &schema, const char *name) {
  const Group *group = schema.findGroup(name);
  return group ? static_cast<int64_t>(group->owners.size()) : 0;
}

static std::string idOf(const Result<Schema> &result) {
  return result ? "none" : result.status().id();
}

TEST(SchemaTest, Flash) {
  const Result<Schema> schema = readConfig(makeFlash());
  ASSERT_TRUE(schema) << schema.status().message();
  EXPECT_EQ(schema->layers.size(), 44u);
  EXPECT_TRUE(schema->layers[43].isDraft);
  EXPECT_FALSE(schema->layers[42].isDraft);
  EXPECT_EQ(countOwners(*schema, "window"), 44);
  EXPECT_EQ(countOwners(*schema, "csa"), 21);
  EXPECT_EQ(countOwners(*schema, "indexer_state"), 21);
  EXPECT_EQ(countOwners(*schema, "hca"), 20);
  EXPECT_EQ(schema->findGroup("csa_state")->overlap, 4);
  EXPECT_EQ(schema->findGroup("hca_state")->retention, Retention::Online);
  // Layer 4 is the second CSA layer, and its window is its own.
  const Layer &layer = schema->layers[4];
  EXPECT_EQ(layer.cache[static_cast<size_t>(Kind::CSA)], 1);
  EXPECT_EQ(layer.cache[static_cast<size_t>(Kind::Window)], 4);
  EXPECT_EQ(layer.group[static_cast<size_t>(Kind::HCA)], -1);
}

TEST(SchemaTest, DraftLayersAreListed) {
  // Two ratios too many for one layer that drafts.
  EXPECT_EQ(idOf(readConfig(makeFlash("", "0, 0, 0"))), "config.drafts");
  SchemaOptions options;
  options.draftRatios = {0, 0, 0};
  const Result<Schema> three = readConfig(makeFlash(), options);
  ASSERT_TRUE(three) << three.status().message();
  EXPECT_EQ(three->layers.size(), 46u);
  EXPECT_EQ(three->layers[43].ratio, 0);
}

TEST(SchemaTest, SharedCaches) {
  // As V4.1 shares them: ratios 2 and 1, keys of layers of their own.
  const Result<Schema> schema = readConfig(
      R"({"num_hidden_layers": 8, "head_dim": 512, "index_head_dim": 128,
      "max_position_embeddings": 4096,
      "compress_ratios": [0, 0, 2, 2, 2, 1, 1, 1],
      "kv_source_layer_ids": [2, 5], "index_source_layer_ids": [2, 5, 6]})");
  ASSERT_TRUE(schema) << schema.status().message();
  EXPECT_EQ(countOwners(*schema, "csa"), 1);
  EXPECT_EQ(countOwners(*schema, "csa_1"), 1);
  EXPECT_EQ(countOwners(*schema, "indexer_1"), 2);
  EXPECT_EQ(countOwners(*schema, "csa_state"), 1);
  EXPECT_EQ(schema->findGroup("csa_state")->overlap, 0);
  EXPECT_EQ(schema->layers[4].cache[static_cast<size_t>(Kind::CSA)], 0);
  EXPECT_EQ(schema->layers[7].cache[static_cast<size_t>(Kind::Indexer)], 1);
}

TEST(SchemaTest, RefusesConfigs) {
  EXPECT_EQ(idOf(readConfig("{")), "schema.json");
  EXPECT_EQ(idOf(readConfig("[]")), "schema.member");
  EXPECT_EQ(idOf(readConfig(R"({"num_hidden_layers": 4})")), "schema.member");
  EXPECT_EQ(idOf(readConfig(makeFlash("", "7"))), "config.ratio");
  EXPECT_EQ(idOf(readConfig(makeFlash(R"(, "head_dim": 1e300)"))),
            "schema.member");
  EXPECT_EQ(idOf(readConfig(makeFlash(R"(, "head_dim": 0)"))),
            "config.head_dim");
  EXPECT_EQ(idOf(readConfig(makeFlash(R"(, "num_hidden_layers": 99)"))),
            "config.compress_ratios");
  SchemaOptions options;
  options.csaRecord = "v4_585";
  EXPECT_EQ(idOf(readConfig(makeFlash(), options)), "schema.record");
  EXPECT_EQ(idOf(readConfig(std::string(100000, '['))), "schema.json");
  EXPECT_EQ(idOf(readConfig(std::string(17 << 20, ' '))), "schema.json");
}

TEST(SchemaTest, MessagesAreOneLine) {
  SchemaOptions options;
  options.hcaRecord = "a\nb\033[31m" + std::string(1000, 'x');
  const std::string message =
      readConfig(makeFlash(), options).status().message();
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(message.find('\033'), std::string::npos);
  EXPECT_LT(message.size(), 300u);
}

TEST(SchemaTest, JSONRoundTrip) {
  for (const Schema &schema : {makeSmallSchema(), *readConfig(makeFlash())}) {
    const std::string text = writeSchema(schema);
    const Result<Schema> again = readSchema(text);
    ASSERT_TRUE(again) << again.status().message();
    EXPECT_EQ(writeSchema(*again), text);
    EXPECT_EQ(again->getDigest(), schema.getDigest());
  }
}

TEST(SchemaTest, DigestsDiffer) {
  const Digest digest = readConfig(makeFlash())->getDigest();
  SchemaOptions options;
  options.csaRecord = "v41_528";
  EXPECT_NE(readConfig(makeFlash(), options)->getDigest(), digest);
  // Of one size, and another layout.
  options.csaRecord = "v41_interleaved_528";
  const Digest interleaved = readConfig(makeFlash(), options)->getDigest();
  options.csaRecord = "v41_528";
  EXPECT_NE(readConfig(makeFlash(), options)->getDigest(), interleaved);
}

/// The small schema with one text replaced.
static std::string change(const std::string &from, const std::string &to) {
  std::string text = writeSchema(makeSmallSchema());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(SchemaTest, RefusesSchemas) {
  EXPECT_EQ(idOf(readSchema(change(R"("name":"csa")", R"("name":"hca")"))),
            "schema.name");
  EXPECT_EQ(idOf(readSchema(change(R"("kind":"csa")", R"("kind":"cat")"))),
            "schema.kind");
  EXPECT_EQ(idOf(readSchema(
                change(R"("retention":"full")", R"("retention":"ring")"))),
            "schema.retention");
  EXPECT_EQ(idOf(readSchema(change(R"("overlap":4)", R"("overlap":8)"))),
            "schema.window");
  EXPECT_EQ(idOf(readSchema(change(R"("layers":[1,3])", R"("layers":[3,1])"))),
            "schema.layers");
  EXPECT_EQ(idOf(readSchema(change(R"("extent":8)", R"("extent":0)"))),
            "schema.record");
  EXPECT_EQ(
      idOf(readSchema(change(R"("max_tokens":256)", R"("max_tokens":0)"))),
      "schema.max_tokens");
  EXPECT_EQ(idOf(readSchema(
                change(R"("max_tokens":256)", R"("max_tokens":256,"more":1)"))),
            "schema.member");
  EXPECT_EQ(idOf(readSchema(change(R"("ratio":4)", R"("ratio":3)"))),
            "schema.ratio");
}

/// A group of the small schema changed by hand, and read again.
static std::string changeGroup(const char *name, void (*change)(Group &)) {
  Schema schema = makeSmallSchema();
  change(const_cast<Group &>(*schema.findGroup(name)));
  return idOf(readSchema(writeSchema(schema)));
}

TEST(SchemaTest, StatesHoldWhatEntriesNeed) {
  const auto setWindow = [](Group &group) { group.window = 4; };
  EXPECT_EQ(changeGroup("hca_state", setWindow), "schema.window");
  EXPECT_EQ(changeGroup("csa_state", setWindow), "schema.window");
  EXPECT_EQ(changeGroup("csa_state", [](Group &group) { group.overlap = 3; }),
            "schema.window");
  EXPECT_EQ(changeGroup("window", [](Group &group) { group.ratio = 2; }),
            "schema.ratio");
  EXPECT_EQ(changeGroup("csa_state",
                        [](Group &group) {
                          group.fields.fields[0].placement =
                              layout::Placement::Tail;
                        }),
            "schema.record");
}

TEST(SchemaTest, WhoMakesEntriesHasTheirState) {
  Schema schema = makeSmallSchema();
  // Layer 3 reads the state of layer 1 instead of its own.
  const size_t kind = static_cast<size_t>(Kind::CSAState);
  const_cast<Group &>(*schema.findGroup("csa_state")).owners = {1};
  schema.layers[3].cache[kind] = 0;
  EXPECT_EQ(idOf(readSchema(writeSchema(schema))), "schema.state");
}

TEST(SchemaTest, SchemasOfOnesOwnAreChecked) {
  Schema schema = makeSmallSchema();
  schema.layers[1].group[0] = 60;
  const Result<Geometry> geometry = Geometry::make(schema, {});
  ASSERT_FALSE(geometry);
  EXPECT_STREQ(geometry.status().id(), "schema.caches");
}

TEST(SchemaTest, TheExampleIsOne) {
  const Result<Schema> schema = readSchema(
      R"({"max_tokens": 65536,
          "groups": [{"name": "window", "kind": "window", "retention": "window",
                      "window": 128, "layers": [0], "record": "v4_584"}],
          "layers": [{"caches": {"window": 0}}]})");
  EXPECT_TRUE(schema) << schema.status().message();
}
