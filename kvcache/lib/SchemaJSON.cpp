//===- SchemaJSON.cpp - Schemas as JSON -----------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text comes from a stranger: every member is checked, one that is not known
// is refused, and no number is converted in silence.
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "SchemaCheck.h"

using namespace dsv4;
using namespace dsv4::kv;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

template <typename Enum>
static bool readName(std::string_view text, int count, Enum &value) {
  for (int number = 0; number < count; ++number)
    if (getName(static_cast<Enum>(number)) == text) {
      value = static_cast<Enum>(number);
      return true;
    }
  return false;
}

static constexpr layout::ElementType kElements[] = {
    layout::ElementType::I4,        layout::ElementType::I32,
    layout::ElementType::F4E2M1FN,  layout::ElementType::F8E4M3FN,
    layout::ElementType::F8E8M0FNU, layout::ElementType::BF16,
    layout::ElementType::F16,       layout::ElementType::F32};

static bool readElement(std::string_view text, layout::ElementType &value) {
  for (layout::ElementType each : kElements)
    if (layout::getName(each) == text) {
      value = each;
      return true;
    }
  return false;
}

static constexpr std::string_view kPlacements[] = {"row", "tail", "array"};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static JSON writeField(const layout::Field &field) {
  return JSON{{"name", field.name},
              {"extent", field.extent},
              {"element", layout::getName(field.element)},
              {"placement", kPlacements[static_cast<size_t>(field.placement)]},
              {"scales", field.scales},
              {"group", field.group},
              {"pad", field.pad},
              {"interleave", field.interleave},
              {"offset", field.offset},
              {"high_first", field.highFirst}};
}

static JSON writeGroup(const Group &group) {
  JSON fields = JSON::array();
  for (const layout::Field &field : group.fields.fields)
    fields.push_back(writeField(field));
  return JSON{{"name", group.name},
              {"kind", getName(group.kind)},
              {"retention", getName(group.retention)},
              {"ratio", group.ratio},
              {"window", group.window},
              {"overlap", group.overlap},
              {"layers", group.owners},
              {"record", {{"fields", fields}, {"align", group.fields.align}}}};
}

static JSON writeLayer(const Schema &schema, const Layer &layer) {
  JSON caches = JSON::object();
  for (size_t kind = 0; kind < kKinds; ++kind)
    if (layer.group[kind] >= 0) {
      const Group &group = schema.groups[layer.group[kind]];
      caches[group.name] = group.owners[layer.cache[kind]];
    }
  return JSON{
      {"ratio", layer.ratio}, {"draft", layer.isDraft}, {"caches", caches}};
}

