//===- Config.cpp - Schemas of DeepSeek's models --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "SchemaCheck.h"

#include <algorithm>

using namespace dsv4;
using namespace dsv4::kv;

namespace {

/// What a config.json says of caches.
struct Config {
  int32_t layers = 0;
  int64_t maxTokens = 0;
  int32_t headDim = 0, indexDim = 128;
  int32_t window = 128;
  int32_t drafts = 0; ///< `num_nextn_predict_layers`.
  std::vector<int32_t> ratios;
  /// Of V4.1, where layers share caches. Empty: each has its own.
  std::vector<int32_t> sources, indexSources;
};

} // namespace

/// Ratios that a model of the family has: the layer's kind follows from it.
static constexpr int32_t kHCARatio = 128;
static constexpr int32_t kOverlapRatio = 4;

static bool isHCA(int32_t ratio) { return ratio == kHCARatio; }
static bool isCSA(int32_t ratio) {
  return ratio == 1 || ratio == 2 || ratio == kOverlapRatio;
}

static Result<Config> readMembers(std::string_view text) {
  Result<JSON> json = parseJson(text);
  if (!json)
    return json.status();
  Config config;
  Members members(*json, "config");
  members.read("num_hidden_layers", config.layers)
      .read("max_position_embeddings", config.maxTokens)
      .read("head_dim", config.headDim)
      .read("compress_ratios", config.ratios)
      .readIf("index_head_dim", config.indexDim)
      .readIf("sliding_window", config.window)
      .readIf("window_size", config.window)
      .readIf("num_nextn_predict_layers", config.drafts)
      .readIf("kv_source_layer_ids", config.sources)
      .readIf("index_source_layer_ids", config.indexSources)
      .ignoreOthers();
  if (Status status = members.finish(); !status)
    return status;
  return config;
}

/// Lists the ratios of the layers that draft after those of the model's.
static Status addDrafts(Config &config, const SchemaOptions &options) {
  const size_t listed = config.ratios.size();
  const size_t layers = static_cast<size_t>(config.layers);
  constexpr size_t kMaxLayers = 4096;
  if (listed > kMaxLayers || options.draftRatios.size() > kMaxLayers)
    return refuse("config.compress_ratios",
                  "'compress_ratios' has " + std::to_string(listed) +
                      " elements, expected at most 4096");
  if (config.layers < 1 || listed < layers)
    return refuse("config.compress_ratios",
                  "'compress_ratios' has " + std::to_string(listed) +
                      " elements, expected one per layer, of which "
                      "'num_hidden_layers' says " +
                      std::to_string(config.layers));
  if (!options.draftRatios.empty()) {
    config.ratios.resize(layers);
    config.ratios.insert(config.ratios.end(), options.draftRatios.begin(),
                         options.draftRatios.end());
    return {};
  }
  if (listed - layers != static_cast<size_t>(std::max(config.drafts, 0)))
    return refuse("config.drafts",
                  "'compress_ratios' lists " + std::to_string(listed - layers) +
                      " layers that draft, and 'num_nextn_predict_layers' is " +
                      std::to_string(config.drafts) +
                      ": say which there are with 'draft_ratios'");
  return {};
}

static Status checkConfig(const Config &config) {
  for (size_t number = 0; number < config.ratios.size(); ++number) {
    const int32_t ratio = config.ratios[number];
    if (ratio != 0 && !isCSA(ratio) && !isHCA(ratio))
      return refuse("config.ratio",
                    "'compress_ratios[" + std::to_string(number) + "]' is " +
                        std::to_string(ratio) +
                        ", expected 0, 1, 2, 4 or 128: describe other models "
                        "by a schema of their own");
  }
  for (const auto &[name, value] :
       {std::pair("head_dim", config.headDim),
        std::pair("index_head_dim", config.indexDim)})
    if (value < 1 || value > 8192)
      return refuse("config.head_dim", "'" + std::string(name) + "' is " +
                                           std::to_string(value) +
                                           ", expected 1 to 8192");
  return {};
}

/// The owner of a layer's cache: the last source that is not after it.
static int32_t findSource(const std::vector<int32_t> &sources, int32_t layer) {
  int32_t found = sources.empty() ? layer : -1;
  for (int32_t source : sources)
    if (source <= layer)
      found = std::max(found, source);
  return found;
}

namespace {

/// Makes the groups of a config, one per kind and ratio.
class Builder {
public:
  Builder(const Config &config, const SchemaOptions &options)
      : config(config), options(options) {}
  Result<Schema> build();

private:
  Status addLayer(int32_t number);
  Status addCompressed(int32_t number, Layer &layer);
  /// Gives a layer the cache that `owner` has in the group of a kind and ratio.
  Status give(Layer &layer, Kind kind, int32_t owner);
  size_t findGroup(Kind kind, int32_t ratio);
  Status describe(Group &group);

  const Config &config;
  const SchemaOptions &options;
  Schema schema;
};

} // namespace

