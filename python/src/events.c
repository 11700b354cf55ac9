/* events.c - Events of the library, for Python
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The library raises events while the thread has released the GIL, in code of
 * C++. They wait in a queue of the thread until its call is over: only then may
 * Python run, raise, and call the library again.
 */

#include "extension.h"

#include <stdlib.h>
#include <string.h>

typedef struct event {
  struct event *next;
  int32_t kind, device;
  double milliseconds;
  uint64_t bytes;
  const char *directory; /* Behind the text, or null. */
  char text[];
} event;

static _Thread_local event *first, *last;

/* A function of Python that receives them. */
static PyObject *event_hook;

void note_event(void *user, const dsv4_event *given) {
  (void)user;
  const size_t text = strlen(given->text) + 1;
  const size_t directory = given->directory ? strlen(given->directory) + 1 : 0;
  event *made = malloc(sizeof(event) + text + directory);
  if (!made)
    return;
  made->next = NULL;
  made->kind = given->kind;
  made->device = given->device_id;
  made->milliseconds = given->milliseconds;
  made->bytes = given->bytes;
  made->directory = directory ? made->text + text : NULL;
  memcpy(made->text, given->text, text);
  if (directory)
    memcpy(made->text + text, given->directory, directory);
  if (first)
    last->next = made;
  else
    first = made;
  last = made;
}

/* Calls the hook with one event. */
static int deliver(const event *each) {
  if (!event_hook || event_hook == Py_None)
    return 0;
  PyObject *text = PyUnicode_DecodeUTF8(
      each->text, (Py_ssize_t)strlen(each->text), "replace");
  PyObject *directory = each->directory
                            ? PyUnicode_DecodeFSDefault(each->directory)
                            : Py_NewRef(Py_None);
  PyObject *result =
      text && directory
          ? PyObject_CallFunction(
                event_hook, "iOdKiO", (int)each->kind, text, each->milliseconds,
                (unsigned long long)each->bytes, (int)each->device, directory)
          : NULL;
  Py_XDECREF(directory);
  Py_XDECREF(text);
  Py_XDECREF(result);
  return result ? 0 : -1;
}

static int deliver_all(void) {
  /* The exception of a call that failed stays that of the call. */
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  int result = 0;
  while (first) {
    event *each = first;
    first = each->next; /* The hook may cause others. */
    if (deliver(each) < 0) {
      result = -1;
      /* The first exception is raised, the others are reported. */
      if (type)
        PyErr_WriteUnraisable(event_hook);
      else
        PyErr_Fetch(&type, &value, &trace);
    }
    free(each);
  }
  if (type)
    PyErr_Restore(type, value, trace);
  return result;
}

int deliver_events(void) {
  return __builtin_expect(first == NULL, 1) ? 0 : deliver_all();
}

PyObject *set_event_hook(PyObject *module, PyObject *hook) {
  (void)module;
  PyObject *old = event_hook;
  event_hook = Py_NewRef(hook);
  Py_XDECREF(old);
  Py_RETURN_NONE;
}
