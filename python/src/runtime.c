/* runtime.c - The runtime of the process: compiling, devices, counters
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "extension.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_DIMS 64

static dsv4_runtime *runtime;
/* Options of the runtime, before it is made. Null: the library's choice. */
static PyObject *compiler, *nvrtc_path, *cache_dir;

static const char *get_text(PyObject *text) {
  return text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
}

dsv4_runtime *get_runtime(void) {
  if (runtime)
    return runtime;
  dsv4_runtime_options options = DSV4_INIT(dsv4_runtime_options);
  options.compiler = get_text(compiler);
  options.nvrtc_path = get_text(nvrtc_path);
  options.cache_dir = get_text(cache_dir);
  options.on_event = note_event;
  if (PyErr_Occurred())
    return NULL;
  dsv4_error *error = NULL;
  const dsv4_status status = dsv4_runtime_create(&options, &runtime, &error);
  if (status != DSV4_OK)
    raise_error(status, error);
  return runtime;
}

/* Once the runtime runs, options can only be what they are: a second import of
 * the package sets them again. */
static int set_option(PyObject **option, PyObject *value) {
  if (!value || value == Py_None)
    return 0;
  if (!PyUnicode_Check(value)) {
    PyErr_SetString(PyExc_TypeError, "options of the runtime are strings");
    return -1;
  }
  if (runtime) {
    if (*option && PyUnicode_Compare(*option, value) == 0)
      return 0;
    raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "runtime.running", NULL, -1,
                   "the runtime is running: configure it before the first "
                   "kernel is compiled");
    return -1;
  }
  PyObject *old = *option;
  *option = Py_NewRef(value);
  Py_XDECREF(old);
  return 0;
}

static PyObject *configure(PyObject *module, PyObject *args, PyObject *named) {
  (void)module;
  static char *names[] = {"compiler", "nvrtc_path", "cache_dir", NULL};
  PyObject *values[3] = {NULL, NULL, NULL};
  if (!PyArg_ParseTupleAndKeywords(args, named, "|$OOO:configure", names,
                                   &values[0], &values[1], &values[2]))
    return NULL;
  if (set_option(&compiler, values[0]) < 0 ||
      set_option(&nvrtc_path, values[1]) < 0 ||
      set_option(&cache_dir, values[2]) < 0)
    return NULL;
  Py_RETURN_NONE;
}

/*===-- Programs ---------------------------------------------------------===*/

/* Names and extents of a dict. The names live as long as the dict. */
static int read_dims(PyObject *dims, const char **names, int64_t *values,
                     uint32_t *count) {
  *count = 0;
  if (!dims || dims == Py_None)
    return 0;
  if (!PyDict_Check(dims) || PyDict_Size(dims) > MAX_DIMS) {
    raise_argument(DSV4_ERROR_INVALID_ARGUMENT, "option.dims", "dims", -1,
                   "'dims' is a dict of at most %d extents by name", MAX_DIMS);
    return -1;
  }
  PyObject *name, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(dims, &position, &name, &value)) {
    names[*count] = PyUnicode_AsUTF8AndSize(name, NULL);
    values[*count] = PyLong_AsLongLong(value);
    if (!names[*count] || (values[*count] == -1 && PyErr_Occurred()))
      return -1;
    ++*count;
  }
  return 0;
}

/* Signals reach the main thread of Python, which is that of the process. */
static int is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

/* Runs the handlers of signals that came: that of Ctrl-C raises. `user` is the
 * state of the thread, which has released the GIL. */
static int32_t stops_for_signal(void *user) {
  PyThreadState **state = user;
  PyEval_RestoreThread(*state);
  const int raised = PyErr_CheckSignals() < 0;
  *state = PyEval_SaveThread();
  return raised;
}

/* Compiles without the GIL. An exception of a signal handler is that of the
 * call. */
static dsv4_program *run_compiler(dsv4_runtime *in, const char *text,
                                  size_t size, dsv4_compile_options *options) {
  dsv4_program *program = NULL;
  dsv4_error *error = NULL;
  PyThreadState *state;
  if (is_main_thread()) {
    options->should_stop = stops_for_signal;
    options->stop_user = &state;
  }
  state = PyEval_SaveThread();
  const dsv4_status status =
      dsv4_compile(in, text, size, options, &program, &error);
  PyEval_RestoreThread(state);
  if (PyErr_Occurred()) /* It has stopped the compile. */
    dsv4_error_destroy(error);
  else if (status != DSV4_OK)
    raise_error(status, error);
  if (deliver_events() < 0 || PyErr_Occurred()) {
    dsv4_program_destroy(program);
    return NULL;
  }
  return program;
}

