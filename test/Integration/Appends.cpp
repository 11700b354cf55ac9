//===- Appends.cpp - Text of programs that append -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Writers.h"

#include "dsv4/Dialect/DSV4.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/ErrorHandling.h"

using namespace dsv4;
using namespace dsv4::test;

//===----------------------------------------------------------------------===//
// Appends
//===----------------------------------------------------------------------===//

std::vector<Field> dsv4::test::getFields(const Record &record) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<DSV4Dialect>();
  auto attribute = mlir::dyn_cast_if_present<RecordAttr>(
      mlir::parseAttribute(record.attribute, &context));
  if (!attribute)
    llvm::report_fatal_error("a record of the tests is none");
  std::vector<Field> fields;
  for (FieldAttr field : attribute.getFields()) {
    std::string element;
    llvm::raw_string_ostream os(element);
    os << field.getElement();
    fields.push_back({field.getName().str(), element, field.getExtent(),
                      field.isScale(), field.getGroup()});
  }
  return fields;
}

std::string Slots::getName() const {
  if (ring == 0)
    return unique ? "unique" : "slots";
  return "ring" + std::to_string(ring) + (table ? "_table" : "") +
         (requests ? "_requests" : "");
}

Slots Slots::draw(int64_t page, std::mt19937_64 &random) {
  Slots slots;
  if (random() % 3 == 0) {
    slots.unique = random() % 2;
    return slots;
  }
  std::vector<int64_t> rings = {page, 2 * page, 3 * page, 1};
  if (page % 4 == 0)
    rings.insert(rings.end(), {page / 2, page / 4});
  if (128 % page == 0)
    rings.push_back(128);
  slots.ring = test::draw(rings, random);
  slots.table = random() % 2;
  slots.requests = random() % 4 != 0;
  return slots;
}

std::string Slots::addTo(Writer &writer, bool addIndices) const {
  std::string head = "dsv4.paged_append %c[%i]";
  if (addIndices)
    writer.add("i", "tensor<?xi32>", {"n"});
  if (ring == 0)
    return head + (unique ? " unique" : "");
  const std::string count = requests ? "r" : "n";
  head += " ring " + std::to_string(ring);
  if (requests)
    head += " requests(" + writer.add("req", "tensor<?xi32>", {"n"}) + ")";
  if (table)
    head +=
        " pages(" + writer.add("tab", "tensor<?x?xi32>", {count, "mp"}) + ")";
  return head + " lengths(" + writer.add("len", "tensor<?xi32>", {count}) + ")";
}

/// "\n fields(...) columns [...] : !cache, tensor<?xi32>".
static std::string getFieldsClause(const std::string &values,
                                   const std::string &types,
                                   const std::string &columns) {
  return "\n      fields(" + values + "\n        : " + types + ")" +
         (columns.empty() ? "" : " columns [" + columns + "]") +
         " : !cache, tensor<?xi32>";
}

std::string Append::getName() const {
  return record.name + "_page" + std::to_string(page) + "_" + slots.getName();
}

