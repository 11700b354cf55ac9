/* contents.c - What arrays hold, checked before a launch on the host target
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * On a GPU nobody looks at the contents of arrays: what breaks a promise of the
 * caller has results of some kind. The host target is for tests, and says so.
 */

#include "kernel.h"

#include <stdlib.h>

PyObject *check_contents(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *object;
  content_check check;
  int kind;
  if (!PyArg_ParseTuple(args, "OiiiiiL:check_contents", &object, &kind,
                        &check.argument, &check.rows, &check.table, &check.pool,
                        &check.bound))
    return NULL;
  check.kind = (content_kind)kind;
  kernel *self = (kernel *)object;
  if (!is_kernel(object) || self->check_count == MAX_CHECKS) {
    PyErr_SetString(PyExc_ValueError, "no kernel, or too many checks");
    return NULL;
  }
  self->checks[self->check_count++] = check;
  Py_RETURN_NONE;
}

/* The number of an array of i32 or i64 with these indices. */
static int64_t read_integer(const array_view *view, int64_t row,
                            int64_t column) {
  const dsv4_dltensor *tensor = &view->tensor;
  const int64_t inner = tensor->ndim > 1 ? tensor->shape[1] : 1;
  const int64_t step = tensor->strides ? tensor->strides[0] : inner;
  const char *at =
      get_data(view) + (row * step + column) * (tensor->type.bits / 8);
  return tensor->type.bits == 64 ? *(const int64_t *)at : *(const int32_t *)at;
}

/* Whether contents can be read: the library refuses other arrays itself. */
static int is_readable(const array_view *view, int rank) {
  const dsv4_dltensor *tensor = &view->tensor;
  return tensor->ndim == rank && tensor->type.code == DSV4_TYPE_INT &&
         tensor->type.lanes == 1 && !is_on_device(tensor->device_type) &&
         (tensor->type.bits == 32 || tensor->type.bits == 64) &&
         (rank < 2 || !tensor->strides || tensor->shape[1] < 2 ||
          tensor->strides[1] == 1);
}

typedef struct placed_token {
  int64_t slot, token;
} placed_token;

static int compare_slots(const void *left, const void *right) {
  const placed_token *a = left, *b = right;
  return a->slot != b->slot ? (a->slot > b->slot) - (a->slot < b->slot)
                            : (a->token > b->token) - (a->token < b->token);
}

/* The slot that a token is written to, or -1. */
static int64_t find_slot(const content_check *check, const array_view *views,
                         int64_t token) {
  int64_t slot = read_integer(&views[check->argument], token, 0);
  if (slot >= 0 && check->table >= 0) {
    const array_view *table = &views[check->table];
    const int64_t row =
        check->rows < 0 ? token : read_integer(&views[check->rows], token, 0);
    const int64_t page = slot / check->bound;
    if (row < 0 || row >= table->tensor.shape[0] ||
        page >= table->tensor.shape[1])
      return -1;
    const int64_t found = read_integer(table, row, page);
    slot = found < 0 ? -1 : found * check->bound + slot % check->bound;
  }
  return slot / check->bound < views[check->pool].tensor.shape[0] ? slot : -1;
}

static int check_unique(const kernel *self, const content_check *check,
                        const array_view *views) {
  const int64_t count = views[check->argument].tensor.shape[0];
  placed_token *tokens = PyMem_Calloc((size_t)count + 1, sizeof(*tokens));
  if (!tokens) {
    PyErr_NoMemory();
    return -1;
  }
  size_t written = 0;
  for (int64_t token = 0; token < count; ++token) {
    tokens[written] = (placed_token){find_slot(check, views, token), token};
    written += tokens[written].slot >= 0;
  }
  qsort(tokens, written, sizeof(*tokens), compare_slots);
  int result = 0;
  for (size_t i = 1; i < written && result == 0; ++i) {
    if (tokens[i].slot != tokens[i - 1].slot)
      continue;
    raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "argument.unique",
                   self->parameters[check->argument].name, check->argument,
                   "argument '%s': tokens %lld and %lld have one slot, %lld, "
                   "and no two may have one with unique=True",
                   self->parameters[check->argument].name,
                   (long long)tokens[i - 1].token, (long long)tokens[i].token,
                   (long long)tokens[i].slot);
    result = -1;
  }
  PyMem_Free(tokens);
  return result;
}

/* Checks the rows of a table that are looked up. */
static int check_below(const kernel *self, const content_check *check,
                       const array_view *views) {
  const array_view *table = &views[check->argument];
  const array_view *words = &views[check->rows];
  for (int64_t token = 0; token < words->tensor.shape[0]; ++token) {
    const int64_t word = read_integer(words, token, 0);
    if (word < 0 || word >= table->tensor.shape[0])
      continue;
    for (int64_t column = 0; column < table->tensor.shape[1]; ++column) {
      const int64_t number = read_integer(table, word, column);
      if (number < check->bound)
        continue;
      raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "argument.experts",
                     self->parameters[check->argument].name, check->argument,
                     "argument '%s': element [%lld, %lld] is %lld, expected an "
                     "expert below %lld, or a negative number",
                     self->parameters[check->argument].name, (long long)word,
                     (long long)column, (long long)number,
                     (long long)check->bound);
      return -1;
    }
  }
  return 0;
}

/* Whether the arrays have the shapes that the checks rely on: the library
 * refuses others after this. */
static int fits(const content_check *check, const array_view *views) {
  const int rank = check->kind == CONTENTS_UNIQUE ? 1 : 2;
  const array_view *argument = &views[check->argument];
  if (!is_readable(argument, rank) ||
      (check->rows >= 0 && !is_readable(&views[check->rows], 1)) ||
      (check->table >= 0 && !is_readable(&views[check->table], 2)))
    return 0;
  if (check->kind != CONTENTS_UNIQUE)
    return check->rows >= 0;
  return views[check->pool].tensor.ndim > 0 &&
         (check->rows < 0 ||
          views[check->rows].tensor.shape[0] == argument->tensor.shape[0]);
}

int run_checks(const kernel *self, const array_view *views) {
  for (int i = 0; i < self->check_count; ++i) {
    const content_check *check = &self->checks[i];
    if (!fits(check, views))
      continue;
    if ((check->kind == CONTENTS_UNIQUE ? check_unique
                                        : check_below)(self, check, views) < 0)
      return -1;
  }
  return 0;
}
