//===- DSV4ScheduleAttrs.td - Schedules of kernels -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_ATTRS_TD
#define DSV4_SCHEDULE_ATTRS_TD

include "DSV4Dialect.td"
include "DSV4ScheduleInterfaces.td"
include "DSV4ScoreAlgorithm.td"
include "DSV4SelectAlgorithm.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class DSV4_ScheduleAttrBase<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<DSV4_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def DSV4_StorePolicy : I32EnumAttr<"StorePolicy", "cache policy of result stores", [
    I32EnumAttrCase<"Default", 0, "default">,
    I32EnumAttrCase<"Streaming", 1, "streaming">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_LoadPolicy : I32EnumAttr<"LoadPolicy", "cache policy of row reads", [
    I32EnumAttrCase<"Default", 0, "default">,
    I32EnumAttrCase<"EvictLast", 1, "evict_last">
  ]> {
  let cppNamespace = "::dsv4";
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

def DSV4_ScheduleAttr : DSV4_ScheduleAttrBase<"Schedule", "schedule"> {
  let summary = "how a kernel is launched and mapped to threads";
  let description = [{
    ```mlir
    #dsv4.schedule<threads = 128, pdl = true,
                   parts = [#dsv4.rows<lanes = 16, vector = 4, load = evict_last>]>
    #dsv4.schedule<threads = 512, cluster = 2, pdl = true,
                   parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>
    #dsv4.schedule<threads = 1024, cluster = 4, pdl = true,
                   parts = [#dsv4.select<algorithm = block, vector = 4>]>
    ```

    * `threads`: threads of a block;
    * `cluster`: blocks of a thread block cluster, which share rows;
    * `min_blocks`: blocks that a multiprocessor must be able to hold, 0 for no demand;
    * `pdl`: programmatic dependent launch. The kernel may start before the previous one has
      ended. The dependent kernel may start once the rows of this one are loaded; with a cluster
      and `min_blocks` of at most 1 it may start at once;
    * `parts`: one part that maps rows to threads, and one per cooperative op.

    The parts are attributes of `ScheduleInterface`, and a dialect can bring others. Clauses:

    * schedule_c1: threads is a multiple of 32 between 32 and 1024;
    * schedule_c2: min_blocks is between 0 and 32, and min_blocks * threads at most 2048;
    * schedule_c3: cluster is between 1 and the blocks that the parts can use; below sm_90 it
      is 1 (checked where the architecture is known);
    * schedule_c4: there is at least one part, and not two of one kind;
    * schedule_c5: the parts of a kernel's schedule are those of its cooperative ops, and one that
      maps rows;
    * schedule_c6: the parts of a kernel's schedule need at most 48 KiB of static shared memory
      together, the maximum of a block;
    * schedule_c7: no part has more rows per block than the part that maps rows;
    * schedule_c8: the static and dynamic shared memory of all parts together is at most the maximum
      of a block on the architecture: 163 KiB on sm_80 and sm_87, 99 KiB on sm_86, sm_89, sm_120 and
      sm_121, else 227 KiB.

    Clauses c5, c6 and c8 depend on the ops, and are checked on the kernel that carries the
    schedule. Where no architecture is known, c8 takes the largest limit; schedules are selected,
    and kernels are outlined, for one.
  }];
  let parameters = (ins
    "int64_t":$threads,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"int64_t", "0">:$min_blocks,
    DefaultValuedParameter<"bool", "false">:$pdl,
    "::mlir::ArrayAttr":$parts
  );
  let assemblyFormat =
      "`<` struct($threads, $cluster, $min_blocks, $pdl, custom<Parts>($parts)) `>`";
  let builders = [
    AttrBuilder<(ins "const ::dsv4::LaunchPart &":$launch,
                     "::llvm::ArrayRef<::mlir::Attribute>":$parts), [{
      return $_get($_ctxt, launch.threads, launch.cluster, launch.minBlocks, launch.pdl,
                   ::mlir::ArrayAttr::get($_ctxt, parts));
    }]>
  ];
  let extraClassDeclaration = [{
    ::dsv4::LaunchPart getLaunch() const {
      return {getThreads(), getCluster(), getMinBlocks(), getPdl()};
    }
    /// The part of a kind, or null.
    template <typename Part> Part getPart() const {
      for (::mlir::Attribute part : getParts())
        if (auto typed = ::llvm::dyn_cast<Part>(part))
          return typed;
      return {};
    }
    /// How threads hold rows, by the first part that maps rows.
    ::dsv4::RowMapping getRowMapping() const;
    /// Rows that a block handles, a cluster, or the blocks of a row.
    int64_t getRowsPerBlock() const;
    /// Blocks that share these rows.
    int64_t getBlocksPerRow() const;
    /// Whether there is one block per multiprocessor, and they share all rows.
    bool isPersistent() const;
    /// One line of a header comment or a remark. `sharedBytes`: dynamic shared
    /// memory.
    std::string describe(int64_t sharedBytes = 0) const;
  }];
}

//===----------------------------------------------------------------------===//
// rows
//===----------------------------------------------------------------------===//

def DSV4_RowsAttr : DSV4_ScheduleAttrBase<"Rows", "rows", [
    DeclareAttrInterfaceMethods<DSV4_ScheduleInterface, ["getRowMapping"]>
  ]> {
  let summary = "maps rows to lanes";
  let description = [{
    ```mlir
    #dsv4.rows<lanes = 16, vector = 4, load = evict_last>
    ```

    A row belongs to `lanes` neighbouring threads, so a block of `threads` has `threads / lanes`
    rows. Element `e` of a segment belongs to step `s`, lane `l` and position `v` with
    `e = (s * lanes + l) * vector + v`. `load` and `store` are cache policies: `evict_last`
    keeps loaded lines in the cache for other rows, and `streaming` evicts results first.

    With `vector = 0` the one lane of a row has each segment as one vector, whatever its extent, and
    all scales of it. That is the slowest way, and fits every row.

    Lanes hold a whole row in registers. With `section = n` they do so only to find its statistics,
    and then read it again and store the result n steps at a time. Use a section for rows that are
    too long for the registers of a warp. If a lane would have more than 256 elements, or lanes have
    unequal numbers of vectors, the statistics are found section by section, too. Clauses:

    * schedule_rows_c1: lanes is a power of two between 1 and 32;
    * schedule_rows_c2: vector is a power of two between 1 and 32, any number up to 32 with a
      section, or 0 if lanes is 1;
    * schedule_rows_c3: vector is 0; or lanes * vector divides every segment of the row, or vector
      does, where ops allow a masked tail; a group of scales divides, or is a multiple of, a vector
      and a step of lanes * vector elements; a vector is whole bytes, and a step has as many groups
      as their scales are interleaved by, or divides a group (checked on the kernel);
    * schedule_rows_c4: section is between 0 and 64, and 0 if vector is, and section * vector at
      most 64; with a section, a group of scales divides a vector, or divides sections that divide
      the row, or is the only one that is longer than a section, no scales are interleaved, and all
      of a row is computed in one way (checked on the kernel).
  }];
  let parameters = (ins
    "int64_t":$lanes, "int64_t":$vector,
    DefaultValuedParameter<"LoadPolicy", "LoadPolicy::Default">:$load,
    DefaultValuedParameter<"StorePolicy", "StorePolicy::Default">:$store,
    DefaultValuedParameter<"int64_t", "0">:$section
  );
}

//===----------------------------------------------------------------------===//
// window
//===----------------------------------------------------------------------===//

def DSV4_WindowAttr : DSV4_ScheduleAttrBase<"Window", "window", [
    DeclareAttrInterfaceMethods<DSV4_ScheduleInterface, ["verifyLaunch", "getResources"]>
  ]> {
  let summary = "maps windows of rows to the threads of a block";
  let description = [{
    ```mlir
    #dsv4.window<elements = 2, rows = 8>
    ```

    All threads of a block reduce the windows of `rows` rows, one after another, `elements`
    consecutive elements per thread. The first threads then hold the reduced rows, as `#dsv4.rows`
    describes. The rows of a block are neighbours; with four or more, consecutive whole windows of a
    block are a grid (of blocks or clusters) apart. The blocks of a cluster share the elements, and
    the first of them holds the rows. How many rows of a segment are prefetched is derived from the
    schedule, not part of it (`getPrefetch`). Clauses:

    * schedule_window_c1: elements is 1, 2, 4 or 8, and divides the rows of a window (the latter
      checked on the kernel);
    * schedule_window_c2: rows is at least 1;
    * schedule_window_c3: cluster is 1, 2, 4 or 8, and then a thread has exactly `elements`
      elements of such a row (checked on the kernel);
    * schedule_window_c4: a thread has at most 16 elements of a row, which has at most 8192
      (checked on the kernel).
  }];
  let parameters = (ins
    "int64_t":$elements, DefaultValuedParameter<"int64_t", "1">:$rows
  );
  let extraClassDeclaration = [{
    /// A row of a window per thread: how often a thread takes `elements` of its
    /// `channels`, if `threads` threads share them evenly.
    int64_t getVectorsPerThread(int64_t channels, int64_t threads) const;
    /// The threads that have work for a window of `members` rows: they are
    /// reduced in blocks of eight.
    int64_t getUsefulThreads(int64_t members, int64_t channels) const;
    /// Whether the rows of a block are a grid apart: blocks go through them at
    /// one pace, and those that share memory are then read together.
    bool takesRowsApart() const { return getRows() >= ::dsv4::limits::kManyWindows; }
  }];
}

//===----------------------------------------------------------------------===//
// select
//===----------------------------------------------------------------------===//

def DSV4_SelectAttr : DSV4_ScheduleAttrBase<"Select", "select", [
    DeclareAttrInterfaceMethods<DSV4_ScheduleInterface,
                                ["verifyLaunch", "getRowMapping", "getResources"]>
  ]> {
  let summary = "maps the rows of a selection to threads";
  let description = [{
    ```mlir
    #dsv4.select<algorithm = stream, vector = 4, vectors = 2>
    ```

    Rows are read in vectors of `vector` elements, by

    * `warp`: the lanes of a warp, which have a row in registers. A block has a row per warp;
    * `block`: the threads of a block, or of a cluster, which have a row in registers;
    * `stream`: the same threads, which read a row of any length once, `vectors` vectors per
      thread at a time, and keep what may be selected;
    * `grid`: the threads of `blocks` blocks without a cluster, which do not wait for each other.
      They read like `stream`. What they keep goes to a workspace, which the caller provides, and
      the last of them to end selects from it;
    * `tile`: warps of a block, which get tiles of the rows from another op of the kernel. The part
      of that op sets the rows and threads per block, and `vector` is 1. A list of candidates has
      room for `vectors` tiles after it was reduced to the best;
    * `resident`: the threads of a block, or of a cluster, which get tiles of the rows from another
      op of the kernel, too. The scores stay in shared memory until all are there. Then the threads
      have them in registers, as with `block`. Each block of a cluster has a part of the columns.
      The part of the other op sets the rows and threads per block, and `vector` is 4;
    * `held`: the lanes of a warp, which get a whole row in registers from another op of the kernel.
      The part of that op sets the rows and threads per block.

    This part maps rows to threads itself, so there is no `#dsv4.rows` beside it. Clauses:

    * schedule_select_c1: vector is a power of two between 1 and 32, 1 with `tile`, 4 with
      `resident` and at most 4 with `held`;
    * schedule_select_c2: vectors is between 1 and 16, so that a thread has at most 32 elements at a
      time, and 1 with `warp`, `held`, `block` and `resident`, where the length of rows decides;
    * schedule_select_c3: threads is a power of two of at least 64, except with `warp`, `held` and
      `tile`;
    * schedule_select_c4: blocks is a power of two between 2 and 256 with `grid`, else 1;
    * schedule_select_c5: with `warp` and `held` at most 32 elements are selected from at most 1024,
      of at most 32 groups; no other algorithm lets an op of the kernel use what was selected,
      chooses groups first, or selects from statistics of rows (checked on the kernel);
    * schedule_select_c6: with `block` and `resident` a thread has at most 32 elements of the
      longest row, whose length has a bound then (checked on the kernel);
    * schedule_select_c7: a vector is at most 16 bytes, whole vectors make up a row whose length is
      constant, and they match the columns that ops compute together (checked on the kernel);
    * schedule_select_c8: with `tile` and `resident`, and no other algorithm, an op of the kernel
      computes the elements tile by tile (checked on the kernel);
    * schedule_select_c9: with `held`, and no other algorithm, an op of the kernel hands whole rows
      to the lanes of warps (checked on the kernel).
  }];
  let parameters = (ins
    EnumParameter<DSV4_SelectAlgorithm>:$algorithm, "int64_t":$vector,
    DefaultValuedParameter<"int64_t", "1">:$vectors,
    DefaultValuedParameter<"int64_t", "1">:$blocks,
    DefaultValuedParameter<"LoadPolicy", "LoadPolicy::Default">:$load,
    DefaultValuedParameter<"StorePolicy", "StorePolicy::Default">:$store
  );
  let extraClassDeclaration = [{
    /// Whether the lanes of a warp select, from rows in memory or from those that they get.
    bool isWarp() const { return getAlgorithm() == SelectAlgorithm::Warp || isHeld(); }
    bool isHeld() const { return getAlgorithm() == SelectAlgorithm::Held; }
    bool isTile() const { return getAlgorithm() == SelectAlgorithm::Tile; }
    bool isResident() const { return getAlgorithm() == SelectAlgorithm::Resident; }
    /// Whether another op of the kernel brings the rows tile by tile.
    bool takesTiles() const { return isTile() || isResident(); }
    /// Whether threads have a whole row in registers.
    bool holdsRow() const {
      return isWarp() || isResident() || getAlgorithm() == SelectAlgorithm::Block;
    }
    /// Threads that a row has in a block.
    int64_t getThreadsPerRow(const ::dsv4::LaunchPart &launch) const {
      return isWarp() ? ::dsv4::limits::kWarp : launch.threads;
    }
    /// Vectors of a row of at most `columns` elements that a thread has at a time.
    int64_t getVectorsPerThread(int64_t columns, const ::dsv4::LaunchPart &launch) const;
    /// Whether `stream` reads rows of at most `columns` elements in a few rounds of
    /// one block, the first of which bounds the others better than a sample does.
    bool takesFewRounds(int64_t columns, const ::dsv4::LaunchPart &launch) const;
  }];
}

//===----------------------------------------------------------------------===//
// score
//===----------------------------------------------------------------------===//

def DSV4_ScoreAttr : DSV4_ScheduleAttrBase<"Score", "score", [
    DeclareAttrInterfaceMethods<DSV4_ScheduleInterface,
                                ["verifyLaunch", "getRowMapping", "getResources"]>
  ]> {
  let summary = "maps the scores of keys to threads";
  let description = [{
    ```mlir
    #dsv4.score<algorithm = mma, tiles = 2, stages = 12, slots = 2, persistent = true>
    ```

    A block scores the keys of `rows` rows together, by

    * `plain`: one thread per key, without tensor cores;
    * `mma`: tensor cores. All warpgroups but the last compute, `tiles` tiles of 64 keys at a time
      each. The last one loads keys, `stages` steps ahead, and the queries of `slots` groups of
      `rows` rows.

    With `persistent` there is one block per multiprocessor. The blocks share the keys of all rows
    in equal parts, so rows may have any lengths. The scores are then stored: a selection needs all
    keys of a row in one block or cluster. Clauses:

    * schedule_score_c1: with `mma` the launch has 2 to 6 warpgroups of threads and `min_blocks` of
      1, as they exchange registers;
    * schedule_score_c2: rows is between 1 and 16, and at most 8 with `mma`;
    * schedule_score_c3: with `mma` tiles is 1 or 2, slots between 1 and 8, and stages a multiple of
      2 and of the warpgroups that compute, at most 64. With `plain` these are not given;
    * schedule_score_c4: only `mma` is persistent, and no selection is in the kernel then (the
      latter checked on the kernel);
    * schedule_score_c5: `mma` scores queries in FP8 or MXFP4 and keys in FP8, MXFP4 or NVFP4, with
      a dim of 128, of NVFP4 one tile at a time. Queries are aligned to 16 bytes and keys to 4,
      constant numbers of bytes apart. The rows of a block share their keys, so of a cache rows
      divides next_n, without `requests`, and `starts` are only of arrays, for one row (checked on
      the kernel).
  }];
  let parameters = (ins
    EnumParameter<DSV4_ScoreAlgorithm>:$algorithm,
    DefaultValuedParameter<"int64_t", "1">:$rows,
    DefaultValuedParameter<"int64_t", "0">:$tiles,
    DefaultValuedParameter<"int64_t", "0">:$stages,
    DefaultValuedParameter<"int64_t", "0">:$slots,
    DefaultValuedParameter<"bool", "false">:$persistent
  );
  let extraClassDeclaration = [{
    /// Rows of a block at most: with `plain` a thread has a score of each in a register.
    static constexpr int64_t kMaxRows = 16, kMaxMmaRows = ::dsv4::limits::kMaxMmaRows;
    static constexpr int64_t kMaxStages = 64, kMaxSlots = 8;
    bool isMma() const { return getAlgorithm() == ScoreAlgorithm::Mma; }
    /// Warps that have scores, from the first one on.
    int64_t getWarps(int64_t threads) const {
      return (isMma() ? threads - ::dsv4::limits::kWarpgroup : threads) / ::dsv4::limits::kWarp;
    }
    /// Columns of a row that they have at a time.
    int64_t getColumns(int64_t threads) const {
      if (!isMma())
        return threads;
      return getWarps(threads) / 4 * getTiles() * ::dsv4::limits::kScoreTileKeys;
    }
  }];
}

//===----------------------------------------------------------------------===//
// router
//===----------------------------------------------------------------------===//

def DSV4_RouterForm : I32EnumAttr<"RouterForm", "how blocks share the logits of experts", [
    I32EnumAttrCase<"Rows", 0, "rows">,
    I32EnumAttrCase<"Tiles", 1, "tiles">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_RouterAttr : DSV4_ScheduleAttrBase<"Router", "router", [
    DeclareAttrInterfaceMethods<DSV4_ScheduleInterface,
                                ["verifyLaunch", "getRowMapping", "getResources"]>
  ]> {
  let summary = "maps the logits of experts to threads";
  let description = [{
    ```mlir
    #dsv4.router<form = rows, rows = 64, experts = 32, slices = 4, blocks = 112, multicast = true>
    #dsv4.router<form = tiles, step = 128, stages = 4, blocks = 2>
    ```

    Blocks multiply hidden rows with the weights of experts by tensor cores, in one of two forms:

    * `rows`, for few rows: a block has `rows` rows, `experts` experts and `slices` slices of 128
      elements of them. It puts its sums into a workspace, which the caller provides. Then it adds
      the sums of all blocks for some of the rows, which its warps have whole then. With `multicast`
      the blocks of a cluster load the hidden rows for each other;
    * `tiles`, for many rows: a block has 64 rows, 128 experts and all of their elements, `step`
      elements at a time, `stages` steps ahead.

    `blocks` is the number of blocks that share their rows. A selection is in the kernel only with
    `rows`, which hands its warps whole rows. Clauses:

    * schedule_router_c1: threads is 32 for each 16 experts and each slice with `rows`, 256 with
      `tiles`, which has no cluster;
    * schedule_router_c2: with `rows` rows is a multiple of 8 up to 64, experts a multiple of 16 up
      to 256, and slices 1, 2 or 4, with at most 32 warps for them. With `tiles` these are not
      given, nor multicast;
    * schedule_router_c3: with `tiles` step is 64 or 128, and stages between 2 and 8. With `rows`
      these are not given;
    * schedule_router_c4: blocks is the number that the experts and elements of the op need, and a
      cluster, of at most 8, divides those along the experts (checked on the kernel);
    * schedule_router_c5: with multicast there is a cluster, and hidden rows are aligned to 16 bytes
      and have a multiple of 8 elements (the latter checked on the kernel);
    * schedule_router_c6: a selection is in the kernel with `rows` alone (checked on the kernel).
  }];
  let parameters = (ins
    EnumParameter<DSV4_RouterForm>:$form,
    DefaultValuedParameter<"int64_t", "0">:$rows,
    DefaultValuedParameter<"int64_t", "0">:$experts,
    DefaultValuedParameter<"int64_t", "0">:$slices,
    DefaultValuedParameter<"int64_t", "0">:$step,
    DefaultValuedParameter<"int64_t", "0">:$stages,
    DefaultValuedParameter<"int64_t", "1">:$blocks,
    DefaultValuedParameter<"bool", "false">:$multicast
  );
  let extraClassDeclaration = [{
    bool isRows() const { return getForm() == RouterForm::Rows; }
    int64_t getThreads() const;
    int64_t getRowsPerBlock() const {
      return isRows() ? getRows() : ::dsv4::limits::kRouterTileRows;
    }
    /// Blocks that share rows of `experts` experts of `depth` elements, and those of them along the
    /// experts.
    int64_t countBlocks(int64_t experts, int64_t depth) const;
    int64_t countExpertBlocks(int64_t experts) const;
  }];
}

#endif // DSV4_SCHEDULE_ATTRS_TD
