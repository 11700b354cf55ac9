/* kernel.c - The type of kernels
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "kernel.h"

#include <string.h>

static PyTypeObject *kernel_type;

/*===-- Making and freeing -----------------------------------------------===*/

/* Whether an element has more than a byte. */
static int is_wide(const char *element) {
  static const char *const wide[] = {"bf16", "f16", "f32", "i32"};
  for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); ++i)
    if (strcmp(element, wide[i]) == 0)
      return 1;
  return 0;
}

static int read_parameter(dsv4_program *program, uint32_t index,
                          parameter *out) {
  dsv4_binding binding = DSV4_INIT(dsv4_binding);
  dsv4_error *error = NULL;
  const dsv4_status status =
      dsv4_program_binding(program, index, &binding, &error);
  if (status != DSV4_OK) {
    raise_error(status, error);
    return -1;
  }
  out->name = binding.name;
  out->type = binding.type;
  out->rank = binding.rank;
  out->written = binding.written;
  out->scalar = binding.scalar;
  /* A cache has bytes where a tensor has the storage of its elements. */
  const int has_bytes =
      binding.type.code == DSV4_TYPE_UINT && binding.type.bits == 8;
  const int is_pages = strcmp(binding.element, "i8") == 0;
  out->page_bytes = is_pages && binding.rank == 2 ? binding.extents[1] : -1;
  out->is_bytes = is_pages || (has_bytes && is_wide(binding.element));
  out->is_unsigned = strcmp(binding.element, "ui32") == 0;
  out->alignment = binding.alignment;
  return 0;
}

PyObject *make_kernel(dsv4_program *program) {
  kernel *self = PyObject_New(kernel, kernel_type);
  if (!self) {
    dsv4_program_destroy(program);
    return NULL;
  }
  self->program = program;
  self->parameters = NULL;
  self->unaligned = NULL;
  memset(self->bound, 0, sizeof(self->bound));
  self->check_count = 0;
  self->info = (dsv4_program_info)DSV4_INIT(dsv4_program_info);
  dsv4_error *error = NULL;
  const dsv4_status status = dsv4_program_query(program, &self->info, &error);
  if (status != DSV4_OK) {
    raise_error(status, error);
    Py_DECREF(self);
    return NULL;
  }
  if (self->info.bindings > MAX_ARGUMENTS) {
    raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "argument.count", NULL, -1,
                   "kernel '%s' takes %u arguments, and Python passes %d at "
                   "most",
                   self->info.name, (unsigned)self->info.bindings,
                   MAX_ARGUMENTS);
    Py_DECREF(self);
    return NULL;
  }
  self->parameters = PyMem_Calloc(self->info.bindings + 1, sizeof(parameter));
  if (!self->parameters) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  for (uint32_t i = 0; i < self->info.bindings; ++i)
    if (read_parameter(program, i, &self->parameters[i]) < 0) {
      Py_DECREF(self);
      return NULL;
    }
  return (PyObject *)self;
}

static void kernel_dealloc(PyObject *object) {
  kernel *self = (kernel *)object;
  for (int32_t device = 0; device < MAX_DEVICES; ++device)
    drop_block(self, device);
  dsv4_program_destroy(self->program);
  PyMem_Free(self->parameters);
  Py_XDECREF(self->unaligned);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

/*===-- Calls ------------------------------------------------------------===*/

int launch_once(kernel *self, call *call, const dsv4_workspace *workspace) {
  dsv4_error *error = NULL;
  dsv4_status status;
  Py_BEGIN_ALLOW_THREADS status =
      dsv4_call(self->program, call->arguments, call->count, workspace,
                call->stream.stream, &error);
  Py_END_ALLOW_THREADS if (status == DSV4_OK) return 0;
  raise_error(status, error);
  return -1;
}

static int read_workspace(PyObject *object, array_view *view, call *call,
                          dsv4_workspace *workspace) {
  view->name = "workspace";
  view->index = -1;
  if (open_view(object, view, &call->stream) < 0)
    return -1;
  const dsv4_dltensor *tensor = &view->tensor;
  int64_t bytes = tensor->type.bits * tensor->type.lanes / 8;
  int overflows = 0;
  for (int axis = 0; axis < tensor->ndim; ++axis)
    overflows |= tensor->shape[axis] < 0 ||
                 __builtin_mul_overflow(bytes, tensor->shape[axis], &bytes);
  const int device = is_on_device(tensor->device_type) ? tensor->device_id : -1;
  if (device != call->device)
    raise_argument(DSV4_ERROR_TYPE_MISMATCH, "argument.device", "workspace", -1,
                   "'workspace' is in other memory than the arguments: pass "
                   "one on their device");
  else if (overflows || !is_contiguous(tensor))
    raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "argument.stride", "workspace",
                   -1, "'workspace' is not contiguous: pass zeroed bytes");
  else if (view->flags & DSV4_ARGUMENT_READ_ONLY)
    raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "argument.read_only",
                   "workspace", -1,
                   "'workspace' is read-only: pass a writable array");
  if (PyErr_Occurred()) {
    close_view(view);
    return -1;
  }
  workspace->data = get_data(view);
  workspace->bytes = (uint64_t)bytes;
  return 0;
}

