// Discardable attributes of the dialect that nobody would read.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{has no argument attribute 'dsv4.dim', the nearest is 'dsv4.dims' of an argument}}
func.func private @argument(tensor<?xi32> {dsv4.dim = ["k"]})

// -----

// One of a function.
// expected-error @+1 {{cannot have the argument attribute 'dsv4.policies', which is one of a function}}
func.func private @argument_place(tensor<?xi32> {dsv4.policies = {k = #dsv4.policy<exact>}})

// -----

// expected-error @+1 {{has no result attribute 'dsv4.name': a result has the name and the dims of the argument it is written to}}
func.func private @result() -> (tensor<?xi32> {dsv4.name = "out"})

// -----

// expected-error @+1 {{'func.func' op has no attribute 'dsv4.policy', the nearest is 'dsv4.policies' of a function}}
func.func private @function() attributes {dsv4.policy = {k = #dsv4.policy<exact>}}

// -----

// expected-error @+1 {{'func.func' op cannot have the attribute 'dsv4.dims', which is one of an argument}}
func.func private @function_place() attributes {dsv4.dims = ["k"]}

// -----

// The schedule of a kernel is an attribute without a prefix.
// expected-error @+1 {{'func.func' op cannot have the attribute 'dsv4.schedule', which is one of an outlined kernel}}
func.func private @schedule() attributes {dsv4.schedule = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>}

// -----

// expected-error @+1 {{'builtin.module' op cannot have the attribute 'dsv4.policies', which is one of a function}}
module attributes {dsv4.policies = {k = #dsv4.policy<exact>}} {}

// -----

func.func @op(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error @+1 {{'dsv4.paged_gather' op has no attribute 'dsv4.bound', the nearest is 'dsv4.bounds' of a function}}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) {dsv4.bound = 4} : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
  return %0 : tensor<?x512xbf16>
}

// -----

func.func @other_dialects(%v: tensor<4xi32> {test.nmae = "a"}) -> tensor<4xi32>
    attributes {test.dims = ["k"], llvm.emit_c_interface} {
  // expected-error @+1 {{'tensor.cast' op has no attribute 'dsv4.rows_for', the nearest is 'dsv4.rows_of' of a lowered kernel}}
  %0 = tensor.cast %v {dsv4.rows_for = 0, test.rows = 0} : tensor<4xi32> to tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// expected-error @+1 {{expects 'dsv4.separate_launches' to be a unit}}
func.func private @separate() attributes {dsv4.separate_launches = true}

// -----

// What each part computes, and its schedule.
func.func @parts(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{expects 'dsv4.parts' to be an array of dictionaries {schedule = #dsv4.schedule<...>, summary = "..."}}}
  dsv4.kernel @k(%x) attributes {dsv4.parts = [{summary = "x"}]} : (tensor<?x8xf32>) -> () {
  ^bb0(%a: tensor<?x8xf32>):
  }
  return
}
