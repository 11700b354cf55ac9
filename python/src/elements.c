/* elements.c - The types of elements by name
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "extension.h"

#include <string.h>

/* Element types by the names of the compiler, and of bits without a meaning. */
static const struct {
  dsv4_type type;
  const char *name;
} elements[] = {
    {{DSV4_TYPE_FLOAT, 32, 1}, "f32"},
    {{DSV4_TYPE_BFLOAT, 16, 1}, "bf16"},
    {{DSV4_TYPE_FLOAT, 16, 1}, "f16"},
    {{DSV4_TYPE_INT, 32, 1}, "i32"},
    {{DSV4_TYPE_INT, 64, 1}, "i64"},
    {{DSV4_TYPE_INT, 16, 1}, "i16"},
    {{DSV4_TYPE_UINT, 8, 1}, "u8"},
    {{DSV4_TYPE_UINT, 16, 1}, "u16"},
    {{DSV4_TYPE_UINT, 32, 1}, "u32"},
    {{DSV4_TYPE_INT, 8, 1}, "i8"},
    {{DSV4_TYPE_BOOL, 8, 1}, "i1"},
    {{DSV4_TYPE_FLOAT, 64, 1}, "f64"},
    {{DSV4_TYPE_FLOAT8_E4M3FN, 8, 1}, "f8E4M3FN"},
    {{DSV4_TYPE_FLOAT8_E5M2, 8, 1}, "f8E5M2"},
    {{DSV4_TYPE_FLOAT8_E8M0FNU, 8, 1}, "f8E8M0FNU"},
    {{DSV4_TYPE_FLOAT4_E2M1FN, 4, 2}, "f4E2M1FN"},
};

int read_element(const char *name, dsv4_type *type) {
  for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); ++i)
    if (strcmp(elements[i].name, name) == 0) {
      *type = elements[i].type;
      return 0;
    }
  PyErr_Format(PyExc_ValueError, "'%s' is no element", name);
  return -1;
}

PyObject *name_element(dsv4_type type) {
  for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); ++i)
    if (is_same_type(elements[i].type, type))
      return PyUnicode_InternFromString(elements[i].name);
  return name_other_element(type);
}
