/* plan.c - How a call of known types and shapes is launched
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "kernel.h"
#include "signature.h"

#include <string.h>

/* Each argument of the kernel is an array of the call, or a new one. */
typedef struct plan {
  PyObject_HEAD PyObject *kernel;
  PyObject *makers;  /* What makes the new arrays: see make_array(). */
  PyObject *after;   /* What is called after a launch, or None. */
  PyObject *make_on; /* What makes arrays on a stream that is given, or None. */
  PyObject *types;   /* Of the arrays of the call: keys have their addresses. */
  PyObject *key;     /* Its last key, if that is bytes alone, or null. */
  int32_t like;      /* The array of the call that `after` gets. */
  int32_t arguments, results;
  int as_tuple;                    /* One result is a tuple, too. */
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

/* See make_array(). */
static int check_makers(PyObject *makers) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(makers); ++i) {
    PyObject *maker = PyTuple_GetItem(makers, i);
    if (PyTuple_Check(maker)
            ? PyTuple_Size(maker) == 2 &&
                  PyCallable_Check(PyTuple_GetItem(maker, 0)) &&
                  PyCallable_Check(PyTuple_GetItem(maker, 1))
            : PyCallable_Check(maker))
      continue;
    PyErr_SetString(PyExc_ValueError, "a maker of a plan makes nothing");
    return -1;
  }
  return 0;
}

static void plan_dealloc(PyObject *object) {
  plan *self = (plan *)object;
  Py_XDECREF(self->kernel);
  Py_XDECREF(self->makers);
  Py_XDECREF(self->after);
  Py_XDECREF(self->make_on);
  Py_XDECREF(self->types);
  Py_XDECREF(self->key);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *named) {
  static char *names[] = {"kernel", "sources", "makers", "like",     "results",
                          "after",  "make_on", "types",  "as_tuple", NULL};
  PyObject *kernel, *sources, *makers, *results, *after, *make_on, *types;
  int like, as_tuple = 0;
  if (!PyArg_ParseTupleAndKeywords(
          args, named, "OO!O!iO!OOO!|p:Plan", names, &kernel, &PyTuple_Type,
          &sources, &PyTuple_Type, &makers, &like, &PyTuple_Type, &results,
          &after, &make_on, &PyTuple_Type, &types, &as_tuple))
    return NULL;
  const Py_ssize_t arrays = PyTuple_Size(types);
  if (!is_kernel(kernel) || arrays > MAX_ARGUMENTS || like < 0 ||
      like >= arrays) {
    PyErr_SetString(PyExc_ValueError, "a plan of no kernel, or of no arrays");
    return NULL;
  }
  if (check_makers(makers) < 0)
    return NULL;
  plan *self = PyObject_New(plan, type);
  if (!self)
    return NULL;
  self->kernel = Py_NewRef(kernel);
  self->makers = Py_NewRef(makers);
  self->after = Py_NewRef(after);
  self->make_on = Py_NewRef(make_on);
  self->types = Py_NewRef(types);
  self->key = NULL;
  self->like = like;
  self->as_tuple = as_tuple;
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
  if (self->results == 1 && !self->as_tuple)
    return Py_NewRef(arguments[self->returned[0]]);
  PyObject *tuple = PyTuple_New(self->results);
  for (int32_t i = 0; tuple && i < self->results; ++i)
    if (PyTuple_SetItem(tuple, i, Py_NewRef(arguments[self->returned[i]])) < 0)
      Py_CLEAR(tuple);
  return tuple;
}

/* A new array, and its view if one was opened, on the device of `like`. A maker
 * is a function, or a tuple (quick, sure): a function that makes arrays on the
 * current device, and a function that makes them on that of `like`. */
static PyObject *make_array(PyObject *maker, const array_view *like,
                            array_view *view) {
  if (!PyTuple_Check(maker))
    return PyObject_CallNoArgs(maker);
  PyObject *array = PyObject_CallNoArgs(PyTuple_GetItem(maker, 0));
  stream_choice stream = {NULL, 0};
  view->name = NULL;
  view->index = -1;
  if (!array || open_view(array, view, &stream) < 0) {
    Py_XDECREF(array);
    return NULL;
  }
  if (view->tensor.device_type == like->tensor.device_type &&
      view->tensor.device_id == like->tensor.device_id)
    return array;
  close_view(view);
  Py_DECREF(array);
  array = PyObject_CallNoArgs(PyTuple_GetItem(maker, 1));
  if (array && open_view(array, view, &stream) < 0)
    Py_CLEAR(array);
  return array;
}