std::string Append::getText() const {
  std::mt19937_64 random(seed);
  Writer writer;
  writer.addCache(page, record);
  std::string head = slots.addTo(writer);
  std::string values, types, columns;
  for (const Field &field : getFields(record)) {
    if (!field.isWritten())
      continue;
    int64_t column = 0, extent = field.extent;
    if (seed && random() % 3 == 0) { // In the middle of something.
      column = field.isScale ? random() % 5 : extent * (random() % 3);
      extent += column + (field.isScale ? random() % 3 : 2);
    }
    if (seed && column == 0 && field.group == -1 && random() % 2)
      extent = -1;
    std::string type = writer.rows(field.element, extent);
    writer.addRows("f_" + field.name, field.element, extent);
    values += (values.empty() ? "%f_" : ", %f_") + field.name;
    types += (types.empty() ? "" : ", ") + type;
    columns += (columns.empty() ? "" : ", ") + std::to_string(column);
  }
  writer.addText(head + getFieldsClause(values, types, seed ? columns : ""));
  return writer.getText();
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

std::string Chain::getName() const {
  return (compress ? compress->getName() + "_" : std::string()) + record.name +
         "_page" + std::to_string(page) + "_" + slots.getName() +
         (norm ? "_norm" : "") + (rope ? "_rope" : "") +
         (hadamard ? "_hadamard" : "") + "_" + input + "_" + between +
         (kept ? "_kept" : "") +
         (quantize ? "_" + quantize->getName() : std::string());
}

size_t Chain::getOpCount() const {
  return compress.has_value() + norm + rope + hadamard + quantize.has_value() +
         1;
}

std::optional<Chain> Chain::draw(const Record &record,
                                 std::mt19937_64 &random) {
  Chain chain;
  chain.record = record;
  chain.page = test::draw<int64_t>({4, 32, 64, 128}, random);
  chain.slots = Slots::draw(chain.page, random);
  chain.input = test::draw<std::string>({"bf16", "bf16", "f32", "f16"}, random);
  chain.between =
      test::draw<std::string>({"bf16", "bf16", "f32", "f16"}, random);
  chain.hadamard = record.rowExtent == 128;
  Quantize quantize;
  int64_t at = 0;
  bool plain = false;
  for (const Field &field : getFields(record)) {
    if (field.isScale) {
      quantize.levels.push_back(
          {field.element, field.group == -1   ? "row"
                          : field.group == -2 ? "tensor"
                                              : std::to_string(field.group)});
      continue;
    }
    if (field.element == "bf16") {
      plain = true;
    } else if (at == 0 &&
               (field.element == "f4E2M1FN" || field.element == "f8E4M3FN")) {
      quantize.element = field.element;
      quantize.count = field.extent;
    } else {
      return std::nullopt;
    }
    at += field.extent;
  }
  chain.last = plain ? "bf16" : chain.between;
  if (quantize.element.empty())
    return quantize.levels.empty() ? std::optional(chain) : std::nullopt;
  if (quantize.levels.empty() || quantize.levels[0].group == "tensor")
    return std::nullopt;
  quantize.name = "drawn";
  quantize.extent = record.rowExtent;
  quantize.drawRecipe(random);
  chain.quantize = quantize;
  return chain;
}

std::string Chain::getText() const {
  Writer writer;
  writer.addCache(page, record);
  int64_t extent = record.rowExtent;
  if (!compress)
    writer.addRows("x", input, extent);
  // Positions of a ring are those of the rotation.
  writer.add("i", "tensor<?xi32>", {"n"});
  if (slots.ring == 0 && rope)
    writer.add("pos", "tensor<?xi32>", {"n"});
  std::string append = slots.addTo(writer, /*addIndices=*/false);
  std::string row = "%x", type = input;
  int left = norm + rope + hadamard;
  auto add = [&](const std::string &name) {
    RowOp op;
    op.op = name;
    op.extent = extent;
    op.rotated = std::min<int64_t>(64, extent);
    op.input = type;
    op.result = type = --left == 0 ? last : between;
    op.weight = "bf16";
    op.positions = slots.ring ? "%i" : "%pos";
    op.addTo(writer, row, name, kept);
    row = "%v_" + name;
  };
  if (compress) {
    compress->addTo(writer, kept);
    row = "%v_pooled";
    type = compress->result;
  }
  if (norm)
    add("rms_norm");
  if (rope)
    add("rope");
  if (hadamard)
    add("hadamard");
  if (quantize) {
    Quantize op = *quantize;
    op.input = type;
    op.addTo(writer, row, kept);
  }

  std::string values, types, columns;
  int64_t at = 0, scales = 0;
  for (const Field &field : getFields(record)) {
    if (!field.isWritten())
      continue;
    std::string value = row, fieldType = writer.rows(type, extent);
    int64_t column = 0;
    if (field.isScale) {
      value = scales++ == 0 ? "%v_scales" : "%v_outer";
      fieldType =
          writer.rows(field.element, field.group == -1 ? -1 : field.extent);
    } else {
      column = at;
      at += field.extent;
      if (quantize && column == 0) {
        value = "%v_payload";
        fieldType = writer.rows(field.element, field.extent);
      }
    }
    values += (values.empty() ? "" : ", ") + value;
    types += (types.empty() ? "" : ", ") + fieldType;
    columns += (columns.empty() ? "" : ", ") + std::to_string(column);
  }
  writer.addText(append + getFieldsClause(values, types, columns));
  return writer.getText();
}
