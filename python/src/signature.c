/* signature.c - What the arguments of a function are, as a key
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two calls of a function have one key if they launch the same kernel with
 * arguments of the same shapes: then the second need not make a program again.
 */

#include "extension.h"

#include <string.h>

/* Of an array. What a program depends on is in here: not the address itself,
 * but its alignment, and whether the array is one of those before it. */
typedef struct array_key {
  PyTypeObject *type;
  dsv4_type element;
  int32_t device_type, device_id, ndim;
  uint32_t alignment, flags;
  int32_t same_as; /* The index of the array that it is, or its own. */
  int64_t shape[DSV4_MAX_RANK], strides[DSV4_MAX_RANK];
} array_key;

static PyObject *make_array_key(PyObject *array, PyObject *arrays) {
  array_view view;
  view.name = NULL;
  view.index = -1;
  stream_choice stream = {NULL, 0};
  if (open_view(array, &view, &stream) < 0)
    return NULL;
  array_key key;
  memset(&key, 0, sizeof(key));
  const dsv4_dltensor *tensor = &view.tensor;
  key.type = Py_TYPE(array);
  key.element = tensor->type;
  key.device_type = tensor->device_type;
  key.device_id = tensor->device_id;
  key.ndim = tensor->ndim;
  key.flags = view.flags;
  const uintptr_t address = (uintptr_t)get_data(&view);
  key.alignment = (uint32_t)(address & -address) & 15;
  const size_t bytes = (size_t)tensor->ndim * sizeof(int64_t);
  if (bytes)
    memcpy(key.shape, tensor->shape, bytes);
  /* All zeros: contiguous. */
  if (!is_contiguous(tensor))
    memcpy(key.strides, tensor->strides, bytes);
  close_view(&view);
  const Py_ssize_t count = PyList_Size(arrays);
  while (key.same_as < count && PyList_GetItem(arrays, key.same_as) != array)
    ++key.same_as;
  return PyBytes_FromStringAndSize((const char *)&key, sizeof(key));
}

static int add_value(PyObject *value, PyObject *parts, PyObject *arrays,
                     int depth);

static int add_sequence(PyObject *values, PyObject *parts, PyObject *arrays,
                        int depth) {
  const Py_ssize_t count = PySequence_Size(values);
  PyObject *number = count < 0 ? NULL : PyLong_FromSsize_t(count);
  if (!number)
    return -1;
  int result = PyList_Append(parts, number);
  Py_DECREF(number);
  for (Py_ssize_t i = 0; result == 0 && i < count; ++i) {
    PyObject *value = PySequence_GetItem(values, i);
    result = value ? add_value(value, parts, arrays, depth + 1) : -1;
    Py_XDECREF(value);
  }
  return result;
}

/* Adds an argument to the key, and to `arrays` if it is an array. */
static int add_value(PyObject *value, PyObject *parts, PyObject *arrays,
                     int depth) {
  if (value == Py_None || PyLong_Check(value) || PyUnicode_Check(value) ||
      PyFloat_Check(value))
    return PyList_Append(parts, value);
  /* Records and recipes are tuples, too, and are keys as they are. */
  if ((PyTuple_CheckExact(value) || PyList_CheckExact(value)) && depth < 2)
    return add_sequence(value, parts, arrays, depth);
  if (!is_array(value))
    return PyErr_Occurred() ? -1 : PyList_Append(parts, value);
  PyObject *key = make_array_key(value, arrays);
  if (!key)
    return -1;
  const int result =
      PyList_Append(parts, key) < 0 || PyList_Append(arrays, value) < 0 ? -1
                                                                        : 0;
  Py_DECREF(key);
  return result;
}

/* signature(function, args, kwargs) -> (key, arrays), or None if the arguments
 * are of a kind that the function has to see itself. */
PyObject *signature(PyObject *module, PyObject *const *objects,
                    Py_ssize_t count) {
  (void)module;
  if (count != 3 || !PyTuple_Check(objects[1]) || !PyDict_Check(objects[2])) {
    PyErr_SetString(PyExc_TypeError, "signature(function, args, kwargs)");
    return NULL;
  }
  PyObject *parts = PyList_New(0), *arrays = PyList_New(0), *result = NULL;
  PyObject *name, *value;
  Py_ssize_t position = 0;
  int failed = !parts || !arrays || PyList_Append(parts, objects[0]) < 0 ||
               add_sequence(objects[1], parts, arrays, 0) < 0;
  while (!failed && PyDict_Next(objects[2], &position, &name, &value))
    failed = PyList_Append(parts, name) < 0 ||
             add_value(value, parts, arrays, 0) < 0;
  PyObject *key = failed ? NULL : PyList_AsTuple(parts);
  if (key)
    result = Py_BuildValue("(OO)", key, arrays);
  Py_XDECREF(key);
  Py_XDECREF(parts);
  Py_XDECREF(arrays);
  if (result || PyErr_ExceptionMatches(PyExc_MemoryError) ||
      PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
    return result;
  /* The function says better what is wrong. */
  PyErr_Clear();
  Py_RETURN_NONE;
}
