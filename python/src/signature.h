/* signature.h - What the arguments of a function are, as a key
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#ifndef DSV4_PYTHON_SIGNATURE_H
#define DSV4_PYTHON_SIGNATURE_H

#include "extension.h"

/* Calls with more have no key, and are not planned. */
#define MAX_KEY_BYTES 8192

typedef struct signature {
  size_t bytes;
  int32_t array_count;
  PyObject *others; /* A list of what is compared by itself, or null. */
  PyObject *stream, *workspace;    /* Options of a launch: borrowed, or null. */
  PyObject *arrays[MAX_ARGUMENTS]; /* Each has a reference. */
  array_view views[MAX_ARGUMENTS]; /* Of the arrays. */
  char key[MAX_KEY_BYTES];
} signature;

/* Reads the arguments of a function. Returns 0, or -1 with or without an
 * exception if they have no key: the function has to see them itself. In both
 * cases, close the signature. */
int read_signature(signature *signature, PyObject *args, PyObject *named);
void close_signature(signature *signature);

/* The key of dicts. */
PyObject *make_key(const signature *signature);

#endif /* DSV4_PYTHON_SIGNATURE_H */
