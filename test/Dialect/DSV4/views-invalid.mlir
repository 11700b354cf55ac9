// Every clause of #dsv4.view.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects 'dsv4.view' of argument 0 ('arg0') to be a #dsv4.view of a tensor, got 7 : i64 of 'tensor<4xf32>'}}
func.func private @kind(tensor<4xf32> {dsv4.view = 7})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 0 ('x') to have view_c1: as 'of' the number of a tensor before it that is no view, got 0}}
func.func private @itself(tensor<4xf32> {dsv4.name = "x", dsv4.strides = #dsv4.strides<[]>,
                                         dsv4.view = #dsv4.view<of = 0, axes = [0], offsets = ["0"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 1 ('arg1') to have view_c1: as 'of' the number of a tensor before it that is no view, got 0}}
func.func private @cache(!dsv4.cache<64 x <v4_584>>,
                         tensor<4xf32> {dsv4.strides = #dsv4.strides<[]>,
                                        dsv4.view = #dsv4.view<of = 0, axes = [0], offsets = ["0"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 2 ('arg2') to have view_c1: as 'of' the number of a tensor before it that is no view, got 1}}
func.func private @of_view(tensor<8xf32>,
                           tensor<4xf32> {dsv4.strides = #dsv4.strides<[]>,
                                          dsv4.view = #dsv4.view<of = 0, axes = [0], offsets = ["0"]>},
                           tensor<2xf32> {dsv4.strides = #dsv4.strides<[]>,
                                          dsv4.view = #dsv4.view<of = 1, axes = [0], offsets = ["0"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 1 ('arg1') to have view_c2: 2 ascending axes of a tensor of rank 2}}
func.func private @axes(tensor<8x4xf32>,
                        tensor<4x2xf32> {dsv4.strides = #dsv4.strides<[16]>,
                                         dsv4.view = #dsv4.view<of = 0, axes = [1, 0], offsets = ["0", "0"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 1 ('arg1') to have view_c2: 1 ascending axes of a tensor of rank 2}}
func.func private @axis(tensor<8x4xf32>,
                        tensor<4xf32> {dsv4.strides = #dsv4.strides<[]>,
                                       dsv4.view = #dsv4.view<of = 0, axes = [2], offsets = ["0", "0"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 1 ('arg1') to have view_c3: 2 offsets, expressions over the extents of the function}}
func.func private @offsets(tensor<8x4xf32>,
                           tensor<4xf32> {dsv4.strides = #dsv4.strides<[]>,
                                          dsv4.view = #dsv4.view<of = 0, axes = [1], offsets = ["0"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 1 ('arg1') to have view_c3: 1 offsets, expressions over the extents of the function}}
func.func private @offset(tensor<?xf32> {dsv4.dims = ["n"]},
                          tensor<4xf32> {dsv4.strides = #dsv4.strides<[]>,
                                         dsv4.view = #dsv4.view<of = 0, axes = [0], offsets = ["m"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 1 ('arg1') to have view_c4: strides, and elements of 'f32'}}
func.func private @strides(tensor<8xf32>,
                           tensor<4xf32> {dsv4.view = #dsv4.view<of = 0, axes = [0], offsets = ["0"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 1 ('arg1') to have view_c4: strides, and elements of 'f32'}}
func.func private @element(tensor<8xf32>,
                           tensor<4xi32> {dsv4.strides = #dsv4.strides<[]>,
                                          dsv4.view = #dsv4.view<of = 0, axes = [0], offsets = ["0"]>})

// -----

// expected-error @+1 {{expects 'dsv4.view' of argument 1 ('arg1') to have view_c5: as extent 0 a constant, or a dim of another argument}}
func.func private @extent(tensor<?xf32> {dsv4.dims = ["n"]},
                          tensor<?xf32> {dsv4.dims = ["m"], dsv4.strides = #dsv4.strides<[]>,
                                         dsv4.view = #dsv4.view<of = 0, axes = [0], offsets = ["0"]>})
