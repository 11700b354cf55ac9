//===- FreeList.h - Numbers in the order of their last use ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_FREELIST_H
#define DSV4_KVCACHE_FREELIST_H

#include <cassert>
#include <cstdint>
#include <vector>

namespace dsv4::kv {

/// A doubly linked list of numbers from 1 on. Every operation takes constant
/// time, and none allocates. 0 is the null page: here, it is the end of the
/// list on both sides.
class FreeList {
public:
  explicit FreeList(int32_t numbers = 1) : links(numbers) { links[0] = {0, 0}; }

  bool empty() const { return count == 0; }
  int32_t size() const { return count; }
  /// The one that was given longest ago, or 0.
  int32_t front() const { return links[0].next; }
  int32_t next(int32_t number) const { return links[number].next; }
  bool has(int32_t number) const { return links[number].next >= 0; }

  void giveBack(int32_t number) { insert(number, links[0].previous); }
  /// As if it had been given first.
  void giveFront(int32_t number) { insert(number, 0); }

  void remove(int32_t number) {
    assert(number > 0 && has(number));
    Link &link = links[number];
    links[link.previous].next = link.next;
    links[link.next].previous = link.previous;
    link = {kAbsent, kAbsent};
    --count;
  }
  /// Takes the front, or gives 0.
  int32_t take() {
    const int32_t number = front();
    if (number)
      remove(number);
    return number;
  }

private:
  static constexpr int32_t kAbsent = -1;
  struct Link {
    int32_t previous = kAbsent, next = kAbsent;
  };

  void insert(int32_t number, int32_t after) {
    assert(number > 0 && !has(number));
    const int32_t next = links[after].next;
    links[number] = {after, next};
    links[after].next = number;
    links[next].previous = number;
    ++count;
  }

  std::vector<Link> links;
  int32_t count = 0;
};

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_FREELIST_H
