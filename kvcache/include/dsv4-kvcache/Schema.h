//===- Schema.h - What the caches of a model hold ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schema lists the groups of caches that a model has, and which layer has
// which of them. Layers may share a group's cache. The order of groups and
// layers is part of the schema: memory is laid out in it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_SCHEMA_H
#define DSV4_KVCACHE_SCHEMA_H

#include "dsv4-layout/Record.h"
#include "dsv4-runtime/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dsv4::kv {

using rt::Result;
using rt::Status;

/// What a cache is for.
enum class Kind : uint8_t {
  Window,       ///< Rows of the last tokens (SWA).
  CSA,          ///< Entries of short windows, of which queries select some.
  Indexer,      ///< The keys by which they are selected.
  HCA,          ///< Entries of long windows.
  CSAState,     ///< What the next entry of a window needs.
  IndexerState, //
  HCAState,     //
};
inline constexpr size_t kKinds = 7;
/// "window", "csa", ...
std::string_view getName(Kind kind);

/// How long a cache keeps an entry.
enum class Retention : uint8_t {
  Full,   ///< As long as the sequence: it grows by an entry per `ratio` tokens.
  Window, ///< While it is among the last `window` tokens.
  Ring,   ///< The same, in a ring of the sequence's own.
  Online, ///< Sums of the window under way.
};
std::string_view getName(Retention retention);

/// Caches of one kind and record, one per layer that owns one.
struct Group {
  std::string name;
  Kind kind = Kind::Window;
  Retention retention = Retention::Window;
  /// Tokens per entry.
  int32_t ratio = 1;
  /// Of Window and Ring: how many tokens an entry or a query reads, the newest
  /// among them. Of Online: the tokens of a window.
  int32_t window = 0;
  /// Tokens before a window that its entry reads, too.
  int32_t overlap = 0;
  std::string record;
  layout::Record fields;
  /// The layers that own a cache, ascending.
  std::vector<int32_t> owners;
};

/// A layer of the model, or one that drafts.
struct Layer {
  /// Tokens per entry; 0: it has a window alone.
  int32_t ratio = 0;
  bool isDraft = false;
  /// By kind, the group and which of its caches: -1 if the layer has none.
  std::array<int16_t, kKinds> group;
  std::array<int16_t, kKinds> cache;

  Layer() { group.fill(-1), cache.fill(-1); }
};

using Digest = std::array<std::byte, 16>;

/// Valid by construction: made by the functions below.
struct Schema {
  std::vector<Group> groups;
  std::vector<Layer> layers;
  /// The longest sequence.
  int64_t maxTokens = 0;

  /// Of everything above. Memory of two schemas of one digest has the same
  /// meaning.
  Digest getDigest() const;
  /// The group of a name, or null.
  const Group *findGroup(std::string_view name) const;
};

/// What a model's config does not say.
struct SchemaOptions {
  std::string windowRecord = "v4_584";
  std::string csaRecord = "v4_584";
  std::string hcaRecord = "v4_584";
  std::string indexerRecord = "index_fp8_132";
  /// Whether HCA keeps sums of a window under way instead of its tokens.
  bool hcaOnline = true;
  /// The ratios of the layers that draft, in their order: 0 for a window alone.
  /// Empty: the config lists them, after those of its layers.
  std::vector<int32_t> draftRatios;
};

/// Reads the config.json of a model of DeepSeek's V4 family:
/// `num_hidden_layers`, `compress_ratios`, `head_dim`,
/// `max_position_embeddings` and what follows from them.
Result<Schema> readConfig(std::string_view json,
                          const SchemaOptions &options = {});

/// Reads a schema of one's own:
///   {"max_tokens": 65536,
///    "groups": [{"name": "window", "kind": "window", "retention": "window",
///                "window": 128, "layers": [0], "record": "v4_584"}],
///    "layers": [{"caches": {"window": 0}}]}
/// A group lists the layers that own a cache of it, and a layer says, by the
/// name of a group, whose cache it reads. A record is the name of a known one,
/// or {"fields": [...], "align": 1} with fields as writeSchema() shows them.
Result<Schema> readSchema(std::string_view json);
/// The inverse of readSchema().
std::string writeSchema(const Schema &schema);

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_SCHEMA_H
