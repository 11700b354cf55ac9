func.func @bare(%x: tensor<4x8xf32>) {
  %y = contract.bare %x : tensor<4x8xf32> to tensor<4x8xf32>
  return
}
