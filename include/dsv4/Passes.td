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
    First gives axes that ops tie one name and, where one of them is constant, one
    extent. Then takes extents for named dims and applies each dim's policy: an `exact` one
    becomes part of the types, a `bucket` one keeps its run-time value and gets
    an upper bound, the next power of two (`dsv4.bounds`), a `dynamic` one stays
    as it is. A dim that is exact must be given. Extents that contradict a type,
    or names no argument has, are errors; so are an argument that is read and
    overwritten, a slice of a tensor, and rings of two lengths in one cache by
    one page table or without any.

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
    Puts every row-wise op into a `dsv4.kernel`, together with the producer of
    one of its operands where the two have one iteration space, the value between
    them has no other user, and it provides the accesses that the kernel then
    demands of it. Each decision leaves a remark
    (`--remarks-filter=dsv4-form-kernels`): what was fused, or why not, which the
    kernel also keeps as `unfused_reasons`.
  }];
  let dependentDialects = ["::dsv4::DSV4Dialect"];
}

def SelectSchedule : Pass<"dsv4-select-schedule", "::mlir::func::FuncOp"> {
  let summary = "Choose the schedule of every kernel";
  let description = [{
    Looks a kernel up in the schedule tables, by architecture, the ops that it holds, the kinds of
    schedule parts that these need, and the size of the problem. The parts of the entry that is
    found are reduced until they fit the kernel: lanes and vectors until they divide every segment,
    threads to those that have work. A kernel that carries a schedule keeps it. The pass knows no
    kind of part: `ScheduleKind` and `ScheduleInterface` answer. A table file (`docs/Schedules.md`)
    goes before the built-in tables. Of a schedule that is given each kernel takes the parts that it
    has a use for.
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
    The body of every `dsv4.kernel` becomes an `scf.forall` over its rows whose
    body computes one whole row in ops of row, arith and vector on flat buffers.
    There are no threads yet, and no schedule is read. The kernel loses its results:
    it writes its destinations. An append whose slots may repeat leaves a remark
    (`--remarks-filter=convert-dsv4-to-row`), as it costs more than one with `unique`.
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
    Replaces the `scf.forall` of a kernel by block and thread ids, and every
    vector of N elements by the fragment of one lane, `vector<S x V>` with
    `S = N / (lanes * vector)`: element e belongs to step s, lane l, position v
    with e = (s * lanes + l) * vector + v. A vector of V elements is contiguous
    and neighbouring lanes have neighbouring vectors, so accesses coalesce. Where S is
    no whole number it is rounded up, and lanes that have a vector less neither read,
    store nor reduce the last one.
  }];
  let dependentDialects = [
    "::dsv4::cuda::CUDADialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def OutlineKernels : Pass<"dsv4-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline kernels into gpu.module and gpu.func";
  let description = [{
    Every `dsv4.kernel` becomes a `gpu.func` in a `gpu.module` of its own with a
    `#cuda.target`; buffers and run-time extents become its parameters. The
    function keeps a `dsv4.launch`, the launch plan: the grid as arithmetic over
    extents, block, cluster, shared memory, workspace, and for every parameter what
    it is. Nothing after this pass works out how a kernel is launched.
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
  let summary = "Turn arithmetic into calls that do several steps at once";
  let description = [{
    Widening, expanding the scales, multiplying and, where nothing else uses
    the product, rounding to bf16 become one `cuda.dequantize`: one loop over the
    registers instead of four, and fewer instructions where both element types
    are narrow. Dividing by scales and encoding become one `cuda.quantize`,
    which divides only where it must. Results do not change.
  }];
  let dependentDialects = ["::dsv4::cuda::CUDADialect"];
}

def CudaLegalize : Pass<"cuda-legalize", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Rewrite or reject what CUDA C++ cannot say";
  let description = [{
    Gives every `index` value a width: 32 bits where integer range analysis
    proves that its value fits, 64 where it does not. Turns flat memref accesses
    into `cuda.load` and `cuda.store`. Ends with a check that every op has a
    spelling; later passes must not introduce others.
  }];
  let dependentDialects = [
    "::dsv4::cuda::CUDADialect", "::mlir::arith::ArithDialect"
  ];
}

def CudaPrepareForEmission
    : Pass<"cuda-prepare-for-emission", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Make IR and text isomorphic";
  let description = [{
    Decides which values get a line of their own: those with several users,
    those that are not pure, and those that carry a name. They get a unique C
    identifier as `NameLoc`; every other value is written where it is used. The
    printer decides nothing after this.
  }];
}

#endif // DSV4_PASSES_TD
