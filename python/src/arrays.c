/* arrays.c - Views of arrays by DLPack
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The type of an array may have a table of functions, which gives a view
 * without a call of Python. It is looked up once per type. Otherwise the view
 * comes from __dlpack__(), as a versioned capsule or, from older producers, a
 * capsule without a version.
 */

#include "extension.h"

/*===-- Tables of types --------------------------------------------------===*/

/* A power of two. Types beyond it are looked up each time. */
#define KNOWN_TYPES 64

/* Holds a reference to the type, so that its address means no other. */
struct known_type {
  PyTypeObject *type;
  const dlpack_exchange *table; /* Null: it has none. */
  int is_array;
  int has_lazy; /* It has is_neg() and is_conj(), as those of torch. */
};

static struct known_type known_types[KNOWN_TYPES];

/* Asks a type for its table. Null: with or without an exception. */
static const dlpack_exchange *load_table(PyTypeObject *type) {
  PyObject *capsule =
      PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
  if (!capsule) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError))
      PyErr_Clear();
    return NULL;
  }
  const dlpack_exchange_header *header = NULL;
  if (PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
    header = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  Py_DECREF(capsule);
  /* A newer one may have one that we know behind it. */
  while (header && header->version.major > DLPACK_MAJOR)
    header = header->previous;
  if (!header || header->version.major != DLPACK_MAJOR)
    return NULL;
  const dlpack_exchange *table = (const dlpack_exchange *)header;
  return table->current_stream && (table->to_tensor || table->to_managed)
             ? table
             : NULL;
}

/* Whether a type has an attribute, or -1 with an exception. */
static int has_attribute(PyTypeObject *type, const char *name) {
  PyObject *attribute = PyObject_GetAttrString((PyObject *)type, name);
  if (!attribute && PyErr_ExceptionMatches(PyExc_AttributeError))
    PyErr_Clear();
  const int found = attribute != NULL;
  Py_XDECREF(attribute);
  return PyErr_Occurred() ? -1 : found;
}

/* Fills `known`, which holds no reference. Returns 0, or -1 with an exception.
 */
static int look_up(PyTypeObject *type, struct known_type *known) {
  known->type = type;
  known->table = load_table(type);
  known->is_array = known->table != NULL;
  known->has_lazy = 0;
  if (!PyErr_Occurred())
    known->has_lazy =
        has_attribute(type, "is_neg") > 0 && has_attribute(type, "is_conj") > 0;
  if (known->table || PyErr_Occurred())
    return PyErr_Occurred() ? -1 : 0;
  known->is_array = has_attribute(type, "__dlpack__");
  return known->is_array < 0 ? -1 : 0;
}

/* What is known of a type, or null with an exception. `spare` is for a type
 * that there is no room for. */
static const struct known_type *find_type(PyTypeObject *type,
                                          struct known_type *spare) {
  size_t at = ((uintptr_t)type >> 4) % KNOWN_TYPES;
  for (size_t tries = 0; tries < KNOWN_TYPES; ++tries) {
    struct known_type *known = &known_types[at];
    if (known->type == type)
      return known;
    if (!known->type) {
      if (look_up(type, spare) < 0)
        return NULL;
      /* The lookup may have run code that took the entry. */
      if (known->type)
        return spare;
      Py_INCREF((PyObject *)type);
      *known = *spare;
      return known;
    }
    at = (at + 1) % KNOWN_TYPES;
  }
  return look_up(type, spare) < 0 ? NULL : spare;
}

/* The table of a type, or null with or without an exception. */
static const dlpack_exchange *find_table(PyTypeObject *type) {
  struct known_type spare;
  const struct known_type *known = find_type(type, &spare);
  return known ? known->table : NULL;
}

int is_array(PyObject *object) {
  struct known_type spare;
  const struct known_type *known = find_type(Py_TYPE(object), &spare);
  return known && known->is_array;
}

/*===-- Streams ----------------------------------------------------------===*/

static PyObject *stream_hook;

