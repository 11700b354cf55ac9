//===- CacheEntry.h - Cache entries in row programs ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_CONVERSION_CACHEENTRY_H
#define DSV4_CONVERSION_CACHEENTRY_H

#include "dsv4/Conversion/RowContext.h"

namespace dsv4 {

/// One entry of a cache.
struct CacheEntry {
  mlir::Value page;      ///< Physical page.
  mlir::Value slot;      ///< Entry within the page.
  mlir::Value linear;    ///< page * page_size + slot, for array fields whose
                         ///< pages follow each other.
  mlir::Value pageStart; ///< Byte offset of the page, for page fields.
  mlir::Value valid;     ///< i1: whether it may be accessed at all.
};

/// Where the positions of requests are in a cache.
struct PositionLookup {
  mlir::TypedValue<CacheType> cache;
  mlir::Value pageTable;       ///< `[requests, pages]`, `[pages]`, or null.
  std::optional<int64_t> ring; ///< Positions count modulo this.
  /// Where the pages of each request begin in `pageTable`, a list then.
  mlir::Value indptr = {};
};

/// The page that a table names, -1 where it has none: element
/// [tableRow, logicalPage], or [logicalPage] without a row. Read only where
/// `valid` holds.
mlir::Value lookupPage(RowContext &row, mlir::Value table, mlir::Value tableRow,
                       mlir::Value logicalPage, mlir::Value valid);

/// The same of a list of pages, those of `request` from element
/// `indptr[request]` on. Where `valid` holds, `indptr` has that request.
mlir::Value lookupListedPage(RowContext &row, mlir::Value pages,
                             mlir::Value indptr, mlir::Value request,
                             mlir::Value logicalPage, mlir::Value valid);

/// The entry of a position of a request, known to be valid so far: the request
/// is one of the page table, and neither is negative.
CacheEntry findEntryOfPosition(RowContext &row, const PositionLookup &lookup,
                               mlir::Value request, mlir::Value position,
                               mlir::Value valid);

/// The entry with this index in the pool.
CacheEntry findEntryOfIndex(RowContext &row, CacheType cache, mlir::Value index,
                            mlir::Value valid);

/// The entry whose first field is at the byte offset that `offsets` has for the
/// row, as if the pages of the cache followed each other.
CacheEntry findEntryAtByte(RowContext &row, CacheType cache,
                           mlir::Value offsets);

/// Completes an entry by what follows from its page: whether there is that
/// page, and where it starts. One that is to be written ought to be there.
void completeEntry(RowContext &row, mlir::TypedValue<CacheType> cache,
                   CacheEntry &entry, bool isWritten = false);

/// The latter alone, found where the builder of `row` is.
void findPageStart(RowContext &row, mlir::TypedValue<CacheType> cache,
                   CacheEntry &entry);

/// The stored elements of a field of an entry.
StoredVector locateField(RowContext &row, mlir::TypedValue<CacheType> cache,
                         FieldAttr field, const CacheEntry &entry);

} // namespace dsv4

#endif // DSV4_CONVERSION_CACHEENTRY_H