/* Whether new arrays are made on the stream that the call has. */
static int makes_on_stream(const plan *self, const signature *call) {
  return self->make_on != Py_None && call->stream && call->stream != Py_None;
}

/* The arguments of a launch. */
typedef struct launch {
  PyObject *objects[MAX_ARGUMENTS];
  const array_view *views[MAX_ARGUMENTS];
  array_view made[MAX_ARGUMENTS]; /* Views of new arrays. */
  int32_t count;
} launch;

/* Takes those of the call, and makes the others. Returns 0, or -1 with an
 * exception. In both cases, close the launch. */
static int open_launch(const plan *self, const signature *call,
                       launch *launch) {
  for (launch->count = 0; launch->count < self->arguments; ++launch->count) {
    const int32_t i = launch->count;
    const int source = self->sources[i];
    if (source >= 0) {
      launch->objects[i] = Py_NewRef(call->arrays[source]);
      launch->views[i] = &call->views[source];
      continue;
    }
    PyObject *maker = PyTuple_GetItem(self->makers, ~source);
    if (makes_on_stream(self, call)) {
      launch->objects[i] = PyObject_CallFunctionObjArgs(
          self->make_on, maker, call->arrays[self->like], call->stream, NULL);
      launch->views[i] = NULL;
    } else {
      launch->objects[i] =
          make_array(maker, &call->views[self->like], &launch->made[i]);
      launch->views[i] = PyTuple_Check(maker) ? &launch->made[i] : NULL;
    }
    if (!launch->objects[i])
      return -1;
  }
  return 0;
}

static void close_launch(const plan *self, launch *launch) {
  while (launch->count > 0) {
    const int32_t i = --launch->count;
    if (self->sources[i] < 0 && launch->views[i])
      close_view(&launch->made[i]);
    Py_DECREF(launch->objects[i]);
  }
}