PyObject *set_stream_hook(PyObject *module, PyObject *hook) {
  (void)module;
  PyObject *old = stream_hook;
  stream_hook = Py_NewRef(hook);
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

static int read_handle(PyObject *number, stream_choice *stream) {
  stream->stream = PyLong_AsVoidPtr(number);
  if (!stream->stream && PyErr_Occurred())
    return -1;
  if ((intptr_t)stream->stream < 0) { /* No address is. */
    PyErr_SetNone(PyExc_OverflowError);
    return -1;
  }
  stream->given = 1;
  return 0;
}

static int read_any_stream(PyObject *object, stream_choice *stream) {
  if (!object || object == Py_None)
    return 0;
  if (PyLong_Check(object))
    return read_handle(object, stream);
  /* torch, CuPy. */
  static const char *const names[] = {"cuda_stream", "ptr"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    PyObject *number = PyObject_GetAttrString(object, names[i]);
    if (!number) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        return -1;
      PyErr_Clear();
      continue;
    }
    const int result = PyLong_Check(number) ? read_handle(number, stream) : 1;
    Py_DECREF(number);
    if (result <= 0)
      return result;
  }
  /* cuda-python's protocol: (version, handle). */
  PyObject *method = PyObject_GetAttrString(object, "__cuda_stream__");
  if (method) {
    PyObject *pair = PyObject_CallNoArgs(method);
    PyObject *number = pair ? PySequence_GetItem(pair, 1) : NULL;
    const int result = number ? read_handle(number, stream) : -1;
    Py_XDECREF(number);
    Py_XDECREF(pair);
    Py_DECREF(method);
    return result;
  }
  return -1;
}

int read_stream(PyObject *object, stream_choice *stream) {
  if (read_any_stream(object, stream) == 0)
    return 0;
  PyObject *cause = take_foreign_error();
  if (cause) {
    raise_argument(DSV4_ERROR_TYPE_MISMATCH, "stream.type", "stream", -1,
                   "'stream' is no stream: expected None, an address, or an "
                   "object with 'cuda_stream', 'ptr' or '__cuda_stream__()'");
    raise_from(cause);
  }
  return -1;
}

PyObject *stream_address(PyObject *module, PyObject *object) {
  (void)module;
  stream_choice stream = {NULL, 0};
  return read_stream(object, &stream) < 0 ? NULL
                                          : PyLong_FromVoidPtr(stream.stream);
}

/* Of a producer without a table. */
static int ask_hook(PyObject *object, int32_t device_id,
                    stream_choice *stream) {
  if (!stream_hook || stream_hook == Py_None)
    return 0;
  PyObject *number =
      PyObject_CallFunction(stream_hook, "Oi", object, device_id);
  if (!number)
    return -1;
  const int result = number == Py_None ? 0 : read_handle(number, stream);
  Py_DECREF(number);
  return result;
}

int find_stream(PyObject *object, const array_view *view,
                stream_choice *stream) {
  if (stream->given || !is_on_device(view->tensor.device_type))
    return 0;
  const dlpack_exchange *table = find_table(Py_TYPE(object));
  if (!table)
    return PyErr_Occurred() ? -1
                            : ask_hook(object, view->tensor.device_id, stream);
  if (table->current_stream(view->tensor.device_type, view->tensor.device_id,
                            &stream->stream) != 0)
    return -1;
  stream->given = 1;
  return 0;
}

PyObject *current_stream(PyObject *module, PyObject *array) {
  (void)module;
  array_view view;
  view.name = NULL;
  view.index = -1;
  stream_choice stream = {NULL, 0};
  if (open_view(array, &view, &stream) < 0)
    return NULL;
  const int result = find_stream(array, &view, &stream);
  close_view(&view);
  if (result < 0)
    return NULL;
  if (!stream.given)
    Py_RETURN_NONE;
  return PyLong_FromVoidPtr(stream.stream);
}

/*===-- Bits of arrays ---------------------------------------------------===*/

static PyObject *bits_hook;