static PyObject *compile(PyObject *module, PyObject *args, PyObject *named) {
  (void)module;
  static char *keywords[] = {"text",   "entry",    "dims",        "target",
                             "arch",   "schedule", "source_name", "device",
                             "stream", NULL};
  dsv4_compile_options options = DSV4_INIT(dsv4_compile_options);
  const char *text;
  Py_ssize_t size;
  PyObject *dims = NULL, *stream = NULL;
  if (!PyArg_ParseTupleAndKeywords(
          args, named, "s#|zOizzziO:compile", keywords, &text, &size,
          &options.entry, &dims, &options.target, &options.arch,
          &options.schedule, &options.source_name, &options.device_id, &stream))
    return NULL;
  const char *names[MAX_DIMS];
  int64_t values[MAX_DIMS];
  stream_choice choice = {NULL, 0};
  if (read_dims(dims, names, values, &options.dim_count) < 0 ||
      read_stream(stream, &choice) < 0)
    return NULL;
  options.dim_names = names;
  options.dim_values = values;
  options.check_stream = choice.given != 0;
  options.stream = choice.stream;
  dsv4_runtime *in = get_runtime();
  if (!in)
    return NULL;
  /* The strings belong to objects that the caller holds. */
  dsv4_program *program = run_compiler(in, text, (size_t)size, &options);
  return program ? make_kernel(program) : NULL;
}

static PyObject *open_entry(PyObject *module, PyObject *argument) {
  (void)module;
  char *bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(argument, &bytes, &size) < 0)
    return NULL;
  dsv4_runtime *in = get_runtime();
  if (!in)
    return NULL;
  dsv4_program *program = NULL;
  dsv4_error *error = NULL;
  dsv4_status status;
  Py_BEGIN_ALLOW_THREADS status =
      dsv4_program_open_memory(in, bytes, (size_t)size, &program, &error);
  Py_END_ALLOW_THREADS if (status != DSV4_OK) {
    raise_error(status, error);
    return NULL;
  }
  return make_kernel(program);
}

/*===-- Facts ------------------------------------------------------------===*/

static PyObject *version(PyObject *module, PyObject *ignored) {
  (void)module, (void)ignored;
  return Py_BuildValue("(II)", dsv4_version(), dsv4_abi());
}

static PyObject *device_count(PyObject *module, PyObject *ignored) {
  (void)module, (void)ignored;
  dsv4_runtime *in = get_runtime();
  if (!in)
    return NULL;
  int32_t count = 0;
  dsv4_error *error = NULL;
  dsv4_status status;
  Py_BEGIN_ALLOW_THREADS status = dsv4_device_count(in, &count, &error);
  Py_END_ALLOW_THREADS if (status != DSV4_OK) {
    raise_error(status, error);
    return NULL;
  }
  return PyLong_FromLong(count);
}

static PyObject *device(PyObject *module, PyObject *number) {
  (void)module;
  const long id = PyLong_AsLong(number);
  if (id == -1 && PyErr_Occurred())
    return NULL;
  dsv4_runtime *in = get_runtime();
  if (!in)
    return NULL;
  dsv4_device found = DSV4_INIT(dsv4_device);
  dsv4_error *error = NULL;
  dsv4_status status;
  /* The first one starts the driver. */
  Py_BEGIN_ALLOW_THREADS status =
      dsv4_device_query(in, (int32_t)id, &found, &error);
  Py_END_ALLOW_THREADS if (status != DSV4_OK) {
    raise_error(status, error);
    return NULL;
  }
  return Py_BuildValue("{sisssss(ii)sisisK}", "device", (int)found.device_id,
                       "name", found.name, "arch", found.arch, "capability",
                       (int)found.major, (int)found.minor, "multiprocessors",
                       (int)found.multiprocessors, "driver_version",
                       (int)found.driver_version, "memory_bytes",
                       (unsigned long long)found.memory_bytes);
}

/* The GIL guards it. */
static unsigned long long memory_hits;

void count_memory_hit(void) { ++memory_hits; }

static PyObject *note_memory_hit(PyObject *module, PyObject *ignored) {
  (void)module, (void)ignored;
  count_memory_hit();
  Py_RETURN_NONE;
}

