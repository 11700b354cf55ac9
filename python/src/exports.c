/* exports.c - What libraries do not export, and how errors say so
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "extension.h"

void refuse_view(const array_view *view, dsv4_status status, const char *id,
                 PyObject *text) {
  if (text && view->name)
    raise_argument(status, id, view->name, view->index, "argument '%s': %U",
                   view->name, text);
  else if (text)
    raise_argument(status, id, NULL, -1, "%U", text);
  Py_XDECREF(text);
}

PyObject *take_foreign_error(void) {
  if (!PyErr_ExceptionMatches(PyExc_Exception) ||
      PyErr_ExceptionMatches(PyExc_MemoryError) || is_own_error())
    return NULL;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value && trace)
    PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
}

void raise_from(PyObject *cause) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value)
    PyException_SetCause(value, cause);
  else
    Py_DECREF(cause);
  PyErr_Restore(type, value, trace);
}

/* The first line of what an exception says. */
static PyObject *get_reason(PyObject *exception) {
  PyObject *text = PyObject_Str(exception);
  PyObject *lines = text ? PyUnicode_Splitlines(text, 0) : NULL;
  PyErr_Clear();
  PyObject *line = lines && PyList_Size(lines) > 0
                       ? PyUnicode_Substring(PyList_GetItem(lines, 0), 0, 120)
                       : PyUnicode_FromString("no reason given");
  Py_XDECREF(lines);
  Py_XDECREF(text);
  return line;
}

void refuse_failed(const array_view *view) {
  PyObject *cause = take_foreign_error();
  PyObject *reason = cause ? get_reason(cause) : NULL;
  if (!reason) {
    Py_XDECREF(cause);
    return;
  }
  refuse_view(view, DSV4_ERROR_TYPE_MISMATCH, "argument.export",
              PyUnicode_FromFormat("cannot be exported: %U", reason));
  Py_DECREF(reason);
  raise_from(cause);
}

int may_be_lazy(const dsv4_dltensor *tensor) {
  if (tensor->type.code != DSV4_TYPE_FLOAT)
    return tensor->type.code == DLPACK_COMPLEX;
  int64_t contiguous = 1;
  for (int axis = tensor->ndim - 1; axis >= 0; --axis) {
    const int64_t stride = tensor->strides ? tensor->strides[axis] : contiguous;
    if (tensor->shape[axis] > 1 && stride % 2)
      return 0;
    if (__builtin_mul_overflow(contiguous, tensor->shape[axis], &contiguous))
      return 0;
  }
  return 1;
}

int refuse_lazy(PyObject *object, const array_view *view) {
  static const char *const bits[][2] = {{"is_neg", "resolve_neg"},
                                        {"is_conj", "resolve_conj"}};
  for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); ++i) {
    PyObject *flag = PyObject_CallMethod(object, bits[i][0], NULL);
    const int is_set = flag ? PyObject_IsTrue(flag) : -1;
    Py_XDECREF(flag);
    if (is_set > 0)
      refuse_view(view, DSV4_ERROR_TYPE_MISMATCH, "argument.export",
                  PyUnicode_FromFormat("cannot be exported: %s() is true, and "
                                       "its memory has other numbers: pass "
                                       "%s() of it",
                                       bits[i][0], bits[i][1]));
    if (is_set)
      return -1;
  }
  return 0;
}

PyObject *name_other_element(dsv4_type type) {
  static const char *const numbers[] = {"i",  "u",       "f",   "handle",
                                        "bf", "complex", "bool"};
  static const char *const floats[] = {
      "f8E3M4",     "f8E4M3",   "f8E4M3B11FNUZ", "f8E4M3FN",
      "f8E4M3FNUZ", "f8E5M2",   "f8E5M2FNUZ",    "f8E8M0FNU",
      "f6E2M3FN",   "f6E3M2FN", "f4E2M1FN"};
  enum { FIRST_FLOAT = sizeof(numbers) / sizeof(*numbers) };
  const size_t code = type.code;
  PyObject *name =
      code >= FIRST_FLOAT &&
              code - FIRST_FLOAT < sizeof(floats) / sizeof(*floats)
          ? PyUnicode_FromString(floats[code - FIRST_FLOAT])
      : code < FIRST_FLOAT
          ? PyUnicode_FromFormat("%s%d", numbers[code], (int)type.bits)
          : PyUnicode_FromFormat("unknown type %d of %d bits", (int)type.code,
                                 (int)type.bits);
  if (!name || type.lanes == 1)
    return name;
  PyObject *vector = PyUnicode_FromFormat("%Ux%d", name, (int)type.lanes);
  Py_DECREF(name);
  return vector;
}
