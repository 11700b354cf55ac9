//===- CacheRoot.h - Where the disk cache is --------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LIB_CACHEROOT_H
#define DSV4_RUNTIME_LIB_CACHEROOT_H

#include <string>

namespace dsv4::rt {

struct CacheRoot {
  std::string path;    ///< Absolute; empty: there is none.
  std::string problem; ///< Why it is not used, in one line; empty: it is.
};

/// $DSV4_CACHE_DIR, $XDG_CACHE_HOME/dsv4, $HOME/.cache/dsv4, or "" for none.
std::string getDefaultCacheRoot();

/// The cache directory `given`, or the default one if that is empty. `make`
/// makes it; otherwise one that could be made is good, too.
CacheRoot findCacheRoot(const std::string &given, bool make);

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_LIB_CACHEROOT_H
