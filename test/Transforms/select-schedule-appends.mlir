// How an append is dealt to lanes depends on how many rows there may be, and how wide they are.

// RUN: dsv4-opt %s --dsv4-select-schedule | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: dsv4-opt %s --dsv4-select-schedule="arch=sm_80" | FileCheck %s

!wide = !dsv4.cache<16 x <[<"values" : 1024 x bf16 in row>, <"scores" : 1024 x bf16 in row>]>>
!narrow = !dsv4.cache<16 x <[<"values" : 512 x bf16 in row>, <"scores" : 512 x bf16 in row>]>>

// A prompt: few registers, so that many rows are in flight.
// CHECK-LABEL: func.func @prompt
func.func @prompt(%c: !narrow, %s: tensor<?xi32>, %v: tensor<?x512xbf16>) {
  // CHECK: schedule <threads = 128, min_blocks = 8, {{(pdl = true, )?}}parts = [#dsv4.rows<lanes = 16, vector = 4
  // HOPPER-SAME: , load = evict_last>]>
  dsv4.kernel @prompt(%c, %s, %v) : (!narrow, tensor<?xi32>, tensor<?x512xbf16>) -> () {
  ^bb0(%c1: !narrow, %s1: tensor<?xi32>, %v1: tensor<?x512xbf16>):
    dsv4.paged_append %c1[%s1] fields(%v1, %v1 : tensor<?x512xbf16>, tensor<?x512xbf16>) : !narrow, tensor<?xi32>
  }
  return
}

// Rows that need more registers than that leaves.
// CHECK-LABEL: func.func @wide
func.func @wide(%c: !wide, %s: tensor<?xi32>, %v: tensor<?x1024xbf16>) {
  // CHECK: schedule <threads = 128, {{(pdl = true, )?}}parts = [#dsv4.rows<lanes = 16, vector = 4
  // CHECK-SAME: > :
  dsv4.kernel @wide(%c, %s, %v) : (!wide, tensor<?xi32>, tensor<?x1024xbf16>) -> () {
  ^bb0(%c1: !wide, %s1: tensor<?xi32>, %v1: tensor<?x1024xbf16>):
    dsv4.paged_append %c1[%s1] fields(%v1, %v1 : tensor<?x1024xbf16>, tensor<?x1024xbf16>) : !wide, tensor<?xi32>
  }
  return
}

// A decode step: a whole warp for each of its few rows.
// CHECK-LABEL: func.func @decode
func.func @decode(%c: !narrow, %s: tensor<256xi32>, %v: tensor<256x512xbf16>) {
  // CHECK: schedule <threads = 128, {{(pdl = true, )?}}parts = [#dsv4.rows<lanes = 32, vector = 2
  dsv4.kernel @decode(%c, %s, %v) : (!narrow, tensor<256xi32>, tensor<256x512xbf16>) -> () {
  ^bb0(%c1: !narrow, %s1: tensor<256xi32>, %v1: tensor<256x512xbf16>):
    dsv4.paged_append %c1[%s1] fields(%v1, %v1 : tensor<256x512xbf16>, tensor<256x512xbf16>) : !narrow, tensor<256xi32>
  }
  return
}

// One row more is a prompt.
// CHECK-LABEL: func.func @not_decode
func.func @not_decode(%c: !narrow, %s: tensor<257xi32>, %v: tensor<257x512xbf16>) {
  // CHECK: schedule <threads = 128, min_blocks = 8, {{(pdl = true, )?}}parts = [#dsv4.rows<lanes = 16, vector = 4
  dsv4.kernel @not_decode(%c, %s, %v) : (!narrow, tensor<257xi32>, tensor<257x512xbf16>) -> () {
  ^bb0(%c1: !narrow, %s1: tensor<257xi32>, %v1: tensor<257x512xbf16>):
    dsv4.paged_append %c1[%s1] fields(%v1, %v1 : tensor<257x512xbf16>, tensor<257x512xbf16>) : !narrow, tensor<257xi32>
  }
  return
}

!groups = !dsv4.cache<64 x #dsv4.record<v4_584>>
!whole = !dsv4.cache<64 x #dsv4.record<seed_580>>
#by_group = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#by_row = #dsv4.format<f8E4M3FN, [<f32 per row>]>
#up = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>
#exact = #dsv4.quantizer<floor = 1.0e-12 : f32, floor_of = scale>

// Codes with a power of two for every group: a lane has time for more of the row.
// CHECK-LABEL: func.func @grouped
func.func @grouped(%c: !groups, %s: tensor<?xi32>, %v: tensor<?x512xbf16>, %q: tensor<?x448xf8E4M3FN>,
                   %f: tensor<?x7xf8E8M0FNU>) {
  // CHECK: schedule <threads = 128, min_blocks = 6, {{(pdl = true, )?}}parts = [#dsv4.rows<lanes = 8, vector = 8
  dsv4.kernel @grouped(%c, %s, %v, %q, %f)
      : (!groups, tensor<?xi32>, tensor<?x512xbf16>, tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>) -> () {
  ^bb0(%c1: !groups, %s1: tensor<?xi32>, %v1: tensor<?x512xbf16>, %q1: tensor<?x448xf8E4M3FN>,
       %f1: tensor<?x7xf8E8M0FNU>):
    %payload, %scales = dsv4.quantize %v1 columns [0, 448]
        outs(%q1, %f1 : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
        {format = #by_group, recipe = #up} : tensor<?x512xbf16>
    dsv4.paged_append %c1[%s1] unique fields(%payload, %v1, %scales
        : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
        columns [0, 448, 0] : !groups, tensor<?xi32>
  }
  return
}

// One scale for the whole row, by which every element is divided.
// CHECK-LABEL: func.func @by_row
func.func @by_row(%c: !whole, %s: tensor<?xi32>, %v: tensor<?x512xbf16>, %q: tensor<?x448xf8E4M3FN>,
                  %f: tensor<?xf32>) {
  // CHECK: schedule <threads = 128, min_blocks = 8, {{(pdl = true, )?}}parts = [#dsv4.rows<lanes = 16, vector = 4
  dsv4.kernel @by_row(%c, %s, %v, %q, %f)
      : (!whole, tensor<?xi32>, tensor<?x512xbf16>, tensor<?x448xf8E4M3FN>, tensor<?xf32>) -> () {
  ^bb0(%c1: !whole, %s1: tensor<?xi32>, %v1: tensor<?x512xbf16>, %q1: tensor<?x448xf8E4M3FN>,
       %f1: tensor<?xf32>):
    %payload, %scales = dsv4.quantize %v1 columns [0, 448]
        outs(%q1, %f1 : tensor<?x448xf8E4M3FN>, tensor<?xf32>)
        {format = #by_row, recipe = #exact} : tensor<?x512xbf16>
    dsv4.paged_append %c1[%s1] unique fields(%payload, %v1, %scales
        : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?xf32>)
        columns [0, 448, 0] : !whole, tensor<?xi32>
  }
  return
}