PyObject *set_bits_hook(PyObject *module, PyObject *hook) {
  (void)module;
  PyObject *old = bits_hook;
  bits_hook = Py_NewRef(hook);
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

/* Asks for the bits of an array whose library cannot export its type, while
 * the exception of the library is set: it stays if there are none. Returns an
 * array of them, and sets the type of its elements. */
static PyObject *find_bits(PyObject *object, dsv4_type *type) {
  if (!bits_hook || (!PyErr_ExceptionMatches(PyExc_BufferError) &&
                     !PyErr_ExceptionMatches(PyExc_TypeError)))
    return NULL;
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  PyObject *pair = PyObject_CallFunctionObjArgs(bits_hook, object, NULL);
  PyObject *bits = NULL;
  const char *element = NULL;
  if (pair && pair != Py_None && PyArg_ParseTuple(pair, "Os", &bits, &element))
    bits = read_element(element, type) == 0 ? Py_NewRef(bits) : NULL;
  Py_XDECREF(pair);
  if (bits || PyErr_Occurred()) {
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  } else {
    PyErr_Restore(kind, value, trace);
  }
  return bits;
}

/*===-- Views ------------------------------------------------------------===*/

static int view_by_table(PyObject *object, const dlpack_exchange *table,
                         array_view *view) {
  if (table->to_tensor)
    return table->to_tensor(object, &view->tensor) == 0 ? 0 : -1;
  if (table->to_managed(object, &view->managed) != 0)
    return -1;
  view->tensor = view->managed->tensor;
  view->flags =
      view->managed->flags & DLPACK_READ_ONLY ? DSV4_ARGUMENT_READ_ONLY : 0;
  return 0;
}

/* The device of an array, by __dlpack_device__(). */
static int get_device(PyObject *object, int32_t *type, int32_t *id) {
  PyObject *pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
  if (!pair)
    return -1;
  const int result =
      PyTuple_Check(pair) ? PyArg_ParseTuple(pair, "ii", type, id) : 0;
  if (!result && !PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "__dlpack_device__() gave no tuple");
  Py_DECREF(pair);
  return result ? 0 : -1;
}

/* __dlpack__ with a maximal version, and without for those that know none. */
static PyObject *call_dlpack(PyObject *object, PyObject *stream) {
  PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
  if (!method)
    return NULL;
  PyObject *none = PyTuple_New(0);
  PyObject *keywords =
      Py_BuildValue("{s(ii)}", "max_version", DLPACK_MAJOR, DLPACK_MINOR);
  PyObject *capsule = NULL;
  if (none && keywords &&
      (!stream || PyDict_SetItemString(keywords, "stream", stream) == 0)) {
    capsule = PyObject_Call(method, none, keywords);
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Clear();
      if (PyDict_DelItemString(keywords, "max_version") == 0)
        capsule = PyObject_Call(method, none, keywords);
    }
  }
  Py_XDECREF(keywords);
  Py_XDECREF(none);
  Py_DECREF(method);
  return capsule;
}

/* The stream as __dlpack__ takes it: 1 is the default stream of CUDA, 0 is not
 * allowed. */
static PyObject *as_dlpack_stream(const stream_choice *stream) {
  return stream->stream ? PyLong_FromVoidPtr(stream->stream)
                        : PyLong_FromLong(1);
}

static int read_capsule(PyObject *capsule, array_view *view) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    const dlpack_versioned *managed =
        PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->version.major != DLPACK_MAJOR) {
      PyErr_Format(PyExc_BufferError,
                   "__dlpack__() gave version %d, and dsv4 knows version 1",
                   (int)managed->version.major);
      return -1;
    }
    view->tensor = managed->tensor;
    if (managed->flags & DLPACK_READ_ONLY)
      view->flags = DSV4_ARGUMENT_READ_ONLY;
    return 0;
  }
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    view->tensor =
        ((const dlpack_legacy *)PyCapsule_GetPointer(capsule, "dltensor"))
            ->tensor;
    return 0;
  }
  PyErr_SetString(PyExc_TypeError, "__dlpack__() gave no unused capsule of "
                                   "name 'dltensor_versioned' or 'dltensor'");
  return -1;
}

static int view_by_protocol(PyObject *object, array_view *view,
                            stream_choice *stream) {
  int32_t type = 0, id = 0;
  if (get_device(object, &type, &id) < 0) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      return -1;
    PyErr_Clear();
    PyObject *name =
        PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    if (name)
      refuse_view(view, DSV4_ERROR_TYPE_MISMATCH, "argument.kind",
                  PyUnicode_FromFormat(
                      "expected an array with __dlpack__(), got '%U'", name));
    Py_XDECREF(name);
    return -1;
  }
  PyObject *number = NULL;
  if (is_on_device(type)) {
    if (!stream->given && ask_hook(object, id, stream) < 0)
      return -1;
    /* Later arrays have to be ready on the same stream. */
    stream->given = 1;
    number = as_dlpack_stream(stream);
    if (!number)
      return -1;
  }
  /* The capsule owns the array, and frees it if it is destroyed unused. */
  dsv4_type element = {0, 0, 0};
  view->owner = call_dlpack(object, number);
  PyObject *bits = view->owner ? NULL : find_bits(object, &element);
  if (bits)
    view->owner = call_dlpack(bits, number);
  Py_XDECREF(bits);
  Py_XDECREF(number);
  if (!view->owner || read_capsule(view->owner, view) < 0)
    return -1;
  if (element.bits)
    view->tensor.type = element;
  return 0;
}

