//===- ShadowPool.h - Kernels that write what they read ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pool whose entries are hashes of the tokens that they stand for. A step is
// run as kernels run it, from the arrays of its plan alone, and every entry
// that a kernel would read is compared with what it has to be.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_UNITTESTS_KVCACHE_SHADOWPOOL_H
#define DSV4_UNITTESTS_KVCACHE_SHADOWPOOL_H

#include "dsv4-kvcache/Manager.h"

#include <map>
#include <string>
#include <vector>

namespace dsv4::kv {

/// A schema with a layer of every kind, of small windows: a CSA of 4 tokens
/// that overlaps, and an HCA of 8.
Schema makeSmallSchema(bool hcaOnline = true);
/// Options that fit it: blocks of 16 tokens, window pages of 4.
ManagerOptions makeSmallOptions();

/// Tokens of a sequence, those of steps under way included, and a hash of each
/// prefix.
class TokenLine {
public:
  void resize(size_t size) {
    tokens.resize(size);
    hashes.resize(size);
  }
  void push(int32_t token);
  size_t size() const { return tokens.size(); }
  uint64_t at(int64_t position) const { return hashes.at(position); }
  std::span<const int32_t> get(size_t from, size_t count) const {
    return std::span(tokens).subspan(from, count);
  }
  const std::vector<int32_t> &all() const { return tokens; }

private:
  std::vector<int32_t> tokens;
  std::vector<uint64_t> hashes;
};

class ShadowPool {
public:
  explicit ShadowPool(const Manager &manager);

  /// Runs a step. `lines` has the tokens of each slot, those of the step last.
  /// Returns the first wrong thing, or nothing.
  std::string run(const StepPlan &plan,
                  const std::map<int32_t, const TokenLine *> &lines);

private:
  struct Read; // One read of a kernel.
  uint64_t &entry(size_t group, size_t cache, int64_t page, int64_t entry);
  void copy(const PoolCopy &copy);
  void update(const StepPlan &plan);
  std::string runWindow(const StepPlan &plan);
  std::string runRings(const StepPlan &plan, size_t number);
  std::string runOnline(const StepPlan &plan, size_t number);
  std::string runReads(const StepPlan &plan, size_t number);
  void appendRings(const StepPlan &plan, size_t number);
  std::string expect(size_t group, size_t cache, int64_t page, int64_t at,
                     uint64_t value, const char *what);
  std::vector<size_t> findGroups(int32_t ratio, bool isState) const;

  const Manager &manager;
  const Geometry &geometry;
  const std::vector<std::vector<Region>> caches;
  std::vector<std::byte> pool;
  std::vector<int32_t> pageTable, windowTable; ///< Those of the device.
  const std::map<int32_t, const TokenLine *> *lines = nullptr;
};

} // namespace dsv4::kv

#endif // DSV4_UNITTESTS_KVCACHE_SHADOWPOOL_H
