/* plan.c - How a call of known types and shapes is launched
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "kernel.h"
#include "signature.h"

/* Each argument of the kernel is an array of the call, or a new one. */
typedef struct plan {
  PyObject_HEAD PyObject *kernel;
  PyObject *makers; /* Functions that make the new arrays. */
  PyObject *after;  /* What is called after a launch, or None. */
  PyObject *types;  /* Of the arrays of the call: keys have their addresses. */
  int32_t like;     /* The array of the call that `after` gets. */
  int32_t arguments, results;
  int16_t sources[MAX_ARGUMENTS];  /* An array of the call, or ~maker. */
  int16_t returned[MAX_ARGUMENTS]; /* The arguments that a call returns. */
} plan;

static PyTypeObject *plan_type;

/* Reads a tuple of at most MAX_ARGUMENTS numbers from `least` to `most`. */
static int read_numbers(PyObject *tuple, Py_ssize_t least, Py_ssize_t most,
                        int16_t *numbers, int32_t *count) {
  const Py_ssize_t size = PyTuple_Size(tuple);
  if (size > MAX_ARGUMENTS)
    PyErr_SetString(PyExc_ValueError, "a plan of too many arguments");
  for (Py_ssize_t i = 0; i < size && !PyErr_Occurred(); ++i) {
    const Py_ssize_t number =
        PyNumber_AsSsize_t(PyTuple_GetItem(tuple, i), PyExc_OverflowError);
    if (!PyErr_Occurred() && (number < least || number > most))
      PyErr_SetString(PyExc_ValueError, "a number of a plan is out of range");
    numbers[i] = (int16_t)number;
  }
  *count = (int32_t)size;
  return PyErr_Occurred() ? -1 : 0;
}

