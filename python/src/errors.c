/* errors.c - Exceptions, one per class of the C interface
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "extension.h"

#include <stdarg.h>
#include <string.h>

#define CLASS_COUNT (DSV4_ERROR_NOT_PREPARED + 1)

/* classes[0] is the base of all. */
static PyObject *classes[CLASS_COUNT];

struct error_class {
  const char *name, *doc;
  PyObject **base; /* What else it is. */
};

static const struct error_class descriptions[CLASS_COUNT] = {
    {"dsv4.Error",
     "An error of dsv4.\n\n"
     "id: the same in every version, such as 'argument.extent'.\n"
     "argument: the name of the argument that is wrong, or None.\n"
     "index: its index, or -1.\n"
     "driver_result: the CUresult behind it, or 0.",
     &PyExc_Exception},
    {"dsv4.InvalidArgument",
     "A shape, stride, alignment, count, name or option is wrong.",
     &PyExc_ValueError},
    {"dsv4.TypeMismatch",
     "The element type, kind of memory or device of an argument is wrong.",
     &PyExc_TypeError},
    {"dsv4.Unavailable",
     "The machine lacks something: a driver, a device, a compiler, memory.",
     &PyExc_RuntimeError},
    {"dsv4.CompileFailed", "The compiler refused the program, or failed.",
     &PyExc_RuntimeError},
    {"dsv4.LoadFailed",
     "The driver or the loader refused the code of a kernel.",
     &PyExc_RuntimeError},
    {"dsv4.LaunchFailed",
     "The driver or the device reported an error of a launch.",
     &PyExc_RuntimeError},
    {"dsv4.CorruptEntry",
     "Bytes are no entry of this version, or are damaged: compile anew.",
     &PyExc_RuntimeError},
    {"dsv4.NotPrepared",
     "The call would have to compile, load or allocate while its stream\n"
     "captures a graph, or after freeze(): prepare before.",
     &PyExc_RuntimeError}};

int add_errors(PyObject *module) {
  for (int i = 0; i < CLASS_COUNT; ++i) {
    const struct error_class *each = &descriptions[i];
    PyObject *bases = i == 0 ? Py_BuildValue("(O)", *each->base)
                             : Py_BuildValue("(OO)", classes[0], *each->base);
    if (!bases)
      return -1;
    classes[i] = PyErr_NewExceptionWithDoc(each->name, each->doc, bases, NULL);
    Py_DECREF(bases);
    if (!classes[i] ||
        PyModule_AddObjectRef(module, each->name + sizeof("dsv4.") - 1,
                              classes[i]) < 0)
      return -1;
  }
  return 0;
}

/* Sets an attribute to a value, which is taken. */
static int set_attribute(PyObject *object, const char *name, PyObject *value) {
  if (!value)
    return -1;
  const int result = PyObject_SetAttrString(object, name, value);
  Py_DECREF(value);
  return result;
}

static PyObject *text_or_none(const char *text) {
  if (!text)
    Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* Makes the exception and sets it. If that fails, the exception is another. */
static void set_exception(dsv4_status status, PyObject *message, const char *id,
                          const char *argument, int index, int driver_result) {
  if (!message)
    return;
  const int known = status > 0 && status < CLASS_COUNT;
  PyObject *class = classes[known ? status : 0];
  PyObject *value = PyObject_CallFunctionObjArgs(class, message, NULL);
  Py_DECREF(message);
  if (!value)
    return;
  if (set_attribute(value, "id", text_or_none(id)) == 0 &&
      set_attribute(value, "argument", text_or_none(argument)) == 0 &&
      set_attribute(value, "index", PyLong_FromLong(index)) == 0 &&
      set_attribute(value, "driver_result", PyLong_FromLong(driver_result)) ==
          0)
    PyErr_SetObject(class, value);
  Py_DECREF(value);
}

int is_own_error(void) { return PyErr_ExceptionMatches(classes[0]); }

void raise_error(dsv4_status status, dsv4_error *error) {
  if (!error) {
    const char *name = dsv4_status_name(status);
    set_exception(status, text_or_none(name ? name : "unknown error"),
                  "unknown", NULL, -1, 0);
    return;
  }
  /* A workspace is no argument of a program, but one of a function. */
  const char *argument = error->argument;
  if (!argument && error->id && strcmp(error->id, "workspace") == 0)
    argument = "workspace";
  set_exception(status, text_or_none(error->message), error->id, argument,
                error->argument_index, error->driver_result);
  dsv4_error_destroy(error);
}

void raise_argument(dsv4_status status, const char *id, const char *argument,
                    int index, const char *format, ...) {
  va_list values;
  va_start(values, format);
  PyObject *message = PyUnicode_FromFormatV(format, values);
  va_end(values);
  set_exception(status, message, id, argument, index, 0);
}
