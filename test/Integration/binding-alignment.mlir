// A state that is read where a token is not of the launch, by vector loads of the one or the other
// memory, must be as aligned as these need it; the launch plan says so.

// RUN: rm -rf %t
// RUN: env DSV4_CACHE_DIR=%t dsv4-run %s --target=host --random=1 --check --dim tokens=10 --dim entries=4 --dim state.pages=3 | FileCheck %s --check-prefix=RUN-IT
// RUN: cat %t/v4/sm_90a/llvmcache-* | grep -a -o '"parameters":[^]]*' | FileCheck %s

// RUN-IT: matches the oracle
// CHECK: "read(values, 16)"
// CHECK-SAME: "read(plan, 4)"
// CHECK-SAME: "read(state, 16)"
// CHECK-SAME: "write(out, 16)"

!state = !dsv4.cache<8 x <[<"values" : 64 x f32 in row>, <"scores" : 64 x f32 in row>]>>

func.func @only_reads_its_state(
    %values: tensor<?x64xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %state: !state {dsv4.name = "state"},
    %out: tensor<?x64xf32> {dsv4.name = "out", dsv4.dims = ["entries", ""]}) -> tensor<?x64xf32> {
  %pooled = dsv4.compress %values, %values window 4 plan(%plan : tensor<?x4xi32>)
      state(%state : !state) ring 8
      outs(%out : tensor<?x64xf32>) : tensor<?x64xf32>, tensor<?x64xf32>
  return %pooled : tensor<?x64xf32>
}
