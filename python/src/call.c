/* call.c - The arguments of a call, and its launch by a block
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "kernel.h"

#include <math.h>
#include <string.h>

/*===-- Arguments --------------------------------------------------------===*/

/* Refuses a number, instead of Python, which does not name the argument. */
static int refuse_number(const parameter *parameter, int index,
                         PyObject *object, int overflows) {
  const int is_float = parameter->type.code == DSV4_TYPE_FLOAT;
  PyErr_Clear();
  if (overflows)
    raise_argument(
        DSV4_ERROR_INVALID_ARGUMENT, "argument.overflow", parameter->name,
        index, "argument '%s' is %R, which is no %s", parameter->name, object,
        is_float                     ? "number of type f32"
        : parameter->type.bits == 32 ? "32-bit integer"
                                     : "64-bit integer");
  else
    raise_argument(DSV4_ERROR_TYPE_MISMATCH, "argument.type", parameter->name,
                   index, "argument '%s' is %R, expected %s", parameter->name,
                   object, is_float ? "a number" : "an integer");
  return -1;
}

static int read_number(const parameter *parameter, int index, PyObject *object,
                       number *number) {
  int overflows = 0;
  if (parameter->type.code == DSV4_TYPE_FLOAT) {
    const double value = PyFloat_AsDouble(object);
    number->f32 = (float)value;
    overflows = isfinite(value) && !isfinite(number->f32);
  } else {
    const long long value = PyLong_AsLongLong(object);
    if (parameter->type.bits == 32) {
      overflows = value < INT32_MIN || value > INT32_MAX;
      number->i32 = (int32_t)value;
    } else {
      number->i64 = value;
    }
  }
  if (PyErr_Occurred()) {
    overflows = PyErr_ExceptionMatches(PyExc_OverflowError);
    if (!overflows && !PyErr_ExceptionMatches(PyExc_TypeError))
      return -1;
    return refuse_number(parameter, index, object, overflows);
  }
  return overflows ? refuse_number(parameter, index, object, 1) : 0;
}

/* A view that owns nothing serves again, unless it needs the stream. */
static int take_view(const array_view *open, PyObject *object, array_view *view,
                     stream_choice *stream) {
  if (!open || open->owner || open->managed)
    return open_view(object, view, stream);
  view->tensor = open->tensor;
  view->flags = open->flags;
  view->owner = NULL;
  view->managed = NULL;
  return 0;
}

static int read_array(const parameter *parameter, int index, PyObject *object,
                      const array_view *open, call *call) {
  array_view *view = &call->views[index];
  view->name = parameter->name;
  view->index = index;
  if (take_view(open, object, view, &call->stream) < 0)
    return -1;
  if (parameter->is_bytes)
    view_as_bytes(
        view, parameter->page_bytes >= 0 ? parameter->rank : view->tensor.ndim,
        parameter->page_bytes);
  else if (parameter->is_unsigned && view->tensor.type.code == DSV4_TYPE_UINT &&
           view->tensor.type.bits == 32)
    view->tensor.type.code = DSV4_TYPE_INT;
  if (is_on_device(view->tensor.device_type)) {
    if (call->device < 0)
      call->device = view->tensor.device_id;
    if (!call->stream.given && find_stream(object, view, &call->stream) < 0) {
      close_view(view);
      return -1;
    }
  }
  return 0;
}

static int refuse_count(const kernel *self, Py_ssize_t count) {
  PyObject *names = PyUnicode_FromString("");
  for (uint32_t i = 0; names && i < self->info.bindings; ++i) {
    PyObject *next = PyUnicode_FromFormat("%U%s%s", names, i ? ", " : "",
                                          self->parameters[i].name);
    Py_DECREF(names);
    names = next;
  }
  if (names)
    raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "argument.count", NULL, -1,
                   "kernel '%s' takes %u arguments (%U), got %zd",
                   self->info.name, (unsigned)self->info.bindings, names,
                   count);
  Py_XDECREF(names);
  return -1;
}