std::string kv::writeSchema(const Schema &schema) {
  JSON groups = JSON::array(), layers = JSON::array();
  for (const Group &group : schema.groups)
    groups.push_back(writeGroup(group));
  for (const Layer &layer : schema.layers)
    layers.push_back(writeLayer(schema, layer));
  return JSON{
      {"max_tokens", schema.maxTokens}, {"groups", groups}, {"layers", layers}}
      .dump(-1, ' ', false, JSON::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status readField(const JSON &json, const std::string &where,
                        layout::Field &field) {
  std::string element, placement = "row";
  Members members(json, where);
  members.read("name", field.name)
      .read("extent", field.extent)
      .read("element", element)
      .readIf("placement", placement)
      .readIf("scales", field.scales)
      .readIf("group", field.group)
      .readIf("pad", field.pad)
      .readIf("interleave", field.interleave)
      .readIf("offset", field.offset)
      .readIf("high_first", field.highFirst);
  if (Status status = members.finish(); !status)
    return status;
  if (!readElement(element, field.element))
    return refuse("schema.record", where + ".element: " + quote(element) +
                                       " is no element of a field");
  for (size_t number = 0; number < std::size(kPlacements); ++number)
    if (placement == kPlacements[number]) {
      field.placement = static_cast<layout::Placement>(number);
      return {};
    }
  return refuse("schema.record", where + ".placement: " + quote(placement) +
                                     ", expected 'row' or 'tail'");
}

/// A known name, or {"fields": [...], "align": 1}.
static Status readRecord(const JSON &json, const std::string &where,
                         Group &group) {
  if (json.is_string()) {
    group.record = json.get<std::string>();
    const layout::Record *known = layout::findKnownRecord(group.record);
    if (!known)
      return refuse("schema.record", where + ": " + quote(group.record) +
                                         " is no known record; docs/Records.md "
                                         "lists them");
    group.fields = *known;
    return {};
  }
  const JSON *fields = nullptr;
  Members members(json, where);
  members.read("fields", fields).readIf("align", group.fields.align);
  if (Status status = members.finish(); !status)
    return status;
  if (!fields->is_array() || fields->size() > layout::Record::kMaxFields)
    return refuse("schema.record",
                  where + ".fields: expected an array of at most 64 fields");
  for (const JSON &each : *fields) {
    layout::Field field;
    const std::string name =
        where + ".fields[" + std::to_string(group.fields.fields.size()) + "]";
    if (Status status = readField(each, name, field); !status)
      return status;
    group.fields.fields.push_back(std::move(field));
  }
  return {};
}

static Status readGroup(const JSON &json, const std::string &where,
                        Group &group) {
  std::string kind, retention;
  const JSON *record = nullptr;
  Members members(json, where);
  members.read("name", group.name)
      .read("kind", kind)
      .read("retention", retention)
      .readIf("ratio", group.ratio)
      .readIf("window", group.window)
      .readIf("overlap", group.overlap)
      .read("layers", group.owners)
      .read("record", record);
  if (Status status = members.finish(); !status)
    return status;
  if (!readName(kind, kKinds, group.kind))
    return refuse("schema.kind", where + ".kind: " + quote(kind) +
                                     ", expected window, csa, indexer, hca, "
                                     "csa_state, indexer_state or hca_state");
  if (!readName(retention, 4, group.retention))
    return refuse("schema.retention",
                  where + ".retention: " + quote(retention) +
                      ", expected full, window, ring or online");
  return readRecord(*record, where + ".record", group);
}

/// Enters the cache of a group that `owner` owns into a layer.
static Status giveCache(const Schema &schema, const std::string &where,
                        size_t group, int32_t owner, Layer &layer) {
  const Group &found = schema.groups[group];
  const size_t kind = static_cast<size_t>(found.kind);
  for (size_t cache = 0; cache < found.owners.size(); ++cache) {
    if (found.owners[cache] != owner)
      continue;
    if (layer.group[kind] >= 0)
      return refuse("schema.caches",
                    where + ": two groups of kind '" +
                        std::string(getName(found.kind)) + "', " +
                        quote(schema.groups[layer.group[kind]].name) + " and " +
                        quote(found.name));
    layer.group[kind] = static_cast<int16_t>(group);
    layer.cache[kind] = static_cast<int16_t>(cache);
    return {};
  }
  return refuse("schema.caches", where + ": layer " + std::to_string(owner) +
                                     " owns no cache of " + quote(found.name));
}

static Status readLayer(const JSON &json, const std::string &where,
                        const Schema &schema, Layer &layer) {
  const JSON *caches = nullptr;
  Members members(json, where);
  members.readIf("ratio", layer.ratio)
      .readIf("draft", layer.isDraft)
      .read("caches", caches);
  if (Status status = members.finish(); !status)
    return status;
  if (!caches->is_object())
    return refuse("schema.caches", where + ".caches: expected an object");
  for (const auto &[name, owner] : caches->items()) {
    const Group *group = schema.findGroup(name);
    const std::string member = where + ".caches." + name.substr(0, 64);
    int32_t number = 0;
    if (!group)
      return refuse("schema.caches",
                    where + ".caches: " + quote(name) + " is no group");
    if (!readValue(owner, number))
      return refuse("schema.caches", member + ": expected a layer");
    if (Status status = giveCache(schema, member, group - schema.groups.data(),
                                  number, layer);
        !status)
      return status;
  }
  return {};
}

Result<Schema> kv::readSchema(std::string_view text) {
  Result<JSON> json = parseJson(text);
  if (!json)
    return json.status();
  Schema schema;
  const JSON *groups = nullptr, *layers = nullptr;
  Members members(*json, "schema");
  members.read("max_tokens", schema.maxTokens)
      .read("groups", groups)
      .read("layers", layers);
  if (Status status = members.finish(); !status)
    return status;
  if (!groups->is_array() || groups->size() > 64)
    return refuse("schema.groups", "groups: expected an array of 1 to 64");
  if (!layers->is_array() || layers->size() > 4096)
    return refuse("schema.layers", "layers: expected an array of 1 to 4096");
  for (const JSON &each : *groups) {
    const std::string name =
        "groups[" + std::to_string(schema.groups.size()) + "]";
    Group &group = schema.groups.emplace_back();
    if (Status status = readGroup(each, name, group); !status)
      return status;
    if (schema.findGroup(group.name) != &group)
      return refuse("schema.name", name + ".name: " + quote(group.name) +
                                       " is another group's");
  }
  for (const JSON &each : *layers) {
    const std::string name =
        "layers[" + std::to_string(schema.layers.size()) + "]";
    Layer &layer = schema.layers.emplace_back();
    if (Status status = readLayer(each, name, schema, layer); !status)
      return status;
  }
  if (Status status = checkSchema(schema); !status)
    return status;
  return schema;
}
