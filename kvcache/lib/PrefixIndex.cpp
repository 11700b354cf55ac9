//===- PrefixIndex.cpp - Which block holds which tokens -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-kvcache/PrefixIndex.h"

#include <sodium/crypto_generichash_blake2b.h>

#include <bit>
#include <cassert>
#include <cstring>

using namespace dsv4::kv;

/// Keys are the same on every host that shares a store.
static_assert(std::endian::native == std::endian::little);

static const unsigned char *bytesOf(const void *data) {
  return static_cast<const unsigned char *>(data);
}

//===----------------------------------------------------------------------===//
// KeyMaker
//===----------------------------------------------------------------------===//

static Key hash(const KeyMaker::Secret &secret, const void *first,
                size_t firstBytes, const void *second, size_t secondBytes) {
  crypto_generichash_blake2b_state state;
  Key key;
  crypto_generichash_blake2b_init(&state, bytesOf(secret.data()), secret.size(),
                                  sizeof(Key));
  crypto_generichash_blake2b_update(&state, bytesOf(first), firstBytes);
  if (secondBytes)
    crypto_generichash_blake2b_update(&state, bytesOf(second), secondBytes);
  unsigned char bytes[sizeof(Key)];
  crypto_generichash_blake2b_final(&state, bytes, sizeof(bytes));
  std::memcpy(&key, bytes, sizeof(key));
  return key;
}

Key KeyMaker::makeRoot(std::span<const std::byte> schemaDigest,
                       std::span<const std::byte> salt) const {
  return hash(secret, schemaDigest.data(), schemaDigest.size(), salt.data(),
              salt.size());
}

Key KeyMaker::makeNext(const Key &parent,
                       std::span<const int32_t> tokens) const {
  return hash(secret, &parent, sizeof(parent), tokens.data(),
              tokens.size_bytes());
}

//===----------------------------------------------------------------------===//
// PrefixIndex
//===----------------------------------------------------------------------===//

PrefixIndex::PrefixIndex(int32_t blocks)
    // Half of it stays free, so that a search is short.
    : entries(std::bit_ceil(2 * static_cast<size_t>(blocks < 1 ? 1 : blocks))),
      mask(entries.size() - 1) {}

size_t PrefixIndex::locate(const Key &key) const {
  size_t at = home(key);
  while (entries[at].block && !(entries[at].key == key))
    at = (at + 1) & mask;
  return at;
}

int32_t PrefixIndex::find(const Key &key) const {
  return entries[locate(key)].block;
}

void PrefixIndex::insert(const Key &key, int32_t block) {
  Entry &entry = entries[locate(key)];
  assert(block > 0 && !entry.block);
  entry = {key, block};
  ++count;
}

void PrefixIndex::erase(const Key &key) {
  size_t at = locate(key);
  assert(entries[at].block);
  --count;
  // Those after it that a search would no longer reach move up.
  for (size_t next = (at + 1) & mask; entries[next].block;
       next = (next + 1) & mask) {
    const size_t distance = (next - home(entries[next].key)) & mask;
    if (distance >= ((next - at) & mask)) {
      entries[at] = entries[next];
      at = next;
    }
  }
  entries[at] = {};
}

void PrefixIndex::clear() {
  entries.assign(entries.size(), {});
  count = 0;
}
