/* extension.h - What the files of dsv4._dsv4 share
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One extension module over the C interface, in the limited API of Python 3.10.
 * Its state is global: the GIL guards it.
 */

#ifndef DSV4_PYTHON_EXTENSION_H
#define DSV4_PYTHON_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "dlpack.h"
#include "dsv4.h"

/* As many as a program can have. */
#define MAX_ARGUMENTS 64

/*===-- Errors (errors.c) ------------------------------------------------===*/

int add_errors(PyObject *module);

/* Sets the exception of a status, with the attributes of `error`, which is
 * destroyed. */
void raise_error(dsv4_status status, dsv4_error *error);

/* The same for an error that is found before the library is called. */
void raise_argument(dsv4_status status, const char *id, const char *argument,
                    int index, const char *format, ...);

/* Whether the exception that is set is one of these. */
int is_own_error(void);

/*===-- Elements (elements.c) --------------------------------------------===*/

static inline int is_same_type(dsv4_type a, dsv4_type b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/* The name of an element, as 'bf16' or 'u8'. */
PyObject *name_element(dsv4_type type);

/* Finds the element of such a name. Returns 0, or -1 with an exception. */
int read_element(const char *name, dsv4_type *type);

/*===-- Arrays (arrays.c) ------------------------------------------------===*/

/* A view of an array. It lives until close_view(). */
typedef struct array_view {
  dsv4_dltensor tensor;
  /* For messages, set before it is opened: may be null and -1. */
  const char *name;
  int index;
  uint32_t flags;  /* DSV4_ARGUMENT_READ_ONLY */
  PyObject *owner; /* A capsule, or null: the array itself. */
  dlpack_versioned *managed;
  /* The tensor in another shape, if it is one. */
  int64_t shape[DSV4_MAX_RANK], strides[DSV4_MAX_RANK];
} array_view;

/* Where a launch goes. */
typedef struct stream_choice {
  void *stream;
  int given; /* By the caller, or known from an array. */
} stream_choice;

/* Whether an object is an array: its type has a table or __dlpack__. */
int is_array(PyObject *object);

/* Opens a view of a Python object. If a stream has to be known for that, and
 * `stream` has none, it is that of the producer. Returns 0, or -1 with an
 * exception. */
int open_view(PyObject *object, array_view *view, stream_choice *stream);
void close_view(array_view *view);

/* Whether all elements follow each other. */
int is_contiguous(const dsv4_dltensor *tensor);

/* The first element. */
static inline char *get_data(const array_view *view) {
  char *data = (char *)view->tensor.data;
  return data ? data + view->tensor.byte_offset : NULL;
}

/* Whether a type of device is CUDA's. */
static inline int is_on_device(int32_t type) {
  return type == DSV4_DEVICE_CUDA || type == DSV4_DEVICE_CUDA_MANAGED;
}

/* Sets the producer's current stream if `stream` has none. */
int find_stream(PyObject *object, const array_view *view,
                stream_choice *stream);

/* Reads the argument `stream` of a call: None, a number, or an object. */
int read_stream(PyObject *object, stream_choice *stream);

/* stream_address(stream) -> the address of what a call takes as `stream`. */
PyObject *stream_address(PyObject *module, PyObject *object);

/* A function of Python that knows streams of arrays without a table. */
PyObject *set_stream_hook(PyObject *module, PyObject *hook);

/* A function of Python: (an array of the bits of an array whose library cannot
 * export it, the element), or None. */
PyObject *set_bits_hook(PyObject *module, PyObject *hook);

/* current_stream(array) -> the address of its library's stream, or None. */
PyObject *current_stream(PyObject *module, PyObject *array);

/* describe(array) -> View. */
PyObject *describe(PyObject *module, PyObject *array);
int add_view_type(PyObject *module);

/* Fits a view to an array of a cache, whose elements are bytes and whose rank
 * is `rank`. Pages of rows and tails have `page_bytes`; other arrays -1. Arrays
 * that do not fit stay as they are. */
void view_as_bytes(array_view *view, int rank, int64_t page_bytes);

/*===-- What is not exported (exports.c) ----------------------------------===*/

/* Raises what is wrong with an array, which has a name in a call alone. Takes
 * the text. */
void refuse_view(const array_view *view, dsv4_status status, const char *id,
                 PyObject *text);

/* Takes the exception that is set, if it is of a caller's object or library:
 * those of dsv4, and those that end a program, stay, and null is returned. */
PyObject *take_foreign_error(void);

/* Makes an exception, which is taken, the cause of the one that is set. */
void raise_from(PyObject *cause);

/* An exception of the library of an array becomes one that names the array:
 * such arrays are sparse, say, or have no memory. Those that end a program
 * stay. */
void refuse_failed(const array_view *view);

/* Whether a tensor of torch may be a lazy view, whose memory has other numbers
 * than it: of complex numbers, or of the imaginary parts of a conjugate. Each
 * of these has a real part beside it, so that no stride is odd. To ask a tensor
 * takes longer than to open its view. */
int may_be_lazy(const dsv4_dltensor *tensor);

/* Asks a tensor of torch, and refuses a lazy view. Returns 0, or -1 with an
 * exception. */
int refuse_lazy(PyObject *object, const array_view *view);

/* The name of a type that no program has. */
PyObject *name_other_element(dsv4_type type);

/*===-- The runtime (runtime.c) ------------------------------------------===*/

/* The one runtime of the process, made at first use; null with an exception. */
dsv4_runtime *get_runtime(void);

/* Counts a call of a function that found its kernel in the process. */
void count_memory_hit(void);

/*===-- Events (events.c) ------------------------------------------------===*/

/* The callback of the library. Needs no GIL. */
void note_event(void *user, const dsv4_event *event);

/* Calls the hook with the events of this thread's last calls of the library.
 * Returns 0, or -1 with an exception, which is that of before, if there was
 * one. */
int deliver_events(void);

/* set_event_hook(hook): a function of (kind, text, milliseconds, bytes, device,
 * directory), or None. */
PyObject *set_event_hook(PyObject *module, PyObject *hook);

/*===-- Kernels (kernel.c) -----------------------------------------------===*/

int add_kernel_type(PyObject *module);

/* Takes the program. */
PyObject *make_kernel(dsv4_program *program);

/* join_kernels(kernel, other): `kernel` launches `other` for arrays whose
 * addresses are aligned less than it needs. */
PyObject *join_kernels(PyObject *module, PyObject *const *objects,
                       Py_ssize_t count);

/* Whether an object is a kernel. */
int is_kernel(PyObject *object);

/* check_contents(kernel, kind, argument, rows, table, pool, bound): launches
 * look at what their arrays hold. */
PyObject *check_contents(PyObject *module, PyObject *args);

/* Launches a kernel. `views` has open views of the objects: it may be null, as
 * each of them, and `stream` and `workspace`. Returns 0, or -1 with an
 * exception. */
int launch_kernel(PyObject *kernel, PyObject *const *objects,
                  const array_view *const *views, Py_ssize_t count,
                  PyObject *stream, PyObject *workspace);

/*===-- Planned calls (plan.c) -------------------------------------------===*/

int add_plan_type(PyObject *module);

/* launch_planned(plans, args, kwargs) -> what the function returns, or
 * NotImplemented: there is no plan of such a call. */
PyObject *launch_planned(PyObject *module, PyObject *const *objects,
                         Py_ssize_t count);

/* planned(plans, otherwise[, enabled, graded]) -> a function that launches its
 * plan. Calls without one are those of otherwise(args, kwargs), and where
 * enabled() is true and a tensor requires gradients, those of graded(). */
PyObject *planned(PyObject *module, PyObject *const *objects, Py_ssize_t count);

/* rest_plans(rest) -> what it was: whether plans launch nothing on this thread,
 * so that their functions are called. */
PyObject *rest_plans(PyObject *module, PyObject *flag);

/* describe_call(args, kwargs) -> (the key of its plan, its arrays), or
 * NotImplemented: such calls are not planned. */
PyObject *describe_call(PyObject *module, PyObject *const *objects,
                        Py_ssize_t count);

#endif /* DSV4_PYTHON_EXTENSION_H */
