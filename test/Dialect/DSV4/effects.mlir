// A cache is a reference: passes may merge or move a read of it only where
// nothing is written between.

// RUN: dsv4-opt %s --cse | FileCheck %s --check-prefixes=CHECK,CSE
// RUN: dsv4-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefixes=CHECK,LICM

!cache = !dsv4.cache<64 x <v4_584>>

func.func private @append(!cache)

// Two equal gathers with nothing between are one.
// CHECK-LABEL: func.func @equal_gathers
func.func @equal_gathers(%c: !cache, %i: tensor<?xi32>, %o: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CSE: %[[ROWS:.*]] = dsv4.paged_gather
  // CSE-NOT: dsv4.paged_gather
  // CSE: return %[[ROWS]], %[[ROWS]]
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  %1 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  return %0, %1 : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// With an append between they are two.
// CHECK-LABEL: func.func @write_between
func.func @write_between(%c: !cache, %i: tensor<?xi32>, %o: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CSE: %[[BEFORE:.*]] = dsv4.paged_gather
  // CSE: call @append
  // CSE: %[[AFTER:.*]] = dsv4.paged_gather
  // CSE: return %[[BEFORE]], %[[AFTER]]
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  func.call @append(%c) : (!cache) -> ()
  %1 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  return %0, %1 : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// Gathers from different caches, or of different indices, are not equal.
// CHECK-LABEL: func.func @different_gathers
func.func @different_gathers(%c: !cache, %d: !cache, %i: tensor<?xi32>,
                             %j: tensor<?xi32>, %o: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CSE-COUNT-3: dsv4.paged_gather
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  %1 = dsv4.paged_gather %d[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  %2 = dsv4.paged_gather %c[%j] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  return %0, %1, %2 : tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x512xbf16>
}

// The same operand once as lengths and once as requests is not the same.
// CHECK-LABEL: func.func @same_operands_in_other_places
func.func @same_operands_in_other_places(%c: !cache, %i: tensor<?x4xi32>,
    %t: tensor<?x4xi32>, %n: tensor<?xi32>, %o: tensor<?x4x512xbf16>)
    -> (tensor<?x4x512xbf16>, tensor<?x4x512xbf16>) {
  // CSE-COUNT-2: dsv4.paged_gather
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x4xi32>) lengths(%n : tensor<?xi32>)
      outs(%o : tensor<?x4x512xbf16>) : !cache, tensor<?x4xi32>
  %1 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x4xi32>) requests(%n : tensor<?xi32>)
      outs(%o : tensor<?x4x512xbf16>) : !cache, tensor<?x4xi32>
  return %0, %1 : tensor<?x4x512xbf16>, tensor<?x4x512xbf16>
}

// A gather stays in a loop that may write the cache; a dequantisation leaves it.
// CHECK-LABEL: func.func @loop
func.func @loop(%c: !cache, %i: tensor<?xi32>, %d: tensor<?x512xf8E4M3FN>,
                %s: tensor<?xf32>, %o: tensor<?x512xbf16>, %n: index,
                %use: memref<?xindex>) {
  // LICM: dsv4.dequantize
  // LICM: scf.for
  // LICM-NOT: dsv4.dequantize
  // LICM: dsv4.paged_gather
  // LICM: call @append
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
    %1 = dsv4.dequantize %d scales(%s : tensor<?xf32>) outs(%o : tensor<?x512xbf16>)
        {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<?x512xf8E4M3FN>
    func.call @append(%c) : (!cache) -> ()
    %2 = dsv4.row_count %0 : tensor<?x512xbf16>
    %3 = dsv4.row_count %1 : tensor<?x512xbf16>
    %4 = arith.addi %2, %3 : index
    memref.store %4, %use[%k] : memref<?xindex>
  }
  return
}

// Kernels have the effects of what they hold.
// CHECK-LABEL: func.func @kernels
func.func @kernels(%c: !cache, %i: tensor<?xi32>, %o: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CSE: %[[A:.*]] = dsv4.kernel
  // CSE: call @append
  // CSE: %[[B:.*]] = dsv4.kernel
  // CSE: return %[[A]], %[[B]]
  %0 = dsv4.kernel @k(%c, %i, %o) : (!cache, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !cache, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) : !cache, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  func.call @append(%c) : (!cache) -> ()
  %1 = dsv4.kernel @k(%c, %i, %o) : (!cache, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !cache, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) : !cache, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0, %1 : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// An append is kept, twice where it is there twice, and parts the gathers before
// it from those after it.
// CHECK-LABEL: func.func @paged_append
func.func @paged_append(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>,
                        %x: tensor<?x512xbf16>, %o: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CSE: %[[BEFORE:.*]] = dsv4.paged_gather
  // CSE-COUNT-2: dsv4.paged_append
  // CSE: %[[AFTER:.*]] = dsv4.paged_gather
  // CSE: return %[[BEFORE]], %[[AFTER]]
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  dsv4.paged_append %c[%i] fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  dsv4.paged_append %c[%i] fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  %1 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return %0, %1 : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// Ops on rows have no effects: equal ones are one, and one without uses goes. Ones
// that differ in an attribute alone are two.
// CHECK-LABEL: func.func @row_ops
func.func @row_ops(%x: tensor<?x64xbf16>, %t: tensor<?x64xf32>, %p: tensor<?xi32>,
                   %o: tensor<?x64xbf16>)
    -> (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) {
  // CSE-NOT: dsv4.hadamard
  // CSE-NOT: dsv4.rms_norm
  // CSE: %[[FORWARD:.*]] = dsv4.rope
  // CSE-NOT: dsv4.rope %{{[a-z0-9]+}} table
  // CSE: %[[BACK:.*]] = dsv4.rope %{{[a-z0-9]+}} inverse
  // CSE: return %[[FORWARD]], %[[FORWARD]], %[[BACK]]
  %0 = dsv4.hadamard %x outs(%o : tensor<?x64xbf16>) {scale = 1.0 : f32} : tensor<?x64xbf16>
  %1 = dsv4.rms_norm %x outs(%o : tensor<?x64xbf16>) {eps = 0.0 : f32} : tensor<?x64xbf16>
  %2 = dsv4.rope %x table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x64xbf16>) : tensor<?x64xbf16>
  %3 = dsv4.rope %x table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x64xbf16>) : tensor<?x64xbf16>
  %4 = dsv4.rope %x inverse table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x64xbf16>) : tensor<?x64xbf16>
  return %2, %3, %4 : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>
}
