/* kernel.h - Kernels: programs that can be called
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#ifndef DSV4_PYTHON_KERNEL_H
#define DSV4_PYTHON_KERNEL_H

#include "extension.h"

#define MAX_DEVICES 16

/* What the launches of a kernel need of a binding. */
typedef struct parameter {
  const char *name; /* Lives as long as the program. */
  dsv4_type type;
  int32_t rank;
  uint8_t written, scalar;
  int64_t page_bytes;  /* Of the rows and tails of a cache, or -1. */
  uint8_t is_bytes;    /* An array of a cache, in bytes. */
  uint8_t is_unsigned; /* ui32, whose bits are those of i32. */
  uint32_t alignment;  /* That the kernel needs of the first element. */
} parameter;

/* An argument as the block has it. */
typedef struct bound_argument {
  char *data;
  int64_t span; /* Bytes from the first element to the end of the last. */
  dsv4_type type;
  int32_t device_type, device_id, ndim;
  uint32_t flags;
  int has_strides;
  int64_t shape[DSV4_MAX_RANK], strides[DSV4_MAX_RANK];
} bound_argument;

/* The block of a device. The GIL guards it, and while the driver launches
 * without the GIL, `busy` does. */
typedef struct bound_launch {
  dsv4_block *block;
  int busy;
  bound_argument arguments[];
} bound_launch;

typedef enum content_kind { CONTENTS_UNIQUE, CONTENTS_BELOW } content_kind;

#define MAX_CHECKS 2

/* What the contents of an argument have to be. `rows` has the request of each
 * token, or -1; for CONTENTS_BELOW, the rows of a table that are read. */
typedef struct content_check {
  content_kind kind;
  int argument, rows;
  int table, pool; /* CONTENTS_UNIQUE: the page table, or -1, and the cache. */
  long long bound; /* The entries of a page, or what numbers are below. */
} content_check;

typedef struct kernel {
  PyObject_HEAD dsv4_program *program;
  dsv4_program_info info;
  parameter *parameters; /* info.bindings of them. */
  /* The same function for elements that are aligned to their own size alone,
   * or null. */
  PyObject *unaligned;
  bound_launch *bound[MAX_DEVICES];
  int check_count; /* On the host target alone. */
  content_check checks[MAX_CHECKS];
} kernel;

/* A number, as a scalar binding has it. */
typedef union number {
  int32_t i32;
  int64_t i64;
  float f32;
} number;

/* The arguments of one call. */
typedef struct call {
  uint32_t count;
  dsv4_argument arguments[MAX_ARGUMENTS];
  array_view views[MAX_ARGUMENTS];
  number numbers[MAX_ARGUMENTS];
  stream_choice stream;
  int32_t device; /* Of the first array on one, or -1. */
} call;

/* Reads the objects, of which `views` may have views. Returns 0, or -1 with an
 * exception. In both cases, close the call. */
int open_call(kernel *self, call *call, PyObject *const *objects,
              const array_view *const *views, Py_ssize_t count);
void close_call(call *call);

/* Launches without a block: on the host, with a workspace of the caller, and
 * while another thread launches with the block. */
int launch_once(kernel *self, call *call, const dsv4_workspace *workspace);

/* Launches on CUDA, with a block that is kept. */
int launch_block(kernel *self, call *call);
void drop_block(kernel *self, int32_t device);

/* Checks what the arrays of a call hold (contents.c). Returns 0, or -1 with an
 * exception. */
int run_checks(const kernel *self, const array_view *views);

#endif /* DSV4_PYTHON_KERNEL_H */
