/* signature.c - What the arguments of a function are, as a key
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two calls of a function have one key if they launch the same kernel with
 * arguments of the same shapes: then the second need not make a program again.
 * Text, numbers and what arrays are make one string of bytes. Other objects,
 * such as records, are compared by themselves.
 */

#include "signature.h"

#include <stddef.h>
#include <string.h>

/* Of an array. What a program depends on is in here: not the address itself,
 * but its alignment, and whether the array is one of those before it. Its
 * extents follow, and its strides if it is not contiguous. */
typedef struct array_key {
  PyTypeObject *type;
  dsv4_type element;
  int32_t device_type, device_id, ndim;
  uint32_t flags;
  int32_t same_as; /* The index of the array that it is, or its own. */
  uint8_t alignment, contiguous, padding[6];
} array_key;

_Static_assert(offsetof(array_key, padding) +
                       sizeof(((array_key *)0)->padding) ==
                   sizeof(array_key),
               "no bytes of a key are left unset");

/* Adds bytes, or returns -1 without an exception: the key has no room. */
static int add_bytes(signature *to, const void *bytes, size_t count) {
  if (count > MAX_KEY_BYTES - to->bytes)
    return -1;
  memcpy(to->key + to->bytes, bytes, count);
  to->bytes += count;
  return 0;
}

static int add_tagged(signature *to, char tag, const void *bytes,
                      size_t count) {
  return add_bytes(to, &tag, 1) < 0 ? -1 : add_bytes(to, bytes, count);
}

static int add_text(signature *to, char tag, PyObject *text) {
  Py_ssize_t size;
  const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
  return !bytes || add_tagged(to, tag, &size, sizeof(size)) < 0
             ? -1
             : add_bytes(to, bytes, (size_t)size);
}

/* Whether two views have the same elements of the same memory, in the same
 * order: to read one and write the other is to work in place. */
static int is_same_view(const array_view *a, const array_view *b) {
  const dsv4_dltensor *left = &a->tensor, *right = &b->tensor;
  const size_t bytes = (size_t)left->ndim * sizeof(int64_t);
  return a == b ||
         (get_data(a) == get_data(b) && left->ndim == right->ndim &&
          left->device_type == right->device_type &&
          left->device_id == right->device_id &&
          is_same_type(left->type, right->type) &&
          memcmp(left->shape, right->shape, bytes) == 0 &&
          (is_contiguous(left)
               ? is_contiguous(right)
               : !is_contiguous(right) &&
                     memcmp(left->strides, right->strides, bytes) == 0));
}

static int add_array(signature *to, PyObject *array) {
  if (to->array_count == MAX_ARGUMENTS)
    return -1;
  array_view *view = &to->views[to->array_count];
  view->name = NULL;
  view->index = -1;
  stream_choice stream = {NULL, 0};
  if (open_view(array, view, &stream) < 0)
    return -1;
  to->arrays[to->array_count++] = Py_NewRef(array);
  const dsv4_dltensor *tensor = &view->tensor;
  const uintptr_t address = (uintptr_t)get_data(view);
  array_key key = {.type = Py_TYPE(array),
                   .element = tensor->type,
                   .device_type = tensor->device_type,
                   .device_id = tensor->device_id,
                   .ndim = tensor->ndim,
                   .flags = view->flags,
                   .alignment = (uint8_t)((address & -address) & 15),
                   .contiguous = (uint8_t)is_contiguous(tensor)};
  while (!is_same_view(&to->views[key.same_as], view))
    ++key.same_as;
  const size_t bytes = (size_t)tensor->ndim * sizeof(int64_t);
  int result = add_tagged(to, 'A', &key, sizeof(key));
  if (result == 0 && bytes)
    result = add_bytes(to, tensor->shape, bytes);
  if (result == 0 && !key.contiguous)
    result = add_bytes(to, tensor->strides, bytes);
  return result;
}

/* An object that has to be compared by itself. Its type counts, too: 3.0 of
 * NumPy is equal to 3, and is no k. The object keeps the type alive. */
static int add_other(signature *to, PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (!to->others)
    to->others = PyList_New(0);
  return !to->others || PyList_Append(to->others, object) < 0
             ? -1
             : add_tagged(to, 'O', &type, sizeof(type));
}

static int add_value(signature *to, PyObject *value, int depth);

static int add_sequence(signature *to, PyObject *values, int depth) {
  const Py_ssize_t count = PySequence_Size(values);
  if (count < 0 || add_tagged(to, 'T', &count, sizeof(count)) < 0)
    return -1;
  int result = 0;
  for (Py_ssize_t i = 0; result == 0 && i < count; ++i) {
    PyObject *value = PySequence_GetItem(values, i);
    result = value ? add_value(to, value, depth + 1) : -1;
    Py_XDECREF(value);
  }
  return result;
}

static int add_integer(signature *to, PyObject *value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow ? add_other(to, value)
                  : add_tagged(to, PyBool_Check(value) ? 'B' : 'I', &number,
                               sizeof(number));
}

static int add_value(signature *to, PyObject *value, int depth) {
  if (value == Py_None)
    return add_bytes(to, "N", 1);
  if (PyUnicode_Check(value))
    return add_text(to, 'S', value);
  if (PyLong_Check(value))
    return add_integer(to, value);
  if (PyFloat_Check(value)) {
    const double number = PyFloat_AsDouble(value);
    return add_tagged(to, 'F', &number, sizeof(number));
  }
  /* Recipes are tuples, too, and are compared as they are. */
  if ((PyTuple_CheckExact(value) || PyList_CheckExact(value)) && depth < 2)
    return add_sequence(to, value, depth);
  if (is_array(value))
    return add_array(to, value);
  return PyErr_Occurred() ? -1 : add_other(to, value);
}

int read_signature(signature *to, PyObject *args, PyObject *named) {
  to->bytes = 0;
  to->array_count = 0;
  to->others = to->stream = to->workspace = NULL;
  if (add_sequence(to, args, 0) < 0)
    return -1;
  PyObject *name, *value;
  Py_ssize_t position = 0;
  while (named && PyDict_Next(named, &position, &name, &value)) {
    int result = 0;
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
      to->stream = value;
    } else if (PyUnicode_CompareWithASCIIString(name, "workspace") == 0) {
      to->workspace = value;
      result = add_bytes(to, "W", 1); /* Not every function takes it. */
    } else {
      result = add_text(to, 'K', name);
      if (result == 0)
        result = add_value(to, value, 0);
    }
    if (result < 0)
      return -1;
  }
  return 0;
}

void close_signature(signature *signature) {
  for (int32_t i = 0; i < signature->array_count; ++i) {
    close_view(&signature->views[i]);
    Py_DECREF(signature->arrays[i]);
  }
  Py_XDECREF(signature->others);
}

PyObject *make_key(const signature *signature) {
  PyObject *key =
      PyBytes_FromStringAndSize(signature->key, (Py_ssize_t)signature->bytes);
  if (!key || !signature->others)
    return key;
  PyObject *others = PyList_AsTuple(signature->others);
  PyObject *pair = others ? PyTuple_Pack(2, key, others) : NULL;
  Py_XDECREF(others);
  Py_DECREF(key);
  return pair;
}