static int launch_with_workspace(kernel *self, call *call, PyObject *object) {
  dsv4_workspace workspace = DSV4_INIT(dsv4_workspace);
  array_view view;
  if (read_workspace(object, &view, call, &workspace) < 0)
    return -1;
  const int result = launch_once(self, call, &workspace);
  close_view(&view);
  return result;
}

int is_kernel(PyObject *object) { return Py_TYPE(object) == kernel_type; }

/* The kernel for the addresses of a call. */
static kernel *choose_kernel(kernel *self, const call *call) {
  for (uint32_t i = 0; self->unaligned && i < call->count; ++i)
    if (!self->parameters[i].scalar && (uintptr_t)get_data(&call->views[i]) &
                                           (self->parameters[i].alignment - 1))
      return (kernel *)self->unaligned;
  return self;
}

int launch_kernel(PyObject *object, PyObject *const *objects,
                  const array_view *const *views, Py_ssize_t count,
                  PyObject *stream, PyObject *workspace) {
  kernel *self = (kernel *)object;
  call call;
  call.count = 0;
  call.stream = (stream_choice){NULL, 0};
  if (read_stream(stream, &call.stream) < 0)
    return -1;
  int result = open_call(self, &call, objects, views, count);
  if (result == 0 && self->check_count)
    result = run_checks(self, call.views);
  if (result == 0) {
    self = choose_kernel(self, &call);
    const int on_device = self->info.target == DSV4_TARGET_CUDA &&
                          call.device >= 0 && call.device < MAX_DEVICES;
    if (workspace && workspace != Py_None)
      result = launch_with_workspace(self, &call, workspace);
    else
      result = on_device ? launch_block(self, &call)
                         : launch_once(self, &call, NULL);
  }
  close_call(&call);
  return deliver_events() < 0 ? -1 : result;
}

/* Reads a keyword of a call. */
static int read_keyword(PyObject *name, PyObject *value, PyObject **stream,
                        PyObject **workspace) {
  if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
    *stream = value;
  } else if (PyUnicode_CompareWithASCIIString(name, "workspace") == 0) {
    *workspace = value;
  } else {
    PyErr_Format(PyExc_TypeError,
                 "a kernel takes 'stream' and 'workspace' by name, not '%U'",
                 name);
    return -1;
  }
  return 0;
}

