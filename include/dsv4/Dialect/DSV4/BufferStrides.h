//===- BufferStrides.h - Strides of the buffers of caches -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DSV4_BUFFERSTRIDES_H
#define DSV4_DIALECT_DSV4_BUFFERSTRIDES_H

#include "dsv4/Dialect/DSV4.h"

namespace dsv4 {

/// The strides of an argument, or those of one buffer of a cache (see
/// getPagedBuffers); null: it is contiguous. `getStrides` gives what holds for
/// all buffers.
StridesAttr getBufferStrides(mlir::Operation *func, unsigned index,
                             llvm::StringRef buffer);

/// Bytes from one entry of a page to the next, if they are farther apart than
/// the entries are long.
std::optional<int64_t> getEntryStride(StridesAttr strides);

/// Bytes of a page of one buffer of a cache, to the end of its last entry.
int64_t getPageSpan(CacheType cache, llvm::StringRef buffer,
                    StridesAttr strides);

/// Bytes of an entry in a buffer of a cache whose fields are rows, or in one
/// array; 0 if it has tails, too.
int64_t getEntryBytes(CacheType cache, llvm::StringRef buffer);

/// Whether a tensor has a stride along its only axis.
bool hasElementStride(mlir::RankedTensorType tensor, StridesAttr strides);

} // namespace dsv4

#endif // DSV4_DIALECT_DSV4_BUFFERSTRIDES_H