static PyObject *cache(PyObject *module, PyObject *ignored) {
  (void)module, (void)ignored;
  dsv4_runtime *in = get_runtime();
  if (!in)
    return NULL;
  dsv4_cache found = DSV4_INIT(dsv4_cache);
  dsv4_error *error = NULL;
  const dsv4_status status = dsv4_cache_query(in, &found, &error);
  if (status != DSV4_OK) {
    raise_error(status, error);
    return NULL;
  }
  PyObject *directory = found.directory
                            ? PyUnicode_DecodeFSDefault(found.directory)
                            : Py_NewRef(Py_None);
  PyObject *problem =
      found.problem
          ? PyUnicode_DecodeUTF8(found.problem,
                                 (Py_ssize_t)strlen(found.problem), "replace")
          : Py_NewRef(Py_None);
  PyObject *result =
      directory && problem ? PyTuple_Pack(2, directory, problem) : NULL;
  Py_XDECREF(directory);
  Py_XDECREF(problem);
  return result;
}

static PyObject *counters(PyObject *module, PyObject *ignored) {
  (void)module, (void)ignored;
  dsv4_counters all = DSV4_INIT(dsv4_counters);
  if (runtime) {
    dsv4_error *error = NULL;
    const dsv4_status status = dsv4_counters_read(runtime, &all, &error);
    if (status != DSV4_OK) {
      raise_error(status, error);
      return NULL;
    }
  }
  typedef unsigned long long number;
  return Py_BuildValue(
      "{sKsKsKsKsKsKsKsKsKsKsKsKsKsKsK}", "programs", (number)all.programs,
      "memory_hits", memory_hits, "disk_hits", (number)all.disk_hits, "waits",
      (number)all.waits, "passed_by", (number)all.passed_by, "warnings",
      (number)all.warnings, "compiles", (number)all.compiles,
      "compile_failures", (number)all.compile_failures, "loads",
      (number)all.loads, "load_failures", (number)all.load_failures, "binds",
      (number)all.binds, "calls", (number)all.calls, "not_prepared",
      (number)all.not_prepared, "errors", (number)all.errors, "workspace_bytes",
      (number)all.workspace_bytes);
}

static PyObject *freeze(PyObject *module, PyObject *ignored) {
  (void)module, (void)ignored;
  dsv4_runtime *in = get_runtime();
  if (!in)
    return NULL;
  dsv4_error *error = NULL;
  const dsv4_status status = dsv4_freeze(in, &error);
  if (status != DSV4_OK) {
    raise_error(status, error);
    return NULL;
  }
  Py_RETURN_NONE;
}

#define WITH_KEYWORDS(function)                                                \
  (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef runtime_methods[] = {
    {"configure", WITH_KEYWORDS(configure), NULL},
    {"compile", WITH_KEYWORDS(compile), NULL},
    {"open_entry", open_entry, METH_O, NULL},
    {"check_contents", check_contents, METH_VARARGS, NULL},
    {"join_kernels", (PyCFunction)(void (*)(void))join_kernels, METH_FASTCALL,
     NULL},
    {"describe", describe, METH_O, NULL},
    {"current_stream", current_stream, METH_O, NULL},
    {"stream_address", stream_address, METH_O, NULL},
    {"launch_planned", (PyCFunction)(void (*)(void))launch_planned,
     METH_FASTCALL, NULL},
    {"planned", (PyCFunction)(void (*)(void))planned, METH_FASTCALL, NULL},
    {"describe_call", (PyCFunction)(void (*)(void))describe_call, METH_FASTCALL,
     NULL},
    {"rest_plans", rest_plans, METH_O, NULL},
    {"set_stream_hook", set_stream_hook, METH_O, NULL},
    {"set_bits_hook", set_bits_hook, METH_O, NULL},
    {"version", version, METH_NOARGS, NULL},
    {"device_count", device_count, METH_NOARGS, NULL},
    {"device", device, METH_O, NULL},
    {"counters", counters, METH_NOARGS, NULL},
    {"note_memory_hit", note_memory_hit, METH_NOARGS, NULL},
    {"cache", cache, METH_NOARGS, NULL},
    {"set_event_hook", set_event_hook, METH_O, NULL},
    {"freeze", freeze, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

/*===-- The module -------------------------------------------------------===*/

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "dsv4._dsv4",
                                        "The C interface of dsv4.",
                                        -1,
                                        runtime_methods,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__dsv4(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return NULL;
  if (dsv4_abi() != DSV4_ABI) {
    PyErr_Format(PyExc_ImportError,
                 "libdsv4.so has binary interface %u, expected %u: install "
                 "the library of this package",
                 (unsigned)dsv4_abi(), (unsigned)DSV4_ABI);
    Py_DECREF(module);
    return NULL;
  }
  if (add_errors(module) < 0 || add_view_type(module) < 0 ||
      add_kernel_type(module) < 0 || add_plan_type(module) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
