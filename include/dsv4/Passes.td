//===- Passes.td - The passes of dsv4 -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_PASSES_TD
#define DSV4_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// L0 to L1: what one kernel does
//===----------------------------------------------------------------------===//

def Specialize : Pass<"dsv4-specialize", "::mlir::func::FuncOp"> {
  let summary = "Fix the extents of named dims by their policy";
  let description = [{
    First gives all axes that ops tie together one name and, if one of them is constant, that
    extent. Then takes the given extents of named dims and applies the policy of each dim:

    * an `exact` dim becomes part of the types; its extent must be given;
    * a `bucket` dim keeps its run-time value and gets an upper bound, the next power of two
      (`dsv4.bounds`);
    * a `dynamic` dim stays as it is.

    A `tensor.extract_slice` of an argument becomes an argument with `dsv4.view`, which no caller
    passes.

    An extent that has to be at least another one is compared here if both are constant. If not,
    the argument gets the comparison, and each launch makes it (`dsv4.requires`).

    These are errors: an extent that contradicts a type, a name that no argument has, an argument
    that is both read and overwritten, a slice that is no memory of an argument, two rings of
    different lengths in one cache with one page table or without any, constant strides with which
    elements of a destination overlap, and an op whose clauses say something else than those of the
    op that computes its operand.

    ```mlir
    // dims="topk=512"
    func.func @f(%i: tensor<?x?xi32> {dsv4.dims = ["tokens", "topk"]})
        attributes {dsv4.policies = {topk = #dsv4.policy<exact>}}
    // becomes
    func.func @f(%i: tensor<?x512xi32> {dsv4.dims = ["tokens", "topk"]})
    ```
  }];
  let options = [
    ListOption<"dims", "dims", "std::string", "extents, as NAME=N or NAME=?">
  ];
  let dependentDialects = ["::dsv4::DSV4Dialect"];
}

def FormKernels : Pass<"dsv4-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Group row-wise ops into kernels";
  let description = [{
    Puts every row-wise op into a `dsv4.kernel`. The producer of an operand joins the kernel if both
    ops have the same iteration space, the kernel can also store the value for its other users, and
    the producer provides the accesses that the kernel demands of it. No kernel can hand a value of
    a `tensor.empty` to another one, so other ops that read it join as siblings where the kernel
    can compute them. Each decision leaves a remark (`--remarks-filter=dsv4-form-kernels`) that
    names the fused ops, or why an op was not fused. The kernel also keeps the reasons as
    `unfused_reasons`.
  }];
  let dependentDialects = ["::dsv4::DSV4Dialect"];
}

