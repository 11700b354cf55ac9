//===- Elements.cpp - Types of elements as DLPack has them ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"

#include <cstddef>

using namespace dsv4::c;
using dsv4::rt::Binding;
using dsv4::rt::Storage;

namespace {
struct Element {
  const char *name; ///< As the compiler writes it.
  dsv4_type type;
};
} // namespace

/// What the elements of a binding mean, in DLPack's words. Packed FP4 has two
/// elements per byte.
static constexpr Element elements[] = {
    {"i1", {DSV4_TYPE_BOOL, 8, 1}},
    {"i16", {DSV4_TYPE_INT, 16, 1}},
    {"f16", {DSV4_TYPE_FLOAT, 16, 1}},
    {"bf16", {DSV4_TYPE_BFLOAT, 16, 1}},
    {"f8E4M3FN", {DSV4_TYPE_FLOAT8_E4M3FN, 8, 1}},
    {"f8E5M2", {DSV4_TYPE_FLOAT8_E5M2, 8, 1}},
    {"f8E8M0FNU", {DSV4_TYPE_FLOAT8_E8M0FNU, 8, 1}},
    {"f4E2M1FN", {DSV4_TYPE_FLOAT4_E2M1FN, 4, 2}},
};

static bool isEqual(dsv4_type a, dsv4_type b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

dsv4_type dsv4::c::getStorageType(Storage storage) {
  switch (storage) {
  case Storage::U8:
    return {DSV4_TYPE_UINT, 8, 1};
  case Storage::U16:
    return {DSV4_TYPE_UINT, 16, 1};
  case Storage::I32:
    return {DSV4_TYPE_INT, 32, 1};
  case Storage::F32:
    return {DSV4_TYPE_FLOAT, 32, 1};
  case Storage::I64:
    return {DSV4_TYPE_INT, 64, 1};
  }
  return {};
}

/// The type that the elements mean, or null if it is the storage type.
static const Element *findElement(const Binding &binding) {
  for (const Element &each : elements)
    if (binding.element == each.name)
      return &each;
  return nullptr;
}

bool dsv4::c::acceptsType(const Binding &binding, dsv4_type type) {
  if (isEqual(type, getStorageType(binding.storage)))
    return true;
  // Names are compared last: this is a part of every call.
  for (const Element &each : elements)
    if (isEqual(type, each.type))
      return binding.element == each.name;
  // Bytes of a record or of an integer are read as they are.
  return binding.storage == Storage::U8 &&
         isEqual(type, {DSV4_TYPE_INT, 8, 1}) && binding.element == "i8";
}

std::string dsv4::c::print(dsv4_type type) {
  for (const Element &each : elements)
    if (isEqual(type, each.type))
      return each.name;
  static constexpr const char *names[] = {
      "int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  std::string text = type.code < sizeof(names) / sizeof(names[0])
                         ? names[type.code]
                         : "type " + std::to_string(type.code) + " of bits ";
  text += std::to_string(type.bits);
  if (type.lanes != 1)
    text += "x" + std::to_string(type.lanes);
  return text;
}

std::string dsv4::c::printAccepted(const Binding &binding) {
  const std::string storage = print(getStorageType(binding.storage));
  const Element *element = findElement(binding);
  return element ? std::string(element->name) + " or " + storage : storage;
}