/* The view of an object of a known type. */
static int view_known(PyObject *object, const struct known_type *known,
                      array_view *view, stream_choice *stream) {
  const int result = known->table ? view_by_table(object, known->table, view)
                                  : view_by_protocol(object, view, stream);
  return result == 0 && known->has_lazy && may_be_lazy(&view->tensor)
             ? refuse_lazy(object, view)
             : result;
}

int open_view(PyObject *object, array_view *view, stream_choice *stream) {
  view->flags = 0;
  view->owner = NULL;
  view->managed = NULL;
  struct known_type spare;
  const struct known_type *known = find_type(Py_TYPE(object), &spare);
  int result = known ? view_known(object, known, view, stream) : -1;
  if (result < 0)
    refuse_failed(view);
  if (result == 0 &&
      (view->tensor.ndim < 0 || view->tensor.ndim > DSV4_MAX_RANK)) {
    refuse_view(view, DSV4_ERROR_INVALID_ARGUMENT, "argument.rank",
                PyUnicode_FromFormat("%d axes, expected at most %d",
                                     (int)view->tensor.ndim, DSV4_MAX_RANK));
    result = -1;
  } else if (result == 0 && view->tensor.ndim > 0 && !view->tensor.shape) {
    refuse_view(view, DSV4_ERROR_INVALID_ARGUMENT, "argument.null",
                PyUnicode_FromString("axes and no extents"));
    result = -1;
  }
  if (result < 0)
    close_view(view);
  return result;
}

void close_view(array_view *view) {
  if (!view->managed && !view->owner)
    return;
  /* Deleters may be functions of Python, and there may be an exception. */
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (view->managed && view->managed->deleter)
    view->managed->deleter(view->managed);
  view->managed = NULL;
  Py_CLEAR(view->owner);
  PyErr_Restore(type, value, trace);
}

/*===-- Rows of bytes ----------------------------------------------------===*/

/* Copies shape and strides to the view, so that they can be changed. */
static void own_shape(array_view *view) {
  dsv4_dltensor *tensor = &view->tensor;
  if (tensor->shape == view->shape)
    return;
  int64_t stride = 1;
  for (int axis = tensor->ndim - 1; axis >= 0; --axis) {
    view->shape[axis] = tensor->shape[axis];
    view->strides[axis] = tensor->strides ? tensor->strides[axis] : stride;
    if (__builtin_mul_overflow(stride, tensor->shape[axis], &stride))
      stride = INT64_MAX; /* The library refuses it. */
  }
  tensor->shape = view->shape;
  tensor->strides = view->strides;
}

/* Whether axis and the one after it are one axis in memory. */
static int is_joinable(const array_view *view, int axis) {
  int64_t step;
  return view->shape[axis] == 1 ||
         (!__builtin_mul_overflow(view->strides[axis + 1],
                                  view->shape[axis + 1], &step) &&
          view->strides[axis] == step);
}

/* Joins the last axes until there are `rank`. */
static void join_axes(array_view *view, int rank) {
  int ndim = view->tensor.ndim;
  int64_t elements;
  for (; ndim > rank && is_joinable(view, ndim - 2); --ndim) {
    if (__builtin_mul_overflow(view->shape[ndim - 2], view->shape[ndim - 1],
                               &elements))
      break;
    view->shape[ndim - 2] = elements;
    view->strides[ndim - 2] = view->strides[ndim - 1];
  }
  view->tensor.ndim = ndim;
}