def SelectSchedule : Pass<"dsv4-select-schedule", "::mlir::func::FuncOp"> {
  let summary = "Choose the schedule of every kernel";
  let description = [{
    Looks up each kernel in the schedule tables, by architecture, the ops of the kernel, the kinds
    of schedule parts that they need, and the size of the problem. Then reduces the parts of the
    entry until they fit the kernel: lanes and vectors until they divide every segment, threads
    until all have work. A kernel that carries a schedule keeps it. A table file
    (`docs/Schedules.md`) is searched before the built-in tables. If a schedule is given, each
    kernel uses the parts that it needs. The pass knows no kind of part; it asks `ScheduleKind` and
    `ScheduleInterface`.
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90a\"", "architecture">,
    Option<"table", "table", "std::string", "\"\"", "schedule table file">,
    Option<"schedule", "schedule", "std::string", "\"\"",
           "schedule for every kernel, as #dsv4.schedule<...>">
  ];
  let dependentDialects = ["::dsv4::DSV4Dialect", "::dsv4::cuda::CUDADialect"];
}

//===----------------------------------------------------------------------===//
// L1 to L2: row programs
//===----------------------------------------------------------------------===//

def ConvertDSV4ToRow : Pass<"convert-dsv4-to-row", "::mlir::func::FuncOp"> {
  let summary = "Lower kernels to row programs";
  let description = [{
    The body of every `dsv4.kernel` becomes an `scf.forall` over its rows. The body of the loop
    computes one whole row with ops of `row`, `arith` and `vector` on flat buffers. There are no
    threads yet, and the pass reads no schedule. The kernel loses its results and writes its
    destinations instead. An append whose slots may repeat leaves a remark
    (`--remarks-filter=convert-dsv4-to-row`), because it costs more than one with `unique`.
  }];
  let dependentDialects = [
    "::dsv4::DSV4Dialect", "::dsv4::row::RowDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// L2 to L3: thread programs
//===----------------------------------------------------------------------===//

def DistributeRows : Pass<"dsv4-distribute-rows", "::mlir::func::FuncOp"> {
  let summary = "Map rows to threads and row vectors to fragments";
  let description = [{
    Replaces the `scf.forall` of a kernel by block and thread ids, and every vector of N elements by
    the fragment of one lane, `vector<S x V>` with `S = N / (lanes * vector)`. Element e belongs to
    step s, lane l and position v with e = (s * lanes + l) * vector + v. A vector of V elements is
    contiguous, and neighbouring lanes have neighbouring vectors, so accesses coalesce. If the
    quotient is not a whole number, S is rounded up, and lanes without a last vector neither read,
    store nor reduce it.
  }];
  let dependentDialects = [
    "::dsv4::cuda::CUDADialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def MergeKernels : Pass<"dsv4-merge-kernels", "::mlir::func::FuncOp"> {
  let summary = "Join independent kernels in one launch";
  let description = [{
    Joins neighbouring kernels that do not depend on each other in one kernel. The first blocks of
    its grid do the rows of the first kernel, the next blocks those of the second. So a launch does
    both at the same time, whatever their iteration spaces are. Kernels keep the order of the
    program: write the one whose rows take longest first.

    Kernels are joined if none writes memory that another reads or writes, and if each maps rows to
    lanes and does nothing else (no cooperative op, cluster, workspace, dynamic shared memory or
    `dsv4.grid`). The kernel with most blocks decides how they run: the launch has its `threads` and
    `min_blocks`. Another kernel may have fewer threads, unless all of them meet, and its threads
    hold at most twice as many elements of a row. If extents decide which kernel has most blocks,
    `threads` and `min_blocks` have to be equal, and each is compared with each. At most four
    kernels become one.

    A function with the attribute `dsv4.separate_launches` keeps a launch per kernel.

    Each decision leaves a remark (`--remarks-filter=dsv4-merge-kernels`) that names the kernels, or
    why they have launches of their own. The joined kernel has the name of the function if the
    function has no other.
  }];
  let dependentDialects = [
    "::dsv4::DSV4Dialect", "::dsv4::cuda::CUDADialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def OutlineKernels : Pass<"dsv4-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline kernels into gpu.module and gpu.func";
  let description = [{
    Every `dsv4.kernel` becomes a `gpu.func` in a `gpu.module` of its own with a `#cuda.target`. Its
    parameters are buffers and run-time extents. The function keeps the launch plan, a
    `dsv4.launch`: the grid as arithmetic over extents, block, cluster, shared memory, workspace,
    and the origin of every parameter. No later pass decides how a kernel is launched.
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90a\"", "architecture">
  ];
  let dependentDialects = [
    "::dsv4::cuda::CUDADialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::func::FuncDialect"
  ];
}

//===----------------------------------------------------------------------===//
// L3 to L4: emission form
//===----------------------------------------------------------------------===//

def CudaFormDeviceCalls
    : Pass<"cuda-form-device-calls", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Combine arithmetic into device calls";
  let description = [{
    Turns the steps of dequantizing into one `cuda.dequantize`: widening, expanding the scales,
    multiplying, and rounding to bf16 if nothing else uses the product. The source then has one loop
    over registers instead of four, and fewer instructions if both element types are narrow.
    Division by scales and encoding become one `cuda.quantize`, which divides only where it must.
    Results do not change.
  }];
  let dependentDialects = ["::dsv4::cuda::CUDADialect"];
}

def CudaLegalize : Pass<"cuda-legalize", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Rewrite or reject what CUDA C++ cannot express";
  let description = [{
    Gives every `index` value a width: 32 bits where integer range analysis proves that the value
    fits, 64 bits elsewhere. Turns flat memref accesses into `cuda.load` and `cuda.store`. Finally
    checks that every op has a printed form; later passes must not introduce ops without one.
  }];
  let dependentDialects = [
    "::dsv4::cuda::CUDADialect", "::mlir::arith::ArithDialect"
  ];
}

def CudaShareCode : Pass<"cuda-share-code", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Emit equal computations of a large kernel once";
  let description = [{
    Cuts a kernel in which a thread computes more than `max-elements` elements into functions that
    are not inlined, because the time of NVRTC grows with the square of what a kernel has. A
    function computes one value, and up to 1024 elements or one op. Loads move to their uses, but
    not across stores. Numbers that stand for all elements of a fragment become parameters, and
    equal functions are one. There is a function if it has four calls or more, which pass and return
    at most 32 registers; in kernels of four times as many elements, any number of registers.
    Smaller kernels do not change. Results do not, either.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", "2048",
           "elements that a thread of a kernel without functions computes">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def CudaPrepareForEmission
    : Pass<"cuda-prepare-for-emission", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Make IR and source isomorphic";
  let description = [{
    Decides which values get a line of their own: values with several users, values that are not
    pure, and values with a name. Each gets a unique C identifier as `NameLoc`. Every other value is
    written where it is used. The printer decides nothing after this.
  }];
}

#endif // DSV4_PASSES_TD