Status Builder::describe(Group &group) {
  const bool isLong = group.kind == Kind::HCAState;
  group.retention = group.kind == Kind::Window     ? Retention::Window
                    : isLong && options.hcaOnline  ? Retention::Online
                    : group.kind >= Kind::CSAState ? Retention::Ring
                                                   : Retention::Full;
  const int32_t overlap = group.ratio == kOverlapRatio ? group.ratio : 0;
  switch (group.kind) {
  case Kind::Window:
    group.window = config.window;
    group.record = options.windowRecord;
    break;
  case Kind::CSA:
    group.record = options.csaRecord;
    break;
  case Kind::HCA:
    group.record = options.hcaRecord;
    break;
  case Kind::Indexer:
    group.record = options.indexerRecord;
    break;
  case Kind::CSAState:
  case Kind::IndexerState: {
    const int64_t dim =
        group.kind == Kind::CSAState ? config.headDim : config.indexDim;
    group.window = group.ratio + overlap;
    group.overlap = overlap;
    group.fields = makeTokenState(overlap ? 2 * dim : dim);
    return {};
  }
  case Kind::HCAState:
    group.window = group.ratio;
    group.fields = options.hcaOnline ? makeOnlineState(config.headDim)
                                     : makeTokenState(config.headDim);
    return {};
  }
  const layout::Record *known = layout::findKnownRecord(group.record);
  if (!known)
    return refuse("schema.record", "the record of '" + group.name + "' is " +
                                       quote(group.record) +
                                       ", which is not known; docs/Records.md "
                                       "lists those that are");
  group.fields = *known;
  return {};
}

size_t Builder::findGroup(Kind kind, int32_t ratio) {
  const auto found = std::find_if(
      schema.groups.begin(), schema.groups.end(), [&](const Group &group) {
        return group.kind == kind && group.ratio == ratio;
      });
  return found - schema.groups.begin();
}

Status Builder::give(Layer &layer, Kind kind, int32_t owner) {
  const int32_t ratio = kind == Kind::Window ? 1 : layer.ratio;
  const size_t number = findGroup(kind, ratio);
  if (number == schema.groups.size()) {
    Group group;
    group.kind = kind;
    group.ratio = ratio;
    group.name = getName(kind);
    if (schema.findGroup(group.name))
      group.name += "_" + std::to_string(ratio);
    if (Status status = describe(group); !status)
      return status;
    schema.groups.push_back(std::move(group));
  }
  Group &group = schema.groups[number];
  if (owner == static_cast<int32_t>(schema.layers.size()))
    group.owners.push_back(owner);
  const auto cache = std::find(group.owners.begin(), group.owners.end(), owner);
  if (cache == group.owners.end())
    return refuse("config.sources",
                  "layer " + std::to_string(schema.layers.size()) +
                      " reads the cache of layer " + std::to_string(owner) +
                      ", which has another ratio");
  layer.group[static_cast<size_t>(kind)] = static_cast<int16_t>(number);
  layer.cache[static_cast<size_t>(kind)] =
      static_cast<int16_t>(cache - group.owners.begin());
  return {};
}

Status Builder::addCompressed(int32_t number, Layer &layer) {
  const bool isShared = !layer.isDraft;
  const int32_t source = isShared ? findSource(config.sources, number) : number;
  const int32_t index =
      isShared ? findSource(config.indexSources, number) : number;
  if (source < 0 || index < 0)
    return refuse("config.sources", "layer " + std::to_string(number) +
                                        " is before the first source layer");
  if (isHCA(layer.ratio)) {
    if (Status status = give(layer, Kind::HCA, source); !status)
      return status;
    return give(layer, Kind::HCAState, source);
  }
  if (Status status = give(layer, Kind::CSA, source); !status)
    return status;
  if (Status status = give(layer, Kind::Indexer, index); !status)
    return status;
  // A window of one token is complete at once.
  if (layer.ratio == 1)
    return {};
  if (Status status = give(layer, Kind::CSAState, source); !status)
    return status;
  return give(layer, Kind::IndexerState, index);
}

Status Builder::addLayer(int32_t number) {
  Layer layer;
  layer.ratio = config.ratios[number];
  layer.isDraft = number >= config.layers;
  if (Status status = give(layer, Kind::Window, number); !status)
    return status;
  if (layer.ratio != 0)
    if (Status status = addCompressed(number, layer); !status)
      return status;
  schema.layers.push_back(layer);
  return {};
}

Result<Schema> Builder::build() {
  schema.maxTokens = config.maxTokens;
  for (int32_t number = 0; number < static_cast<int32_t>(config.ratios.size());
       ++number)
    if (Status status = addLayer(number); !status)
      return status;
  if (Status status = checkSchema(schema); !status)
    return status;
  return std::move(schema);
}

Result<Schema> kv::readConfig(std::string_view json,
                              const SchemaOptions &options) {
  Result<Config> config = readMembers(json);
  if (!config)
    return config.status();
  for (Status status : {addDrafts(*config, options), checkConfig(*config)})
    if (!status)
      return status;
  return Builder(*config, options).build();
}
