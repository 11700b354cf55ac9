//===- DSV4Types.td - The paged cache type -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TYPES_TD
#define DSV4_TYPES_TD

include "DSV4Attrs.td"

def DSV4_CacheType : TypeDef<DSV4_Dialect, "Cache"> {
  let mnemonic = "cache";
  let summary = "a paged cache";
  let description = [{
    ```mlir
    !dsv4.cache<64 x <v4_584>>
    ```

    A reference to a pool of pages of `page` entries, each stored in the layout of
    `record`. The number of pages is known at run time only. Clauses:

    * cache_c1: a page has between one and 2^20 entries, and less than 2^31 bytes;
    * cache_c2: the elements of every field are aligned in every page.

    A caller passes row and tail fields as one buffer of bytes
    `[pages, page_bytes]`, and every array field as a buffer of its own
    `[pages, page, extent]`.
  }];
  let parameters = (ins "int64_t":$page, "RecordAttr":$record);
  let assemblyFormat = "`<` $page `x` $record `>`";
  let genVerifyDecl = 1;
}

#endif // DSV4_TYPES_TD