static void plan_dealloc(PyObject *object) {
  plan *self = (plan *)object;
  Py_XDECREF(self->kernel);
  Py_XDECREF(self->makers);
  Py_XDECREF(self->after);
  Py_XDECREF(self->types);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *named) {
  static char *names[] = {"kernel",  "sources", "makers", "like",
                          "results", "after",   "types",  NULL};
  PyObject *kernel, *sources, *makers, *results, *after, *types;
  int like;
  if (!PyArg_ParseTupleAndKeywords(args, named, "OO!O!iO!OO!:Plan", names,
                                   &kernel, &PyTuple_Type, &sources,
                                   &PyTuple_Type, &makers, &like, &PyTuple_Type,
                                   &results, &after, &PyTuple_Type, &types))
    return NULL;
  const Py_ssize_t arrays = PyTuple_Size(types);
  if (!is_kernel(kernel) || arrays > MAX_ARGUMENTS || like < 0 ||
      like >= arrays) {
    PyErr_SetString(PyExc_ValueError, "a plan of no kernel, or of no arrays");
    return NULL;
  }
  plan *self = PyObject_New(plan, type);
  if (!self)
    return NULL;
  self->kernel = Py_NewRef(kernel);
  self->makers = Py_NewRef(makers);
  self->after = Py_NewRef(after);
  self->types = Py_NewRef(types);
  self->like = like;
  if (read_numbers(sources, -PyTuple_Size(makers), arrays - 1, self->sources,
                   &self->arguments) < 0 ||
      read_numbers(results, 0, self->arguments - 1, self->returned,
                   &self->results) < 0) {
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

/* What a call returns of the arguments: nothing, one, or a tuple. */
static PyObject *get_results(const plan *self, PyObject *const *arguments) {
  if (self->results == 0)
    Py_RETURN_NONE;
  if (self->results == 1)
    return Py_NewRef(arguments[self->returned[0]]);
  PyObject *tuple = PyTuple_New(self->results);
  for (int32_t i = 0; tuple && i < self->results; ++i)
    if (PyTuple_SetItem(tuple, i, Py_NewRef(arguments[self->returned[i]])) < 0)
      Py_CLEAR(tuple);
  return tuple;
}

static PyObject *launch_plan(const plan *self, const signature *call) {
  PyObject *arguments[MAX_ARGUMENTS], *results = NULL;
  int32_t count = 0;
  for (; count < self->arguments; ++count) {
    const int source = self->sources[count];
    arguments[count] =
        source >= 0
            ? Py_NewRef(call->arrays[source])
            : PyObject_CallNoArgs(PyTuple_GetItem(self->makers, ~source));
    if (!arguments[count])
      break;
  }
  if (count == self->arguments &&
      launch_kernel(self->kernel, arguments, count, call->stream,
                    call->workspace) == 0) {
    PyObject *done = self->after == Py_None
                         ? Py_NewRef(Py_None)
                         : PyObject_CallFunctionObjArgs(
                               self->after, call->arrays[self->like],
                               call->stream ? call->stream : Py_None, NULL);
    if (done)
      results = get_results(self, arguments);
    Py_XDECREF(done);
  }
  while (count > 0)
    Py_DECREF(arguments[--count]);
  return results;
}

/*===-- Functions --------------------------------------------------------===*/

/* Whether a call without a key has to end: the function itself says better
 * what is wrong with its arguments. */
static int is_fatal(void) {
  return PyErr_Occurred() && (PyErr_ExceptionMatches(PyExc_MemoryError) ||
                              !PyErr_ExceptionMatches(PyExc_Exception));
}

static PyObject *no_plan(void) {
  if (is_fatal())
    return NULL;
  PyErr_Clear();
  return Py_NewRef(Py_NotImplemented);
}

static int check_call(PyObject *const *objects, Py_ssize_t count,
                      Py_ssize_t expected) {
  if (count == expected && PyTuple_Check(objects[count - 2]) &&
      PyDict_Check(objects[count - 1]))
    return 0;
  PyErr_SetString(PyExc_TypeError, "expected the arguments of a function");
  return -1;
}

PyObject *launch_planned(PyObject *module, PyObject *const *objects,
                         Py_ssize_t count) {
  (void)module;
  if (check_call(objects, count, 3) < 0)
    return NULL;
  signature call;
  PyObject *key = NULL, *found = NULL, *result;
  if (read_signature(&call, objects[1], objects[2]) == 0)
    key = make_key(&call);
  if (key)
    found = PyDict_GetItemWithError(objects[0], key);
  /* Another thread may forget the plan meanwhile. */
  Py_XINCREF(found);
  if (found && Py_TYPE(found) == plan_type)
    result = launch_plan((const plan *)found, &call);
  else
    result = no_plan();
  Py_XDECREF(found);
  Py_XDECREF(key);
  close_signature(&call);
  return result;
}

PyObject *describe_call(PyObject *module, PyObject *const *objects,
                        Py_ssize_t count) {
  (void)module;
  if (check_call(objects, count, 2) < 0)
    return NULL;
  signature call;
  PyObject *key = NULL, *arrays = NULL, *result = NULL;
  if (read_signature(&call, objects[0], objects[1]) == 0)
    key = make_key(&call);
  /* The key of a dict has a hash. */
  if (key && PyObject_Hash(key) != -1)
    arrays = PyList_New(call.array_count);
  for (int32_t i = 0; arrays && i < call.array_count; ++i)
    if (PyList_SetItem(arrays, i, Py_NewRef(call.arrays[i])) < 0)
      Py_CLEAR(arrays);
  if (arrays)
    result = PyTuple_Pack(2, key, arrays);
  else
    result = no_plan();
  Py_XDECREF(arrays);
  Py_XDECREF(key);
  close_signature(&call);
  return result;
}

/*===-- The type ---------------------------------------------------------===*/

static PyType_Slot slots[] = {
    {Py_tp_doc, "How a call of known types and shapes is launched."},
    {Py_tp_new, plan_new},
    {Py_tp_dealloc, plan_dealloc},
    {0, NULL}};

static PyType_Spec specification = {"dsv4.Plan", sizeof(plan), 0,
                                    Py_TPFLAGS_DEFAULT, slots};

int add_plan_type(PyObject *module) {
  plan_type = (PyTypeObject *)PyType_FromSpec(&specification);
  return plan_type
             ? PyModule_AddObjectRef(module, "Plan", (PyObject *)plan_type)
             : -1;
}