int open_call(kernel *self, call *call, PyObject *const *objects,
              const array_view *const *views, Py_ssize_t count) {
  call->count = 0;
  call->device = -1;
  if (count != (Py_ssize_t)self->info.bindings)
    return refuse_count(self, count);
  for (int i = 0; i < (int)count; ++i) {
    const parameter *parameter = &self->parameters[i];
    dsv4_argument *argument = &call->arguments[i];
    array_view *view = &call->views[i];
    *argument = (dsv4_argument)DSV4_INIT(dsv4_argument);
    view->owner = NULL;
    view->managed = NULL;
    if (parameter->scalar) {
      if (read_number(parameter, i, objects[i], &call->numbers[i]) < 0)
        return -1;
      argument->kind = DSV4_ARGUMENT_SCALAR;
      argument->value = &call->numbers[i];
    } else {
      if (read_array(parameter, i, objects[i], views ? views[i] : NULL, call) <
          0)
        return -1;
      argument->kind = DSV4_ARGUMENT_DLPACK;
      argument->value = &view->tensor;
      argument->flags = view->flags;
    }
    call->count = (uint32_t)i + 1;
  }
  return 0;
}

void close_call(call *call) {
  for (uint32_t i = 0; i < call->count; ++i)
    close_view(&call->views[i]);
}

/*===-- Blocks -----------------------------------------------------------===*/

void drop_block(kernel *self, int32_t device) {
  bound_launch *bound = self->bound[device];
  self->bound[device] = NULL;
  if (bound)
    dsv4_block_destroy(bound->block);
  PyMem_Free(bound);
}

static int is_same_shape(const bound_argument *bound, const array_view *view) {
  const dsv4_dltensor *tensor = &view->tensor;
  const size_t bytes = (size_t)tensor->ndim * sizeof(int64_t);
  return bound->ndim == tensor->ndim && bound->flags == view->flags &&
         bound->device_type == tensor->device_type &&
         bound->device_id == tensor->device_id &&
         memcmp(&bound->type, &tensor->type, sizeof(dsv4_type)) == 0 &&
         bound->has_strides == (tensor->strides != NULL) &&
         memcmp(bound->shape, tensor->shape, bytes) == 0 &&
         (!tensor->strides ||
          memcmp(bound->strides, tensor->strides, bytes) == 0);
}

/* Checked by the library before: nothing overflows. */
static int64_t get_span(const dsv4_dltensor *tensor) {
  int64_t last = 0, contiguous = 1;
  for (int axis = tensor->ndim - 1; axis >= 0; --axis) {
    const int64_t extent = tensor->shape[axis];
    if (extent == 0)
      return 0;
    last +=
        (extent - 1) * (tensor->strides ? tensor->strides[axis] : contiguous);
    contiguous *= extent;
  }
  return (last + 1) * tensor->type.bits * tensor->type.lanes / 8;
}

static void keep_argument(bound_argument *bound, const array_view *view) {
  const dsv4_dltensor *tensor = &view->tensor;
  const size_t bytes = (size_t)tensor->ndim * sizeof(int64_t);
  bound->data = get_data(view);
  bound->type = tensor->type;
  bound->device_type = tensor->device_type;
  bound->device_id = tensor->device_id;
  bound->ndim = tensor->ndim;
  bound->flags = view->flags;
  bound->has_strides = tensor->strides != NULL;
  memcpy(bound->shape, tensor->shape, bytes);
  if (tensor->strides)
    memcpy(bound->strides, tensor->strides, bytes);
  bound->span = -1;
}

/* Once the library took the shapes. */
static void keep_spans(const kernel *self, const call *call,
                       bound_launch *bound) {
  for (uint32_t i = 0; i < call->count; ++i)
    if (!self->parameters[i].scalar && bound->arguments[i].span < 0)
      bound->arguments[i].span = get_span(&call->views[i].tensor);
}

/* Whether memory that is written begins to meet that of another argument. The
 * library decides whether elements do. */
