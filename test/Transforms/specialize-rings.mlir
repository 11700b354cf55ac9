// Rings of one cache have one length.

// RUN: dsv4-opt %s --dsv4-specialize --split-input-file --verify-diagnostics -o /dev/null

// Rings of two lengths are fine where page tables share out the pages, or where
// one is another cache's; entries by slot have no ring.
!cache = !dsv4.cache<4 x <[<"a" : 8 x f32 in row>]>>
func.func @good(%v: tensor<?x8xf32>, %t: tensor<?xi32>, %l: tensor<?xi32>,
                 %short: tensor<?x2xi32>, %long: tensor<?x4xi32>, %c: !cache, %d: !cache) {
  dsv4.paged_append %c[%t] ring 8 pages(%short : tensor<?x2xi32>) lengths(%l : tensor<?xi32>)
      fields(%v : tensor<?x8xf32>) : !cache, tensor<?xi32>
  dsv4.paged_append %c[%t] ring 16 pages(%long : tensor<?x4xi32>) lengths(%l : tensor<?xi32>)
      fields(%v : tensor<?x8xf32>) : !cache, tensor<?xi32>
  dsv4.paged_append %d[%t] ring 16 lengths(%l : tensor<?xi32>)
      fields(%v : tensor<?x8xf32>) : !cache, tensor<?xi32>
  dsv4.paged_append %d[%t] unique fields(%v : tensor<?x8xf32>) : !cache, tensor<?xi32>
  return
}

// -----

!state = !dsv4.cache<8 x <[<"values" : 64 x f32 in row>, <"scores" : 64 x f32 in row>]>>
func.func @compress(%v: tensor<?x64xf32>, %s: tensor<?x64xf32>, %p: tensor<?x4xi32>, %t: tensor<?xi32>,
                 %l: tensor<?xi32>, %c: !state {dsv4.name = "state"}, %o: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>) state(%c : !state) ring 16
      outs(%o : tensor<?x32xf32>) : tensor<?x64xf32>, tensor<?x64xf32>
  // expected-error @+1 {{'dsv4.paged_append' op has a ring of 8 in argument 'state', where another op has a ring of 16; expected rings of one length in one cache}}
  dsv4.paged_append %c[%t] ring 8 lengths(%l : tensor<?xi32>)
      fields(%v, %s : tensor<?x64xf32>, tensor<?x64xf32>) : !state, tensor<?xi32>
  return %0 : tensor<?x32xf32>
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 8 x f32 in row>]>>
func.func @appends(%v: tensor<?x8xf32>, %t: tensor<?xi32>, %l: tensor<?xi32>,
                            %pages: tensor<?x?xi32>, %c: !cache) {
  dsv4.paged_append %c[%t] ring 8 pages(%pages : tensor<?x?xi32>) lengths(%l : tensor<?xi32>)
      fields(%v : tensor<?x8xf32>) : !cache, tensor<?xi32>
  // expected-error @+1 {{has a ring of 16 in argument 'arg4', where another op has a ring of 8}}
  dsv4.paged_append %c[%t] ring 16 pages(%pages : tensor<?x?xi32>) lengths(%l : tensor<?xi32>)
      fields(%v : tensor<?x8xf32>) : !cache, tensor<?xi32>
  return
}
