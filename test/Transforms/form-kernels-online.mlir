// The online compress writes its state: it fuses as the other one does, but stays before what
// reads or writes the state.

// RUN: dsv4-opt %s --dsv4-form-kernels --remarks-filter=dsv4-form-kernels --remark-format=emitRemark 2>%t \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

!state = !dsv4.cache<8 x <[<"max" : 512 x f32 in row>, <"sum" : 512 x f32 in row>,
                           <"acc" : 512 x f32 in row>]>>
!cache = !dsv4.cache<64 x <[<"v" : 512 x bf16 in row>]>>

// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<?x512xf32>, %p: tensor<?x5xi32>, %i: tensor<?xi32>, %s: !state,
                 %c: !cache, %n: index) {
  // CHECK: dsv4.kernel @chain(
  // CHECK: dsv4.compress
  // CHECK-NEXT: dsv4.rms_norm
  // CHECK-NEXT: dsv4.paged_append
  %row = tensor.empty(%n) : tensor<?x512xbf16>
  %0 = dsv4.compress %x, %x window 128 algorithm online plan(%p : tensor<?x5xi32>)
      state(%s : !state) outs(%row : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
  %1 = dsv4.rms_norm %0 outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  // REMARK: [[@LINE+1]]:3: remark: [Passed] dsv4-form-kernels {{.*}}chain{{.*}}holds dsv4.compress dsv4.rms_norm dsv4.paged_append
  dsv4.paged_append %c[%i] unique fields(%1 : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  return
}

// What follows resets entries of the state: not in the kernel that reads them.
// CHECK-LABEL: func.func @own_state
func.func @own_state(%x: tensor<?x512xf32>, %p: tensor<?x5xi32>, %i: tensor<?xi32>, %s: !state,
                     %o: tensor<?x512xf32>) {
  // CHECK: dsv4.kernel @own_state_0
  // CHECK: dsv4.compress
  // CHECK: dsv4.kernel @own_state_1
  // CHECK: dsv4.paged_append
  %0 = dsv4.compress %x, %x window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%s : !state) outs(%o : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  // REMARK: [[@LINE+1]]:3: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.compress': the kernel would write the cache that it reads
  dsv4.paged_append %s[%i] fields(%0, %0, %0
      : tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x512xf32>) : !state, tensor<?xi32>
  return
}

// The kernel would take the place of the norm, after an op that may see the state.
// CHECK-LABEL: func.func @between
func.func @between(%x: tensor<?x512xf32>, %p: tensor<?x5xi32>, %i: tensor<?xi32>, %s: !state,
                   %c: !cache, %o: tensor<?x512xbf16>, %q: tensor<?x512xbf16>,
                   %g: tensor<?x512xbf16>) -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CHECK: dsv4.kernel @between_0
  // CHECK: dsv4.compress
  // CHECK: dsv4.kernel @between_1
  // CHECK: dsv4.paged_gather
  // CHECK: dsv4.kernel @between_2
  // CHECK: dsv4.rms_norm
  %0 = dsv4.compress %x, %x window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%s : !state) outs(%o : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
  %1 = dsv4.paged_gather %c[%i] outs(%g : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.compress': an op between them may read what it writes
  %2 = dsv4.rms_norm %0 outs(%q : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  return %1, %2 : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// The other compress only reads: there it moves after the gather.
// CHECK-LABEL: func.func @between_windowed
func.func @between_windowed(%x: tensor<?x512xf32>, %p: tensor<?x4xi32>, %i: tensor<?xi32>,
                            %s: !dsv4.cache<8 x <[<"v" : 512 x f32 in row>, <"s" : 512 x f32 in row>]>>,
                            %c: !cache, %o: tensor<?x512xbf16>, %q: tensor<?x512xbf16>,
                            %g: tensor<?x512xbf16>) -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CHECK: dsv4.kernel @between_windowed_0
  // CHECK: dsv4.paged_gather
  // CHECK: dsv4.kernel @between_windowed_1
  // CHECK: dsv4.compress
  // CHECK-NEXT: dsv4.rms_norm
  %0 = dsv4.compress %x, %x window 4 plan(%p : tensor<?x4xi32>)
      state(%s : !dsv4.cache<8 x <[<"v" : 512 x f32 in row>, <"s" : 512 x f32 in row>]>>) ring 8
      outs(%o : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
  %1 = dsv4.paged_gather %c[%i] outs(%g : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  %2 = dsv4.rms_norm %0 outs(%q : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  return %1, %2 : tensor<?x512xbf16>, tensor<?x512xbf16>
}
