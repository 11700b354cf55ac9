/* Layout.h - Where the fields of dsv4.h are, for C11 and C++
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What programs of users were compiled against. A number here never changes;
 * fields that are added get lines of their own.
 */

#include "dsv4.h"

#include <assert.h>

#define AT(type, field, offset)                                                \
  static_assert(offsetof(type, field) == (offset), #type "." #field)
#define BYTES(type, bytes) static_assert(sizeof(type) == (bytes), #type)

AT(dsv4_error, status, 4);
AT(dsv4_error, id, 8);
AT(dsv4_error, message, 16);
AT(dsv4_error, argument, 24);
AT(dsv4_error, argument_index, 32);
AT(dsv4_error, driver_result, 36);
BYTES(dsv4_error, 40);

AT(dsv4_event, kind, 4);
AT(dsv4_event, text, 8);
AT(dsv4_event, milliseconds, 16);
AT(dsv4_event, bytes, 24);
AT(dsv4_event, device_id, 32);
AT(dsv4_event, directory, 40);
BYTES(dsv4_event, 48);

AT(dsv4_runtime_options, on_event, 8);
AT(dsv4_runtime_options, user, 16);
AT(dsv4_runtime_options, compiler, 24);
AT(dsv4_runtime_options, nvrtc_path, 32);
AT(dsv4_runtime_options, cache_dir, 40);
BYTES(dsv4_runtime_options, 48);

AT(dsv4_counters, programs, 8);
AT(dsv4_counters, compiles, 16);
AT(dsv4_counters, compile_failures, 24);
AT(dsv4_counters, loads, 32);
AT(dsv4_counters, load_failures, 40);
AT(dsv4_counters, binds, 48);
AT(dsv4_counters, calls, 56);
AT(dsv4_counters, not_prepared, 64);
AT(dsv4_counters, errors, 72);
AT(dsv4_counters, workspace_bytes, 80);
AT(dsv4_counters, disk_hits, 88);
AT(dsv4_counters, waits, 96);
AT(dsv4_counters, passed_by, 104);
AT(dsv4_counters, warnings, 112);
BYTES(dsv4_counters, 120);

AT(dsv4_cache, used, 4);
AT(dsv4_cache, directory, 8);
AT(dsv4_cache, problem, 16);
BYTES(dsv4_cache, 24);

AT(dsv4_device, device_id, 4);
AT(dsv4_device, name, 8);
AT(dsv4_device, arch, 136);
AT(dsv4_device, major, 152);
AT(dsv4_device, minor, 156);
AT(dsv4_device, multiprocessors, 160);
AT(dsv4_device, driver_version, 164);
AT(dsv4_device, memory_bytes, 168);
BYTES(dsv4_device, 176);

AT(dsv4_compile_options, target, 4);
AT(dsv4_compile_options, entry, 8);
AT(dsv4_compile_options, dim_names, 16);
AT(dsv4_compile_options, dim_values, 24);
AT(dsv4_compile_options, dim_count, 32);
AT(dsv4_compile_options, device_id, 36);
AT(dsv4_compile_options, arch, 40);
AT(dsv4_compile_options, schedule, 48);
AT(dsv4_compile_options, source_name, 56);
AT(dsv4_compile_options, timeout_ms, 64);
AT(dsv4_compile_options, check_stream, 68);
AT(dsv4_compile_options, stream, 72);
AT(dsv4_compile_options, should_stop, 80);
AT(dsv4_compile_options, stop_user, 88);
BYTES(dsv4_compile_options, 96);

AT(dsv4_program_info, target, 4);
AT(dsv4_program_info, name, 8);
AT(dsv4_program_info, arch, 16);
AT(dsv4_program_info, key, 24);
AT(dsv4_program_info, bindings, 32);
AT(dsv4_program_info, dims, 36);
AT(dsv4_program_info, kernels, 40);
BYTES(dsv4_program_info, 48);

BYTES(dsv4_type, 4);

AT(dsv4_binding, rank, 4);
AT(dsv4_binding, name, 8);
AT(dsv4_binding, element, 16);
AT(dsv4_binding, type, 24);
AT(dsv4_binding, element_bytes, 28);
AT(dsv4_binding, written, 32);
AT(dsv4_binding, scalar, 33);
AT(dsv4_binding, strided, 34);
AT(dsv4_binding, extents, 40);
AT(dsv4_binding, dims, 104);
AT(dsv4_binding, strides, 136);
AT(dsv4_binding, alignment, 200);
BYTES(dsv4_binding, 208);

AT(dsv4_dim, binding, 4);
AT(dsv4_dim, name, 8);
AT(dsv4_dim, axis, 16);
AT(dsv4_dim, is_stride, 20);
AT(dsv4_dim, min, 24);
AT(dsv4_dim, max, 32);
AT(dsv4_dim, multiple, 40);
BYTES(dsv4_dim, 48);

AT(dsv4_kernel, registers, 4);
AT(dsv4_kernel, symbol, 8);
AT(dsv4_kernel, schedule, 16);
AT(dsv4_kernel, spill_bytes, 24);
AT(dsv4_kernel, image_bytes, 28);
AT(dsv4_kernel, block, 32);
AT(dsv4_kernel, cluster, 44);
AT(dsv4_kernel, uses_workspace, 56);
BYTES(dsv4_kernel, 64);

/* DLPack's DLTensor. */
AT(dsv4_dltensor, device_type, 8);
AT(dsv4_dltensor, device_id, 12);
AT(dsv4_dltensor, ndim, 16);
AT(dsv4_dltensor, type, 20);
AT(dsv4_dltensor, shape, 24);
AT(dsv4_dltensor, strides, 32);
AT(dsv4_dltensor, byte_offset, 40);
BYTES(dsv4_dltensor, 48);

AT(dsv4_tensor, ndim, 4);
AT(dsv4_tensor, data, 8);
AT(dsv4_tensor, shape, 16);
AT(dsv4_tensor, strides, 24);
AT(dsv4_tensor, type, 32);
AT(dsv4_tensor, device_type, 36);
AT(dsv4_tensor, device_id, 40);
BYTES(dsv4_tensor, 48);

AT(dsv4_argument, kind, 4);
AT(dsv4_argument, value, 8);
AT(dsv4_argument, flags, 16);
BYTES(dsv4_argument, 24);

AT(dsv4_workspace, data, 8);
AT(dsv4_workspace, bytes, 16);
BYTES(dsv4_workspace, 24);
