// The clauses of map_indices.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @map_indices_c1(%x: tensor<4x?xi32>, %out: tensor<4x?xi32>) {
  // expected-error @+1 {{map_indices_c1: expected 'indices' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xi32>'}}
  %0 = dsv4.map_indices %x outs(%out : tensor<4x?xi32>) : tensor<4x?xi32>
  return
}

// -----

func.func @map_indices_c2_rank(%x: tensor<4x6xi32>, %t: tensor<4x6xi32>, %out: tensor<4x6xi32>) {
  // expected-error @+1 {{map_indices_c2: expected 'table' of rank 1, got 'tensor<4x6xi32>'}}
  %0 = dsv4.map_indices %x table(%t : tensor<4x6xi32>) outs(%out : tensor<4x6xi32>) : tensor<4x6xi32>
  return
}

// -----

func.func @map_indices_c2(%x: tensor<4x6xi32>, %t: tensor<?xi32>, %out: tensor<4x6xi32>) {
  // expected-error @+1 {{map_indices_c2: expected 'table' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<?xi32>'}}
  %0 = dsv4.map_indices %x table(%t : tensor<?xi32>) outs(%out : tensor<4x6xi32>) : tensor<4x6xi32>
  return
}

// -----

func.func @map_indices_c3(%x: tensor<4x6xi32>, %out: tensor<4x5xi32>) {
  // expected-error @+1 {{map_indices_c3: expected 'outs' of shape [4, 6], got 'tensor<4x5xi32>'}}
  %0 = dsv4.map_indices %x outs(%out : tensor<4x5xi32>) : tensor<4x6xi32>
  return
}

// -----

func.func @map_indices_c4_valid(%x: tensor<4x6xi32>, %n: tensor<2xi32>, %out: tensor<4x6xi32>) {
  // expected-error @+1 {{map_indices_c4: expected 'valid_rows' of shape [1], got 'tensor<2xi32>'}}
  %0 = dsv4.map_indices %x valid_rows(%n : tensor<2xi32>) outs(%out : tensor<4x6xi32>) : tensor<4x6xi32>
  return
}

// -----

func.func @map_indices_c4_padding(%x: tensor<4x6xi32>, %p: tensor<6xi1>, %out: tensor<4x6xi32>) {
  // expected-error @+1 {{map_indices_c4: expected 'padding' of shape [4], got 'tensor<6xi1>'}}
  %0 = dsv4.map_indices %x padding(%p : tensor<6xi1>) outs(%out : tensor<4x6xi32>) : tensor<4x6xi32>
  return
}

// -----

func.func @type_of_table(%x: tensor<4x6xi32>, %t: tensor<6xi16>, %out: tensor<4x6xi32>) {
  // expected-error @+1 {{must be 'table', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<6xi16>'}}
  %0 = dsv4.map_indices %x table(%t : tensor<6xi16>) outs(%out : tensor<4x6xi32>) : tensor<4x6xi32>
  return
}
