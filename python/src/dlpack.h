/* dlpack.h - The parts of DLPack that the extension reads
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Declared from the published layouts of DLPack 1.x, whose major number stands
 * for them. The DLTensor itself is dsv4_dltensor of dsv4.h.
 */

#ifndef DSV4_PYTHON_DLPACK_H
#define DSV4_PYTHON_DLPACK_H

#include "dsv4.h"

#define DLPACK_MAJOR 1
#define DLPACK_MINOR 3
#define DLPACK_READ_ONLY ((uint64_t)1)

/* A code of types that programs do not have. */
#define DLPACK_COMPLEX 5

typedef struct dlpack_version {
  uint32_t major, minor;
} dlpack_version;

/* Of a capsule of name "dltensor_versioned". */
typedef struct dlpack_versioned {
  dlpack_version version;
  void *manager;
  void (*deleter)(struct dlpack_versioned *);
  uint64_t flags;
  dsv4_dltensor tensor;
} dlpack_versioned;

/* Of a capsule of name "dltensor": the tensor comes first. */
typedef struct dlpack_legacy {
  dsv4_dltensor tensor;
  void *manager;
  void (*deleter)(struct dlpack_legacy *);
} dlpack_legacy;

typedef struct dlpack_exchange_header {
  dlpack_version version;
  struct dlpack_exchange_header *previous;
} dlpack_exchange_header;

/* Of a capsule of name "dlpack_exchange_api", an attribute of a type. The
 * functions return 0, or -1 with a Python exception. */
typedef struct dlpack_exchange {
  dlpack_exchange_header header;
  int (*allocate)(dsv4_dltensor *prototype, dlpack_versioned **out,
                  void *context,
                  void (*set_error)(void *context, const char *kind,
                                    const char *message));
  int (*to_managed)(void *object, dlpack_versioned **out);
  int (*from_managed)(dlpack_versioned *tensor, void **out);
  /* May be null. What it writes lives as long as the object. */
  int (*to_tensor)(void *object, dsv4_dltensor *out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
} dlpack_exchange;

_Static_assert(sizeof(dsv4_dltensor) == 48, "the layout of DLPack's DLTensor");
_Static_assert(sizeof(dlpack_versioned) == 80, "the layout of DLPack 1");

#endif /* DSV4_PYTHON_DLPACK_H */