void view_as_bytes(array_view *view, int rank, int64_t page_bytes) {
  dsv4_dltensor *tensor = &view->tensor;
  const int64_t size = tensor->type.bits * tensor->type.lanes / 8;
  if (tensor->ndim < rank || tensor->ndim == 0 || size < 1 ||
      (tensor->ndim == rank && size == 1 &&
       tensor->type.code <= DSV4_TYPE_UINT))
    return;
  own_shape(view);
  const int has_entries = tensor->ndim > rank;
  const int64_t entry = view->shape[tensor->ndim - 1];
  join_axes(view, rank);
  const int last = tensor->ndim - 1;
  int64_t bytes;
  if ((view->strides[last] != 1 && view->shape[last] > 1) ||
      __builtin_mul_overflow(view->shape[last], size, &bytes))
    return;
  for (int axis = 0; axis < last; ++axis)
    if (__builtin_mul_overflow(view->strides[axis], size, &view->strides[axis]))
      view->strides[axis] = INT64_MAX;
  /* Pages of entries may lack the bytes that pad a page: nobody touches them.
   */
  if (has_entries && last == 1 && bytes < page_bytes &&
      page_bytes - bytes < entry * size && view->strides[0] >= page_bytes)
    bytes = page_bytes;
  view->shape[last] = bytes;
  view->strides[last] = 1;
  tensor->type = (dsv4_type){DSV4_TYPE_UINT, 8, 1};
}

/*===-- describe() -------------------------------------------------------===*/

static PyTypeObject *view_type;

int add_view_type(PyObject *module) {
  static PyStructSequence_Field fields[] = {
      {"element", "the element type: 'f32', 'bf16', 'i64', 'u8'"},
      {"shape", "the extents"},
      {"strides", "elements between neighbours, or None: contiguous"},
      {"device_type", "DLPack's number: 1 for the CPU, 2 for CUDA"},
      {"device", "the number of the device"},
      {"address", "of the first element"},
      {"read_only", "whether it must not be written"},
      {NULL, NULL}};
  static PyStructSequence_Desc description = {
      "dsv4.View", "What an array is, by DLPack.", fields, 7};
  view_type = PyStructSequence_NewType(&description);
  return view_type
             ? PyModule_AddObjectRef(module, "View", (PyObject *)view_type)
             : -1;
}

static PyObject *make_tuple(const int64_t *numbers, int count) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i) {
    PyObject *number = PyLong_FromLongLong(numbers[i]);
    if (!number || PyTuple_SetItem(tuple, i, number) < 0)
      Py_CLEAR(tuple);
  }
  return tuple;
}

/* Axes of one element do not count. */
int is_contiguous(const dsv4_dltensor *tensor) {
  if (!tensor->strides)
    return 1;
  int64_t expected = 1;
  int same = 1;
  for (int axis = tensor->ndim - 1; axis >= 0; --axis) {
    if (tensor->shape[axis] == 0)
      return 1;
    if (tensor->shape[axis] == 1)
      continue;
    same &= tensor->strides[axis] == expected;
    if (__builtin_mul_overflow(expected, tensor->shape[axis], &expected))
      return 0;
  }
  return same;
}

PyObject *describe(PyObject *module, PyObject *array) {
  (void)module;
  array_view view;
  view.name = NULL;
  view.index = -1;
  /* Nothing is read through the view, so no stream has to wait. */
  stream_choice stream = {NULL, 0};
  if (open_view(array, &view, &stream) < 0)
    return NULL;
  struct known_type spare;
  const struct known_type *known = find_type(Py_TYPE(array), &spare);
  if (!known || (known->has_lazy && refuse_lazy(array, &view) < 0)) {
    close_view(&view);
    return NULL;
  }
  const dsv4_dltensor *tensor = &view.tensor;
  PyObject *values[7] = {name_element(tensor->type),
                         make_tuple(tensor->shape, tensor->ndim),
                         is_contiguous(tensor)
                             ? Py_NewRef(Py_None)
                             : make_tuple(tensor->strides, tensor->ndim),
                         PyLong_FromLong(tensor->device_type),
                         PyLong_FromLong(tensor->device_id),
                         PyLong_FromVoidPtr(get_data(&view)),
                         PyBool_FromLong(view.flags & DSV4_ARGUMENT_READ_ONLY)};
  close_view(&view);
  PyObject *result = PyStructSequence_New(view_type);
  for (int i = 0; i < 7; ++i) {
    if (!result || !values[i]) {
      Py_XDECREF(values[i]);
      Py_CLEAR(result);
    } else {
      PyStructSequence_SetItem(result, i, values[i]);
    }
  }
  return result;
}
