//===- Schema.cpp - Names, checks and digests of schemas ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-kvcache/Schema.h"
#include "SchemaCheck.h"

#include "dsv4-layout/RecordLayout.h"

#include <sodium/crypto_generichash_blake2b.h>

#include <algorithm>

using namespace dsv4;
using namespace dsv4::kv;

std::string_view kv::getName(Kind kind) {
  constexpr std::string_view kNames[kKinds] = {
      "window",    "csa",           "indexer",  "hca",
      "csa_state", "indexer_state", "hca_state"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view kv::getName(Retention retention) {
  constexpr std::string_view kNames[] = {"full", "window", "ring", "online"};
  return kNames[static_cast<size_t>(retention)];
}

Status kv::refuse(const char *id, std::string message) {
  return Status(rt::Code::InvalidArgument, std::move(message)).about(id);
}

std::string kv::quote(std::string_view text) {
  constexpr size_t kMax = 64;
  std::string shown(text.substr(0, kMax));
  return "'" + rt::toOneLine(shown) + (text.size() > kMax ? "...'" : "'");
}

layout::Record kv::makeTokenState(int64_t columns) {
  layout::Record record;
  for (const char *name : {"values", "scores"})
    record.fields.push_back({name, columns, layout::ElementType::F32});
  return record;
}

layout::Record kv::makeOnlineState(int64_t columns) {
  layout::Record record;
  for (const char *name : {"max", "sum", "acc"})
    record.fields.push_back({name, columns, layout::ElementType::F32});
  return record;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// More would not fit a table of 32-bit numbers, or make sense.
constexpr int64_t kMaxLayers = 4096;
constexpr int64_t kMaxTokens = int64_t{1} << 30;
constexpr int32_t kMaxWindow = 1 << 20;

/// Whether a group of this kind may keep entries in this way.
static bool fits(Kind kind, Retention retention) {
  switch (kind) {
  case Kind::Window:
    return retention == Retention::Window;
  case Kind::CSA:
  case Kind::Indexer:
  case Kind::HCA:
    return retention == Retention::Full;
  case Kind::CSAState:
  case Kind::IndexerState:
    return retention == Retention::Ring;
  case Kind::HCAState:
    return retention == Retention::Ring || retention == Retention::Online;
  }
  return false;
}

static std::string nameGroup(const Group &group) {
  return "group " + quote(group.name);
}

static Status checkNumbers(const Group &group) {
  const std::string name = nameGroup(group);
  if (group.ratio < 1 || group.ratio > kMaxWindow)
    return refuse("schema.ratio", name + ": ratio " +
                                      std::to_string(group.ratio) +
                                      ", expected 1 to 1048576 tokens");
  const bool isFull = group.retention == Retention::Full;
  if (isFull ? group.window != 0
             : group.window < 1 || group.window > kMaxWindow)
    return refuse("schema.window",
                  name + ": window " + std::to_string(group.window) +
                      (isFull ? ", expected none: it keeps all entries"
                              : ", expected 1 to 1048576 tokens"));
  if (group.retention == Retention::Window && group.ratio != 1)
    return refuse("schema.ratio", name + ": ratio " +
                                      std::to_string(group.ratio) +
                                      ", expected 1: a window has every token");
  // A state holds what its entries are made of, no more and no less.
  const bool isExact =
      group.retention != Retention::Online || group.window == group.ratio;
  const bool isEnough =
      group.retention != Retention::Ring ||
      int64_t{group.window} == int64_t{group.ratio} + group.overlap;
  if (!isExact || !isEnough)
    return refuse("schema.window",
                  name + ": window " + std::to_string(group.window) +
                      ", expected " +
                      std::to_string(int64_t{group.ratio} + group.overlap) +
                      ", its ratio and its overlap");
  if (group.overlap < 0 || group.overlap >= std::max(group.window, 1) ||
      (group.overlap && group.retention != Retention::Ring))
    return refuse("schema.overlap",
                  name + ": overlap " + std::to_string(group.overlap) +
                      ", expected less tokens than the window of a ring");
  return {};
}

static Status checkRecord(const Group &group) {
  const std::string name = nameGroup(group);
  if (group.fields.fields.empty())
    return refuse("schema.record", name + ": a record without fields");
  for (const layout::Field &field : group.fields.fields) {
    if (std::string why = layout::explainInvalid(field); !why.empty())
      return refuse("schema.record",
                    name + ", field " + quote(field.name) + ": " + why);
    if (field.placement == layout::Placement::Array)
      return refuse("schema.record",
                    name + ", field " + quote(field.name) +
                        ": an array of its own, expected a field of the page");
    // Checkpoints copy entries of rings as they follow each other.
    if (field.placement == layout::Placement::Tail &&
        group.retention == Retention::Ring)
      return refuse("schema.record",
                    name + ", field " + quote(field.name) +
                        ": in the tail of the page, expected all fields of a "
                        "ring in its rows");
  }
  if (std::string why = layout::explainInvalid(group.fields); !why.empty())
    return refuse("schema.record", name + ": " + why);
  return {};
}

static Status checkOwners(const Schema &schema, const Group &group) {
  int32_t last = -1;
  for (int32_t owner : group.owners) {
    if (owner <= last || owner >= static_cast<int32_t>(schema.layers.size()))
      return refuse("schema.layers", nameGroup(group) + ": layer " +
                                         std::to_string(owner) + " after " +
                                         std::to_string(last) +
                                         ", expected ascending layers of " +
                                         std::to_string(schema.layers.size()));
    last = owner;
  }
  if (group.owners.empty())
    return refuse("schema.layers", nameGroup(group) + ": no layer has it");
  return {};
}

/// A layer's caches have to be some of its groups'.
static Status checkCaches(const Schema &schema, size_t number) {
  const Layer &layer = schema.layers[number];
  for (size_t kind = 0; kind < kKinds; ++kind) {
    const int16_t group = layer.group[kind], cache = layer.cache[kind];
    if (group < 0)
      continue;
    if (group >= static_cast<int16_t>(schema.groups.size()) || cache < 0 ||
        static_cast<size_t>(cache) >= schema.groups[group].owners.size() ||
        schema.groups[group].kind != static_cast<Kind>(kind))
      return refuse("schema.caches",
                    "layer " + std::to_string(number) +
                        ": its cache of kind '" +
                        std::string(getName(static_cast<Kind>(kind))) +
                        "' is none of a group");
  }
  return {};
}

/// What a layer reads together has to have the same entries.
static Status checkLayer(const Schema &schema, size_t number) {
  const Layer &layer = schema.layers[number];
  const std::string name = "layer " + std::to_string(number);
  const auto groupOf = [&](Kind kind) -> const Group * {
    const int16_t group = layer.group[static_cast<size_t>(kind)];
    return group < 0 ? nullptr : &schema.groups[group];
  };
  for (const auto &[entries, state] :
       {std::pair(Kind::CSA, Kind::CSAState),
        std::pair(Kind::Indexer, Kind::IndexerState),
        std::pair(Kind::HCA, Kind::HCAState)}) {
    const Group *made = groupOf(entries), *from = groupOf(state);
    if (made && made->ratio != layer.ratio)
      return refuse("schema.ratio", name + ": ratio " +
                                        std::to_string(layer.ratio) + ", but " +
                                        nameGroup(*made) + " has " +
                                        std::to_string(made->ratio));
    if (from && (!made || from->ratio != made->ratio))
      return refuse("schema.state", name + ": " + nameGroup(*from) +
                                        " is the state of no entries");
    // Who makes entries needs the tokens of windows that steps cut.
    const int32_t layerNumber = static_cast<int32_t>(number);
    const bool isOwner =
        made && std::binary_search(made->owners.begin(), made->owners.end(),
                                   layerNumber);
    const bool hasState =
        from && std::binary_search(from->owners.begin(), from->owners.end(),
                                   layerNumber);
    if (isOwner && made->ratio > 1 && !hasState)
      return refuse("schema.state", name + ": it makes the entries of " +
                                        nameGroup(*made) +
                                        ", and owns no state of " +
                                        std::string(getName(state)));
  }
  return {};
}

Status kv::checkSchema(const Schema &schema) {
  if (schema.layers.empty() ||
      schema.layers.size() > static_cast<size_t>(kMaxLayers))
    return refuse("schema.layers", std::to_string(schema.layers.size()) +
                                       " layers, expected 1 to 4096");
  if (schema.maxTokens < 1 || schema.maxTokens > kMaxTokens)
    return refuse("schema.max_tokens", "'max_tokens' is " +
                                           std::to_string(schema.maxTokens) +
                                           ", expected 1 to 1073741824");
  if (schema.groups.empty() || schema.groups.size() > 64)
    return refuse("schema.groups", std::to_string(schema.groups.size()) +
                                       " groups, expected 1 to 64");
  for (size_t number = 0; number < schema.groups.size(); ++number) {
    const Group &group = schema.groups[number];
    if (group.name.empty() || schema.findGroup(group.name) != &group)
      return refuse("schema.name",
                    nameGroup(group) + ": expected a name of its own");
    if (!fits(group.kind, group.retention))
      return refuse("schema.retention",
                    nameGroup(group) + ": kind '" +
                        std::string(getName(group.kind)) +
                        "' cannot have retention '" +
                        std::string(getName(group.retention)) + "'");
    for (Status status :
         {checkNumbers(group), checkRecord(group), checkOwners(schema, group)})
      if (!status)
        return status;
  }
  for (size_t number = 0; number < schema.layers.size(); ++number) {
    if (Status status = checkCaches(schema, number); !status)
      return status;
    if (Status status = checkLayer(schema, number); !status)
      return status;
  }
  // One plan is for all entries of a ratio.
  for (const Group &one : schema.groups)
    for (const Group &other : schema.groups)
      if (one.kind == Kind::HCAState && other.kind == Kind::HCAState &&
          one.ratio == other.ratio && one.retention != other.retention)
        return refuse("schema.retention",
                      nameGroup(one) + " and " + nameGroup(other) +
                          " keep windows of one ratio in two ways");
  return {};
}

//===----------------------------------------------------------------------===//
// Schema
//===----------------------------------------------------------------------===//

const Group *Schema::findGroup(std::string_view name) const {
  for (const Group &group : groups)
    if (group.name == name)
      return &group;
  return nullptr;
}

Digest Schema::getDigest() const {
  const std::string text = writeSchema(*this);
  Digest digest;
  crypto_generichash_blake2b(
      reinterpret_cast<unsigned char *>(digest.data()), digest.size(),
      reinterpret_cast<const unsigned char *>(text.data()), text.size(),
      nullptr, 0);
  return digest;
}