static PyObject *kernel_launch(PyObject *self, PyObject *const *objects,
                               Py_ssize_t count, PyObject *names) {
  PyObject *stream = NULL, *workspace = NULL;
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    if (read_keyword(PyTuple_GetItem(names, i), objects[count + i], &stream,
                     &workspace) < 0)
      return NULL;
  if (launch_kernel(self, objects, NULL, count, stream, workspace) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *kernel_call(PyObject *self, PyObject *args, PyObject *named) {
  PyObject *stream = NULL, *workspace = NULL, *name, *value;
  Py_ssize_t position = 0;
  while (named && PyDict_Next(named, &position, &name, &value))
    if (read_keyword(name, value, &stream, &workspace) < 0)
      return NULL;
  PyObject *objects[MAX_ARGUMENTS];
  const Py_ssize_t count = PyTuple_Size(args);
  for (Py_ssize_t i = 0; i < count && i < MAX_ARGUMENTS; ++i)
    objects[i] = PyTuple_GetItem(args, i);
  if (launch_kernel(self, objects, NULL, count, stream, workspace) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *kernel_load(PyObject *object, PyObject *args,
                             PyObject *named) {
  kernel *self = (kernel *)object;
  static char *names[] = {"device", "stream", NULL};
  int device = 0;
  PyObject *stream = NULL;
  stream_choice choice = {NULL, 0};
  if (!PyArg_ParseTupleAndKeywords(args, named, "|iO:load", names, &device,
                                   &stream) ||
      read_stream(stream, &choice) < 0)
    return NULL;
  for (; self; self = (kernel *)self->unaligned) {
    dsv4_error *error = NULL;
    dsv4_status status;
    Py_BEGIN_ALLOW_THREADS status =
        dsv4_program_load(self->program, device, choice.stream, &error);
    Py_END_ALLOW_THREADS if (status != DSV4_OK) raise_error(status, error);
    if (deliver_events() < 0 || status != DSV4_OK)
      return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject *kernel_workspace_bytes(PyObject *object,
                                        PyObject *const *objects,
                                        Py_ssize_t count) {
  kernel *self = (kernel *)object;
  call call;
  call.count = 0;
  call.stream = (stream_choice){NULL, 0};
  uint64_t bytes = 0;
  dsv4_error *error = NULL;
  dsv4_status status = DSV4_OK;
  const int result = open_call(self, &call, objects, NULL, count);
  if (result == 0) {
    self = choose_kernel(self, &call);
    const int32_t device = call.device < 0 ? 0 : call.device;
    Py_BEGIN_ALLOW_THREADS status =
        dsv4_program_load(self->program, device, NULL, &error);
    if (status == DSV4_OK)
      status = dsv4_workspace_bytes(self->program, call.arguments, call.count,
                                    device, &bytes, &error);
    Py_END_ALLOW_THREADS
  }
  close_call(&call);
  if (result < 0)
    return NULL;
  if (status != DSV4_OK)
    raise_error(status, error);
  if (deliver_events() < 0 || status != DSV4_OK)
    return NULL;
  return PyLong_FromUnsignedLongLong(bytes);
}

/*===-- Attributes -------------------------------------------------------===*/

static PyObject *get_name(PyObject *self, void *ignored) {
  (void)ignored;
  return PyUnicode_FromString(((kernel *)self)->info.name);
}

static PyObject *get_arch(PyObject *self, void *ignored) {
  (void)ignored;
  return PyUnicode_FromString(((kernel *)self)->info.arch);
}

static PyObject *get_key(PyObject *self, void *ignored) {
  (void)ignored;
  return PyUnicode_FromString(((kernel *)self)->info.key);
}

static PyObject *get_target(PyObject *self, void *ignored) {
  (void)ignored;
  const int on_host = ((kernel *)self)->info.target == DSV4_TARGET_HOST;
  return PyUnicode_FromString(on_host ? "host" : "cuda");
}

static PyObject *get_arguments(PyObject *object, void *ignored) {
  (void)ignored;
  const kernel *self = (kernel *)object;
  PyObject *tuple = PyTuple_New((Py_ssize_t)self->info.bindings);
  for (uint32_t i = 0; tuple && i < self->info.bindings; ++i) {
    PyObject *name = PyUnicode_FromString(self->parameters[i].name);
    if (!name || PyTuple_SetItem(tuple, i, name) < 0)
      Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject *get_alignments(PyObject *object, void *ignored) {
  (void)ignored;
  const kernel *self = (kernel *)object;
  PyObject *tuple = PyTuple_New((Py_ssize_t)self->info.bindings);
  for (uint32_t i = 0; tuple && i < self->info.bindings; ++i) {
    PyObject *number = PyLong_FromUnsignedLong(self->parameters[i].alignment);
    if (!number || PyTuple_SetItem(tuple, i, number) < 0)
      Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject *get_unaligned(PyObject *object, void *ignored) {
  (void)ignored;
  PyObject *other = ((kernel *)object)->unaligned;
  return Py_NewRef(other ? other : Py_None);
}

/* Whether two kernels take the same arguments. */
static int is_same_signature(const kernel *a, const kernel *b) {
  int same = a->info.bindings == b->info.bindings &&
             a->info.target == b->info.target &&
             strcmp(a->info.arch, b->info.arch) == 0;
  for (uint32_t i = 0; same && i < a->info.bindings; ++i) {
    const parameter *left = &a->parameters[i], *right = &b->parameters[i];
    same = strcmp(left->name, right->name) == 0 && left->rank == right->rank &&
           left->written == right->written && left->scalar == right->scalar &&
           left->page_bytes == right->page_bytes &&
           left->is_bytes == right->is_bytes &&
           left->is_unsigned == right->is_unsigned &&
           is_same_type(left->type, right->type);
  }
  return same;
}

PyObject *join_kernels(PyObject *module, PyObject *const *objects,
                       Py_ssize_t count) {
  (void)module;
  if (count != 2 || !is_kernel(objects[0]) || !is_kernel(objects[1])) {
    PyErr_SetString(PyExc_TypeError, "expected two kernels");
    return NULL;
  }
  kernel *self = (kernel *)objects[0], *other = (kernel *)objects[1];
  if (self == other || other->unaligned || !is_same_signature(self, other)) {
    raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "option.unaligned", "unaligned",
                   -1,
                   "'unaligned' takes other arguments than kernel '%s': pass "
                   "the 'unaligned' of the same kernel",
                   self->info.name);
    return NULL;
  }
  PyObject *old = self->unaligned;
  self->unaligned = Py_NewRef(objects[1]);
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

static PyObject *kernel_entry(PyObject *object, PyObject *ignored) {
  (void)ignored;
  const void *bytes = NULL;
  size_t count = 0;
  dsv4_error *error = NULL;
  const dsv4_status status =
      dsv4_program_bytes(((kernel *)object)->program, &bytes, &count, &error);
  if (status != DSV4_OK) {
    raise_error(status, error);
    return NULL;
  }
  return PyBytes_FromStringAndSize(bytes, (Py_ssize_t)count);
}

static PyObject *kernel_repr(PyObject *object) {
  const kernel *self = (kernel *)object;
  PyObject *arguments = get_arguments(object, NULL);
  if (!arguments)
    return NULL;
  PyObject *text = PyUnicode_FromFormat(
      "<dsv4.Kernel '%s' for %s, arguments %R>", self->info.name,
      self->info.target == DSV4_TARGET_HOST ? "the host" : self->info.arch,
      arguments);
  Py_DECREF(arguments);
  return text;
}

/*===-- The type ---------------------------------------------------------===*/

static PyMethodDef methods[] = {
    {"launch", (PyCFunction)(void (*)(void))kernel_launch,
     METH_FASTCALL | METH_KEYWORDS,
     "launch(*arrays, stream=None, workspace=None)\n\n"
     "The same as a call of the kernel, and a little faster: keep\n"
     "`launch = kernel.launch` for a loop."},
    {"load", (PyCFunction)(void (*)(void))kernel_load,
     METH_VARARGS | METH_KEYWORDS,
     "load(device=0, stream=None)\n\n"
     "Loads the kernel on a device, so that no launch has to."},
    {"workspace_bytes", (PyCFunction)(void (*)(void))kernel_workspace_bytes,
     METH_FASTCALL,
     "workspace_bytes(*arrays)\n\nThe bytes of workspace of such a launch."},
    {"entry", kernel_entry, METH_NOARGS,
     "entry()\n\nThe compiled program as bytes, for dsv4.load()."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef attributes[] = {
    {"name", get_name, NULL, "Of the function of the program.", NULL},
    {"target", get_target, NULL, "'cuda' or 'host'.", NULL},
    {"arch", get_arch, NULL, "'sm_90a' for instance.", NULL},
    {"key", get_key, NULL, "The digest of what it was compiled from.", NULL},
    {"arguments", get_arguments, NULL, "The names of the arguments.", NULL},
    {"alignments", get_alignments, NULL,
     "Bytes that the first element of each argument is aligned to.", NULL},
    {"unaligned", get_unaligned, NULL,
     "The kernel that is launched for other addresses, or None: they are\n"
     "refused.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A compiled program.\n\n"
     "kernel(*arrays, stream=None, workspace=None) launches it, with one "
     "array\n"
     "or number for each name in `arguments`, on the current stream of the\n"
     "library that made the arrays, or on `stream`. dsv4.compile(),\n"
     "dsv4.prepare() and dsv4.load() make kernels."},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_call, kernel_call},
    {Py_tp_repr, kernel_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL}};

static PyType_Spec specification = {
    "dsv4.Kernel", sizeof(kernel), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int add_kernel_type(PyObject *module) {
  kernel_type = (PyTypeObject *)PyType_FromSpec(&specification);
  return kernel_type
             ? PyModule_AddObjectRef(module, "Kernel", (PyObject *)kernel_type)
             : -1;
}
