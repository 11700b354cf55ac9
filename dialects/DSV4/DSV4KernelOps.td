//===- DSV4KernelOps.td - Kernels, and queries of their arguments -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KERNEL_OPS_TD
#define DSV4_KERNEL_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// kernel, yield
//===----------------------------------------------------------------------===//

def DSV4_KernelOp : DSV4_Op<"kernel", [
    IsolatedFromAbove, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">
  ]> {
  let summary = "the work of one CUDA kernel";
  let description = [{
    ```mlir
    func.func @norm(%x: tensor<?x512xbf16>, %out: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
      %rows = dsv4.kernel @norm_kernel(%x, %out)
          : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
      ^bb0(%a: tensor<?x512xbf16>, %b: tensor<?x512xbf16>):
        %y = dsv4.rms_norm %a outs(%b : tensor<?x512xbf16>) {eps = 1.0e-06 : f32}
            : tensor<?x512xbf16>
        dsv4.yield %y : tensor<?x512xbf16>
      }
      return %rows : tensor<?x512xbf16>
    }
    ```

    Holds the ops that become one CUDA kernel. Its block arguments stand for its operands.

    While the region holds dsv4 ops, it yields one tensor per result, each tied to the operand that
    is its destination. Once it is lowered to a row program, it has no results and writes its
    destinations. `unfused_reasons` lists, for people, why ops that compute its operands are not
    part of it.

    Clauses:

    * kernel_c1: block arguments match operands in number and type;
    * kernel_c2: yielded values match results;
    * kernel_c3: a schedule fits the row-wise ops in the region (schedule_c5, c6, and the
      clauses of its parts);
    * kernel_c4: all row-wise ops have one iteration space: equal constants, or dims of one name
      (checked when the kernel is lowered);
    * kernel_c5: the name is an identifier of at most 128 characters that CUDA C++ does not reserve,
      because it becomes the name of the emitted kernel;
    * kernel_c6: the region holds at most 1024 row-wise ops, because passes recurse from result
      to operand.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, Variadic<AnyType>:$inputs,
    OptionalAttr<DSV4_ScheduleAttr>:$schedule,
    OptionalAttr<StrArrayAttr>:$unfused_reasons
  );
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `(` $inputs `)` (`schedule` $schedule^)?
    attr-dict-with-keyword `:` functional-type($inputs, $outputs) $body
  }];
  let extraClassDeclaration = [{
    /// The operand that result `index` overwrites.
    ::mlir::Value getTiedInput(unsigned index);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def DSV4_YieldOp : DSV4_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"KernelOp">
  ]> {
  let summary = "results of a kernel";
  let description = [{
    ```mlir
    func.func @norm(%x: tensor<?x512xbf16>, %out: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
      %rows = dsv4.kernel @norm_kernel(%x, %out)
          : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
      ^bb0(%a: tensor<?x512xbf16>, %b: tensor<?x512xbf16>):
        %y = dsv4.rms_norm %a outs(%b : tensor<?x512xbf16>) {eps = 1.0e-06 : f32}
            : tensor<?x512xbf16>
        dsv4.yield %y : tensor<?x512xbf16>
      }
      return %rows : tensor<?x512xbf16>
    }
    ```

    Ends the region of a `dsv4.kernel`, and returns its results.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

//===----------------------------------------------------------------------===//
// buffer, workspace, extent, stride, row_count
//===----------------------------------------------------------------------===//

def DSV4_BufferOp : DSV4_Op<"buffer", [Pure]> {
  let summary = "the memory of a kernel operand";
  let description = [{
    ```mlir
    func.func @copy(%x: tensor<?x8xf32>, %out: tensor<?x8xf32>) {
      dsv4.kernel @copy_rows(%x, %out) : (tensor<?x8xf32>, tensor<?x8xf32>) -> () {
      ^bb0(%x_row: tensor<?x8xf32>, %out_row: tensor<?x8xf32>):
        %memory = dsv4.buffer %x_row : tensor<?x8xf32> to memref<?xf32>
      }
      return
    }
    ```

    Returns the memory of an operand of a kernel as a flat memref: the elements of a tensor from
    the first one on, the bytes of the pages of a cache (no field name), or one of its array fields.
    A sub-byte tensor is a buffer of bytes. The elements are contiguous in row-major order, unless
    `dsv4.stride` says otherwise.

    Clauses:

    * buffer_c1: the memref has rank 1, and the element type of the operand (i8 for a cache or a
      sub-byte tensor);
    * buffer_c2: a field name is that of an array field of the cache.
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, DSV4_CacheType]>:$source,
                       OptionalAttr<StrAttr>:$field);
  let results = (outs MemRefRankOf<[AnyType], [1]>:$memory);
  let assemblyFormat = "$source (`[` $field^ `]`)? attr-dict `:` type($source) `to` type($memory)";
  let hasVerifier = 1;
}

def DSV4_WorkspaceOp : DSV4_Op<"workspace", [Pure]> {
  let summary = "memory that the blocks of a kernel share";
  let description = [{
    ```mlir
    func.func @copy(%x: tensor<?x8xf32>, %out: tensor<?x8xf32>) {
      dsv4.kernel @copy_rows(%x, %out) : (tensor<?x8xf32>, tensor<?x8xf32>) -> () {
      ^bb0(%x_row: tensor<?x8xf32>, %out_row: tensor<?x8xf32>):
        %memory = dsv4.workspace 256 : memref<?xi8>
      }
      return
    }
    ```

    Returns memory that the blocks of a kernel share: `bytes` bytes per row of the kernel, one row
    after the other, aligned to 16 bytes. The caller of the program provides it. It is all zero when
    the kernel starts, and again when the kernel has ended.

    Clause workspace_c1: `bytes` is a positive multiple of 16 below 2^31.
  }];
  let arguments = (ins I64Attr:$bytes);
  let results = (outs MemRefRankOf<[I8], [1]>:$memory);
  let assemblyFormat = "$bytes attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def DSV4_ExtentOp : DSV4_Op<"extent", [
    Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>
  ]> {
  let summary = "the extent of an axis of a kernel operand";
  let description = [{
    ```mlir
    func.func @copy(%x: tensor<?x8xf32>, %out: tensor<?x8xf32>) {
      dsv4.kernel @copy_rows(%x, %out) : (tensor<?x8xf32>, tensor<?x8xf32>) -> () {
      ^bb0(%x_row: tensor<?x8xf32>, %out_row: tensor<?x8xf32>):
        %rows = dsv4.extent %x_row, 0 max 4096 : tensor<?x8xf32>
      }
      return
    }
    ```

    Returns the extent of axis `axis` of a tensor, or the number of pages of a cache (axis 0). The
    value is between `min` and `max`.

    Clause extent_c1: the axis exists.
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, DSV4_CacheType]>:$source,
                       I64Attr:$axis, DefaultValuedAttr<I64Attr, "0">:$min,
                       DefaultValuedAttr<I64Attr, "2147483647">:$max);
  let results = (outs Index:$extent);
  let assemblyFormat = [{
    $source `,` $axis (`min` $min^)? (`max` $max^)? attr-dict `:` type($source)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def DSV4_StrideOp : DSV4_Op<"stride", [
    Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>
  ]> {
  let summary = "the distance of neighbours along an axis of a kernel operand";
  let description = [{
    ```mlir
    func.func @copy(%x: tensor<?x8xf32> {dsv4.strides = #dsv4.strides<[?]>},
                    %out: tensor<?x8xf32>) {
      dsv4.kernel @copy_rows(%x, %out) : (tensor<?x8xf32>, tensor<?x8xf32>) -> () {
      ^bb0(%x_row: tensor<?x8xf32>, %out_row: tensor<?x8xf32>):
        %distance = dsv4.stride %x_row, 0 : tensor<?x8xf32>
      }
      return
    }
    ```

    Returns how far neighbours along axis `axis` of a tensor are apart, or those of the pages of a
    cache (axis 0): of its fields in pages, or of an array field. It counts elements of the
    `dsv4.buffer` of that operand. The value is between 0 and 2^31 - 1.

    Clauses:

    * stride_c1: the axis exists, and is not the last of several;
    * stride_c2: a field name is that of an array field of the cache with pages.
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, DSV4_CacheType]>:$source,
                       OptionalAttr<StrAttr>:$field, I64Attr:$axis);
  let results = (outs Index:$stride);
  let assemblyFormat = [{
    $source (`[` $field^ `]`)? `,` $axis attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def DSV4_RowCountOp : DSV4_Op<"row_count", [
    Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>
  ]> {
  let summary = "the number of rows of a kernel operand";
  let description = [{
    ```mlir
    func.func @copy(%x: tensor<?x8xf32>, %out: tensor<?x8xf32>) {
      dsv4.kernel @copy_rows(%x, %out) : (tensor<?x8xf32>, tensor<?x8xf32>) -> () {
      ^bb0(%x_row: tensor<?x8xf32>, %out_row: tensor<?x8xf32>):
        %rows = dsv4.row_count %x_row max 4096 : tensor<?x8xf32>
        %blocks = dsv4.row_count %x_row per 16 max 256 : tensor<?x8xf32>
      }
      return
    }
    ```

    Returns the number of rows of a tensor: the product of all extents but the last. With `per` it
    returns the number of groups of that many rows, of which the last may have fewer rows. The value
    is at most `max`. The runtime refuses a launch of more rows than an int32 counts.

    Clause row_count_c1: `per` is between 1 and 65,536.
  }];
  let arguments = (ins AnyRankedTensor:$source,
                       DefaultValuedAttr<I64Attr, "2147483647">:$max,
                       DefaultValuedAttr<I64Attr, "1">:$per);
  let results = (outs Index:$count);
  let assemblyFormat = "$source (`per` $per^)? (`max` $max^)? attr-dict `:` type($source)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// grid, multiprocessors
//===----------------------------------------------------------------------===//

def DSV4_GridOp : DSV4_Op<"grid", [HasParent<"KernelOp">]> {
  let summary = "the blocks of a kernel's launch";
  let description = [{
    ```mlir
    func.func @scores(%q: tensor<?x128xbf16>, %k: tensor<?x128xbf16>) {
      dsv4.kernel @tiles(%q, %k) : (tensor<?x128xbf16>, tensor<?x128xbf16>) -> () {
      ^bb0(%query: tensor<?x128xbf16>, %key: tensor<?x128xbf16>):
        %queries = dsv4.extent %query, 0 : tensor<?x128xbf16>
        %keys = dsv4.extent %key, 0 : tensor<?x128xbf16>
        %c32 = arith.constant 32 : index
        %c64 = arith.constant 64 : index
        %y = arith.ceildivui %queries, %c32 : index
        %x = arith.ceildivui %keys, %c64 : index
        dsv4.grid %x, %y
      }
      return
    }
    ```

    Gives the number of blocks that a kernel is launched with along x, y and z. An axis that is not
    given has one block. A kernel that reads `gpu.block_id` along y or z needs this op. Without it,
    the grid has one axis, whose extent follows from the schedule and the number of rows. With it,
    the schedule still gives the threads of a block and the blocks of a cluster.

    The extents become arithmetic of the launch plan. They are computed from constants,
    `dsv4.extent`, `dsv4.row_count` and `dsv4.multiprocessors` with `arith.addi`, `muli`,
    `ceildivui`, `minui`, `minsi`, `maxui` and `maxsi`. A persistent kernel has as many blocks as
    tiles, but at most a multiple of the multiprocessors. Its blocks step over the tiles by
    `gpu.grid_dim`.

    Clauses:

    * grid_c1: there are one to three extents, and one such op in a kernel;
    * grid_c2: the extents are computed as above (checked where kernels are outlined);
    * grid_c3: a `gpu.block_id` or `gpu.grid_dim` along y or z has its extent here (checked where
      kernels are outlined).
  }];
  let arguments = (ins Variadic<Index>:$extents);
  let assemblyFormat = "$extents attr-dict";
  let hasVerifier = 1;
}

def DSV4_MultiprocessorsOp : DSV4_Op<"multiprocessors", [Pure]> {
  let summary = "how many multiprocessors the device has";
  let description = [{
    ```mlir
    func.func @scores(%x: tensor<?x128xbf16>) {
      dsv4.kernel @persistent(%x) : (tensor<?x128xbf16>) -> () {
      ^bb0(%row: tensor<?x128xbf16>):
        %rows = dsv4.row_count %row : tensor<?x128xbf16>
        %sms = dsv4.multiprocessors
        %blocks = arith.minui %rows, %sms : index
        dsv4.grid %blocks
      }
      return
    }
    ```

    The number is for the extents of a `dsv4.grid`: the runtime asks the device for it. Inside of
    the kernel, `gpu.grid_dim` says how many blocks there are.
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

def DSV4_LaunchOp : DSV4_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>
  ]> {
  let summary = "how an outlined kernel is launched";
  let description = [{
    ```mlir
    dsv4.launch @gather_module::@gather
        grid ["ceildiv(tokens * topk, 16)", "1", "1"] block [128, 1, 1] pdl
        parameters ["read(cache, 16)", "read(indices, 4)", "write(out, 16)",
                    "i32(cache.pages)", "i32(tokens * topk)"]
    ```

    The launch plan: a kernel, and everything that a runtime needs to launch it. Grid, sizes
    and conditions are text over the extents of the function's arguments, which the runtime
    evaluates as it is. Expressions have `+`, `*`, `ceildiv`, `min`, `max` and
    `multiprocessors()`. Conditions compare them and may be joined by `&&`. An extent has the
    name of its dim, or else that of its argument with the axis (`x.0`) or `.pages`. A
    stride of `dsv4.strides` is `x.stride.0`, in elements of the buffer.

    * `if`: the launch is skipped unless this condition holds, so a program may have
      alternatives; a launch whose grid has an extent of 0 is skipped, too;
    * `grid`, `block`, `cluster`: blocks of the launch, threads of a block and blocks of a
      cluster, along x, y and z;
    * `shared`: bytes of dynamic shared memory of a block;
    * `workspace`: bytes of memory that the blocks share, all zero before the launch and
      after it;
    * `requires`: conditions that the compiler relied on; the runtime refuses other extents;
    * `pdl`: the kernel may start before the previous one has ended;
    * `parameters`, in their order: `read(argument, alignment)`, `write(...)` and
      `update(...)` are buffers, with the alignment in bytes that the kernel relies on
      (an array field of a cache is `argument.field`). A buffer that is a slice is
      `read(argument + expression, alignment, condition)`: where it begins, in bytes, and
      what must hold for it to be part of the argument. `i32(expression)` and
      `i64(expression)` are computed; `scalar(argument)` is a number of the caller;
      `workspace` is the workspace. `tensor_map(argument)` is reserved.

    Clauses:

    * launch_c1: every text parses, and names extents and arguments of the function;
    * launch_c2: block and cluster are within the limits of CUDA (at most 1024 threads, at
      most 64 along z; at most 16 blocks), alignments are powers of two up to 4096, and
      there is a parameter for the workspace if and only if its size is not 0;
    * launch_c3: the symbol is a `gpu.func` with `kernel`, whose parameters have the types
      of the plan's: a memref for a buffer or the workspace, i32, i64, or a number for a
      scalar;
    * launch_c4: block and cluster are those that the kernel is compiled for.
  }];
  let arguments = (ins SymbolRefAttr:$kernel, OptionalAttr<StrAttr>:$condition,
                       StrArrayAttr:$grid, DenseI32ArrayAttr:$block,
                       OptionalAttr<DenseI32ArrayAttr>:$cluster,
                       OptionalAttr<StrAttr>:$shared, OptionalAttr<StrAttr>:$workspace,
                       OptionalAttr<StrAttr>:$requirements, UnitAttr:$pdl,
                       StrArrayAttr:$parameters);
  let assemblyFormat = [{
    $kernel (`if` $condition^)? `grid` $grid `block` $block (`cluster` $cluster^)?
    (`shared` $shared^)? (`workspace` $workspace^)? (`requires` $requirements^)?
    (`pdl` $pdl^)? `parameters` $parameters attr-dict
  }];
  let builders = [
    OpBuilder<(ins "::mlir::SymbolRefAttr":$kernel, "const ::dsv4::rt::LaunchPlan &":$plan,
                   "const ::dsv4::rt::PlanNames &":$names)>
  ];
  let extraClassDeclaration = [{
    /// The plan, with the indices that extents and bindings have in `names`.
    ::dsv4::rt::Result<::dsv4::rt::LaunchPlan>
    getPlan(const ::dsv4::rt::PlanNames &names);
  }];
  let hasVerifier = 1;
}

#endif // DSV4_KERNEL_OPS_TD