static PyObject *launch_plan(const plan *self, const signature *call) {
  PyObject *results = NULL;
  launch launch;
  if (open_launch(self, call, &launch) == 0 &&
      launch_kernel(self->kernel, launch.objects, launch.views, launch.count,
                    call->stream, call->workspace) == 0) {
    count_memory_hit();
    PyObject *done = self->after == Py_None
                         ? Py_NewRef(Py_None)
                         : PyObject_CallFunctionObjArgs(
                               self->after, call->arrays[self->like],
                               call->stream ? call->stream : Py_None, NULL);
    if (done)
      results = get_results(self, launch.objects);
    Py_XDECREF(done);
  }
  close_launch(self, &launch);
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

/* Whether the key of a plan is that of a call. */
static int is_plan_of(PyObject *object, const signature *call) {
  if (!object || Py_TYPE(object) != plan_type || call->others)
    return 0;
  PyObject *key = ((const plan *)object)->key;
  return key && PyBytes_Size(key) == (Py_ssize_t)call->bytes &&
         memcmp(PyBytes_AsString(key), call->key, call->bytes) == 0;
}

/* A reference to the plan of a call, or null with or without an exception. The
 * last one is in the dict under None, too: most calls are like the one before,
 * and need no key as an object. */
static PyObject *find_plan(PyObject *plans, const signature *call) {
  PyObject *last = PyDict_GetItemWithError(plans, Py_None);
  if (is_plan_of(last, call))
    return Py_NewRef(last);
  PyObject *key = PyErr_Occurred() ? NULL : make_key(call);
  PyObject *found = key ? PyDict_GetItemWithError(plans, key) : NULL;
  if (found && Py_TYPE(found) == plan_type) {
    Py_INCREF(found);
    plan *self = (plan *)found;
    if (!call->others) {
      Py_XDECREF(self->key);
      self->key = Py_NewRef(key);
      if (PyDict_SetItem(plans, Py_None, found) < 0)
        Py_CLEAR(found);
    }
  } else {
    found = NULL;
  }
  Py_XDECREF(key);
  return found;
}

/* Whether this thread wants what a function would launch: see rest_plans(). */
static _Thread_local int is_resting;

PyObject *rest_plans(PyObject *module, PyObject *flag) {
  (void)module;
  const int before = is_resting, rest = PyObject_IsTrue(flag);
  if (rest < 0)
    return NULL;
  is_resting = rest;
  return PyBool_FromLong(before);
}

/* The same as launch_planned(). `named` may be null. */
static PyObject *launch_found(PyObject *plans, PyObject *args,
                              PyObject *named) {
  if (is_resting)
    return Py_NewRef(Py_NotImplemented);
  signature call;
  PyObject *found = NULL;
  if (read_signature(&call, args, named) == 0)
    found = find_plan(plans, &call);
  /* Another thread may forget the plan meanwhile: this one holds it. */
  PyObject *result =
      found ? launch_plan((const plan *)found, &call) : no_plan();
  Py_XDECREF(found);
  close_signature(&call);
  return result;
}

PyObject *launch_planned(PyObject *module, PyObject *const *objects,
                         Py_ssize_t count) {
  (void)module;
  return check_call(objects, count, 3) < 0
             ? NULL
             : launch_found(objects[0], objects[1], objects[2]);
}

static PyObject *call_otherwise(PyObject *function, PyObject *args,
                                PyObject *named) {
  PyObject *keywords = named ? Py_NewRef(named) : PyDict_New();
  PyObject *result =
      keywords ? PyObject_CallFunctionObjArgs(function, args, keywords, NULL)
               : NULL;
  Py_XDECREF(keywords);
  return result;
}

/* Whether an argument is an array that says of itself what `name` asks. */
static int is_marked(PyObject *object, PyObject *name) {
  if (!is_array(object))
    return PyErr_Occurred() ? -1 : 0;
  PyObject *mark = PyObject_GetAttr(object, name);
  const int result = mark ? PyObject_IsTrue(mark) : -1;
  Py_XDECREF(mark);
  return result;
}

/* Whether gradients are recorded, and an argument asks for them. */
static int needs_gradients(PyObject *enabled, PyObject *name, PyObject *args,
                           PyObject *named) {
  PyObject *answer = PyObject_CallNoArgs(enabled);
  int result = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  if (result <= 0)
    return result;
  result = 0;
  for (Py_ssize_t i = 0; result == 0 && i < PyTuple_Size(args); ++i)
    result = is_marked(PyTuple_GetItem(args, i), name);
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (result == 0 && named && PyDict_Next(named, &position, &key, &value))
    result = is_marked(value, name);
  return result;
}

/* A function of planned(), whose `self` is (plans, otherwise), or with
 * (enabled, "requires_grad", graded) behind it. */
static PyObject *call_planned(PyObject *self, PyObject *args, PyObject *named) {
  if (PyTuple_Size(self) > 2) {
    const int needs = needs_gradients(PyTuple_GetItem(self, 2),
                                      PyTuple_GetItem(self, 3), args, named);
    if (needs)
      return needs < 0 ? NULL
                       : call_otherwise(PyTuple_GetItem(self, 4), args, named);
  }
  PyObject *result = launch_found(PyTuple_GetItem(self, 0), args, named);
  if (result != Py_NotImplemented)
    return result;
  Py_DECREF(result);
  return call_otherwise(PyTuple_GetItem(self, 1), args, named);
}

PyObject *planned(PyObject *module, PyObject *const *objects,
                  Py_ssize_t count) {
  static PyMethodDef method = {
      "planned", (PyCFunction)(void (*)(void))call_planned,
      METH_VARARGS | METH_KEYWORDS, "A function whose calls are planned."};
  (void)module;
  if ((count != 2 && count != 4) || !PyDict_Check(objects[0]) ||
      !PyCallable_Check(objects[1])) {
    PyErr_SetString(PyExc_TypeError, "expected a dict and functions");
    return NULL;
  }
  PyObject *name = PyUnicode_InternFromString("requires_grad");
  PyObject *self = count == 2 ? PyTuple_Pack(2, objects[0], objects[1])
                   : name ? PyTuple_Pack(5, objects[0], objects[1], objects[2],
                                         name, objects[3])
                          : NULL;
  Py_XDECREF(name);
  PyObject *function = self ? PyCFunction_NewEx(&method, self, NULL) : NULL;
  Py_XDECREF(self);
  return function;
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