static int may_overlap(const kernel *self, const bound_launch *bound) {
  for (uint32_t i = 0; i < self->info.bindings; ++i) {
    if (!self->parameters[i].written)
      continue;
    const bound_argument *a = &bound->arguments[i];
    for (uint32_t j = 0; j < self->info.bindings; ++j) {
      const bound_argument *b = &bound->arguments[j];
      if (j != i && !self->parameters[j].scalar &&
          a->data < b->data + b->span && b->data < a->data + a->span)
        return 1;
    }
  }
  return 0;
}

/* Gives the block what is different from its last launch. */
static dsv4_status set_changed(const kernel *self, const call *call,
                               bound_launch *bound, dsv4_error **error) {
  int moved = 0, reshaped = 0;
  for (uint32_t i = 0; i < call->count; ++i) {
    bound_argument *argument = &bound->arguments[i];
    const array_view *view = &call->views[i];
    dsv4_status status = DSV4_OK;
    if (!self->parameters[i].scalar && is_same_shape(argument, view)) {
      char *data = get_data(view);
      if (data == argument->data)
        continue;
      argument->data = data;
      moved = 1;
      status = dsv4_set_data(bound->block, i, data, error);
    } else {
      status = dsv4_set_argument(bound->block, i, &call->arguments[i], error);
      if (status == DSV4_OK && !self->parameters[i].scalar) {
        keep_argument(argument, view);
        reshaped = 1;
      }
    }
    if (status != DSV4_OK)
      return status;
  }
  /* A new address alone is not checked for overlaps: an argument is. */
  if (!moved || reshaped || !may_overlap(self, bound))
    return DSV4_OK;
  for (uint32_t i = 0; i < call->count; ++i)
    if (self->parameters[i].written)
      return dsv4_set_argument(bound->block, i, &call->arguments[i], error);
  return DSV4_OK;
}

static bound_launch *bind_call(kernel *self, call *call) {
  dsv4_error *error = NULL;
  dsv4_status status;
  /* The driver may take its time. */
  Py_BEGIN_ALLOW_THREADS status = dsv4_program_load(
      self->program, call->device, call->stream.stream, &error);
  Py_END_ALLOW_THREADS
      /* Another thread may have been here meanwhile. */
      if (status == DSV4_OK &&
          self->bound[call->device]) return self->bound[call->device];
  bound_launch *bound = NULL;
  if (status == DSV4_OK) {
    bound = PyMem_Calloc(1, sizeof(bound_launch) +
                                call->count * sizeof(bound_argument));
    if (!bound) {
      PyErr_NoMemory();
      return NULL;
    }
    status = dsv4_bind(self->program, call->arguments, call->count,
                       call->stream.stream, &bound->block, &error);
  }
  if (status != DSV4_OK) {
    PyMem_Free(bound);
    raise_error(status, error);
    return NULL;
  }
  for (uint32_t i = 0; i < call->count; ++i)
    if (!self->parameters[i].scalar)
      keep_argument(&bound->arguments[i], &call->views[i]);
  return self->bound[call->device] = bound;
}

int launch_block(kernel *self, call *call) {
  bound_launch *bound = self->bound[call->device];
  if (!bound) {
    bound = bind_call(self, call);
    if (!bound)
      return -1;
  }
  if (bound->busy)
    return launch_once(self, call, NULL);
  dsv4_error *error = NULL;
  dsv4_status status = set_changed(self, call, bound, &error);
  if (status == DSV4_OK) {
    /* The driver waits while its queue is full. What makes room in it may be a
     * host function of the stream that needs the GIL. */
    bound->busy = 1;
    Py_BEGIN_ALLOW_THREADS status =
        dsv4_launch(bound->block, call->stream.stream, &error);
    Py_END_ALLOW_THREADS bound->busy = 0;
  }
  if (status == DSV4_OK) {
    keep_spans(self, call, bound);
    return 0;
  }
  /* It has arguments that do not fit each other. */
  drop_block(self, call->device);
  raise_error(status, error);
  return -1;
}
