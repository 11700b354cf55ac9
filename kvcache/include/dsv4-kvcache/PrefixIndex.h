//===- PrefixIndex.h - Which block holds which tokens -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_PREFIXINDEX_H
#define DSV4_KVCACHE_PREFIXINDEX_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dsv4::kv {

/// What names a block by its tokens and all before them.
struct Key {
  uint64_t low = 0, high = 0;
  friend bool operator==(const Key &, const Key &) = default;
};

/// Makes keys: keyed BLAKE2b of 128 bits. Who does not know the secret cannot
/// make two prompts with one key.
class KeyMaker {
public:
  using Secret = std::array<std::byte, 32>;

  /// A secret that others do not know; hosts that share a store share it.
  explicit KeyMaker(const Secret &secret) : secret(secret) {}

  /// The key before the first block: of a schema's digest and of `salt`, which
  /// keeps apart what may not be shared, such as adapters or tenants.
  Key makeRoot(std::span<const std::byte> schemaDigest,
               std::span<const std::byte> salt) const;
  /// The key of a block after `parent`.
  Key makeNext(const Key &parent, std::span<const int32_t> tokens) const;

private:
  Secret secret;
};

/// A table from keys to blocks, open-addressed. It never grows: it has room for
/// every block.
class PrefixIndex {
public:
  explicit PrefixIndex(int32_t blocks);

  /// The block of a key, or 0.
  int32_t find(const Key &key) const;
  /// A key that is not in the table.
  void insert(const Key &key, int32_t block);
  /// A key that is.
  void erase(const Key &key);
  void clear();
  int32_t size() const { return count; }

private:
  struct Entry {
    Key key;
    int32_t block = 0; ///< 0: free.
  };

  size_t home(const Key &key) const { return key.low & mask; }
  /// Where a key is, or the free entry where it would be.
  size_t locate(const Key &key) const;

  std::vector<Entry> entries;
  size_t mask = 0;
  int32_t count = 0;
};

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_PREFIXINDEX_H
