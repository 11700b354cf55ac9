//===- GeometryTest.cpp - Tokens, entries, pages and bytes ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShadowPool.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace dsv4;
using namespace dsv4::kv;

/// One layer of each kind, with the records of V4-Flash.
static Schema makeOneOfEach(bool hcaOnline = true) {
  SchemaOptions options;
  options.hcaOnline = hcaOnline;
  return readConfig(R"({"num_hidden_layers": 3, "head_dim": 512,
    "max_position_embeddings": 1048576, "compress_ratios": [0, 4, 128]})",
                    options)
      .take();
}

static Geometry makeGeometry(const Schema &schema,
                             const GeometryOptions &options = {}) {
  Result<Geometry> geometry = Geometry::make(schema, options);
  EXPECT_TRUE(geometry) << geometry.status().message();
  return geometry.take();
}

static std::string idOf(const GeometryOptions &options) {
  const Result<Geometry> geometry = Geometry::make(makeOneOfEach(), options);
  return geometry ? "none" : geometry.status().id();
}

TEST(GeometryTest, BytesOfFlash) {
  const Geometry geometry = makeGeometry(makeOneOfEach());
  // Pages of 64 and of 2 entries of 584 bytes, padded to 576, and of 64 of 132.
  EXPECT_EQ(geometry.getBlockBytes(), 37440 + 1728 + 64 * 132);
  EXPECT_EQ(geometry.getWindowPageBytes(), 3 * 37440);
  // Rings of 8 tokens, and two entries of three sums.
  EXPECT_EQ(geometry.getSlotBytes(),
            8 * 2 * 1024 * 4 + 8 * 2 * 256 * 4 + 2 * 3 * 512 * 4);
  // Four tokens of each ring.
  EXPECT_EQ(geometry.getCheckpointBytes(), 4 * 2 * 1024 * 4 + 4 * 2 * 256 * 4);
  EXPECT_EQ(geometry.getWindowPages(), 3);
}

TEST(GeometryTest, RingsHaveRoomForDrafts) {
  for (int32_t drafts = 1; drafts <= 9; ++drafts)
    for (int32_t overlap = 0; overlap <= 2; ++overlap) {
      GeometryOptions options;
      options.maxDraftTokens = drafts;
      options.overlap = overlap;
      for (bool online : {false, true}) {
        const Geometry geometry = makeGeometry(makeOneOfEach(online), options);
        const std::vector<Group> &groups = geometry.getSchema().groups;
        for (size_t group = 0; group < groups.size(); ++group) {
          const int32_t entries = geometry.getGroup(group).slotEntries;
          if (groups[group].retention == Retention::Ring) {
            EXPECT_GE(entries,
                      groups[group].window - 1 + (overlap + 1) * drafts);
            EXPECT_EQ(entries & (entries - 1), 0);
          } else if (groups[group].retention == Retention::Online) {
            EXPECT_EQ(entries, 1 + (overlap + 1) * drafts);
          }
        }
      }
    }
}

TEST(GeometryTest, CapacityIsWhatFits) {
  const Geometry geometry = makeGeometry(makeOneOfEach());
  for (int32_t blocks : {4096, 4097, 10000}) {
    const int64_t bytes = geometry.getPoolBytes(blocks);
    const Result<Capacity> capacity = geometry.getCapacity(bytes);
    ASSERT_TRUE(capacity) << capacity.status().message();
    EXPECT_EQ(capacity->blocks, blocks + 1);
    EXPECT_LE(capacity->bytes, bytes);
    if (blocks > 4096) {
      EXPECT_EQ(geometry.getCapacity(bytes - 1)->blocks, blocks);
    }
  }
  const Result<Capacity> less =
      geometry.getCapacity(geometry.getPoolBytes(4096) - 1);
  ASSERT_FALSE(less);
  EXPECT_STREQ(less.status().id(), "geometry.memory");
  EXPECT_FALSE(geometry.getCapacity(0));
  EXPECT_FALSE(geometry.getCapacity(-1));
}

TEST(GeometryTest, RegionsDoNotMeet) {
  const Geometry geometry =
      makeGeometry(makeSmallSchema(), makeSmallOptions().geometry);
  const Capacity capacity = *geometry.getCapacity(geometry.getPoolBytes(20));
  std::vector<std::pair<int64_t, int64_t>> ranges;
  const std::vector<Group> &groups = geometry.getSchema().groups;
  const auto caches = geometry.placeCaches(capacity);
  const auto kept = geometry.placeCheckpoints(capacity);
  for (size_t group = 0; group < groups.size(); ++group) {
    const int64_t pages =
        groups[group].retention == Retention::Full     ? capacity.blocks
        : groups[group].retention == Retention::Window ? capacity.windowPages
                                                       : capacity.slots;
    ASSERT_EQ(caches[group].size(), groups[group].owners.size());
    for (const Region &region : caches[group]) {
      EXPECT_EQ(region.offset % 256, 0);
      ranges.emplace_back(region.offset, region.offset + pages * region.stride);
    }
    for (const Region &region : kept[group])
      ranges.emplace_back(region.offset,
                          region.offset + capacity.checkpoints * region.stride);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t at = 1; at < ranges.size(); ++at)
    EXPECT_GE(ranges[at].first, ranges[at - 1].second);
  EXPECT_LE(ranges.back().second, capacity.bytes);
}

TEST(GeometryTest, RefusesOptions) {
  const auto with = [](auto member, auto value) {
    GeometryOptions options;
    options.*member = value;
    return idOf(options);
  };
  using O = GeometryOptions;
  EXPECT_EQ(with(&O::blockTokens, 0), "geometry.option");
  EXPECT_EQ(with(&O::blockTokens, 64), "geometry.block");
  EXPECT_EQ(with(&O::blockTokens, 192), "geometry.block");
  EXPECT_EQ(with(&O::blockTokens, 128), "none");
  EXPECT_EQ(with(&O::windowPageTokens, 48), "geometry.option");
  EXPECT_EQ(with(&O::windowPageTokens, 512), "geometry.option");
  EXPECT_EQ(with(&O::windowPageTokens, 2), "geometry.option");
  EXPECT_EQ(with(&O::maxSequences, 0), "geometry.option");
  EXPECT_EQ(with(&O::maxTokens, int64_t{1} << 21), "geometry.option");
  EXPECT_EQ(with(&O::maxDraftTokens, 8193), "geometry.option");
  EXPECT_EQ(with(&O::overlap, -1), "geometry.option");
}
