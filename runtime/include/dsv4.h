/* dsv4.h - The C interface of dsv4
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The interface of libdsv4.so: load compiled programs, bind arguments and
 * launch. docs/EmbeddingInC.md is the guide. In short:
 *
 *   dsv4_runtime *runtime;  dsv4_program *program;  dsv4_block *block;
 *   dsv4_runtime_create(NULL, &runtime, NULL);
 *   dsv4_program_open(runtime, "topk.dsv4", &program, NULL);
 *   dsv4_bind(program, arguments, 3, NULL, &block, NULL);
 *   dsv4_launch(block, stream, NULL);           // in the request path
 *
 * Rules of every function and struct:
 *
 * Status. A function that can fail returns DSV4_OK (0) or the class of the
 * error. Its last parameter, `error`, may be null; if not, it receives null
 * or an object that the caller destroys. dsv4_last_error() has it, too. A
 * call that fails changes nothing unless its comment says otherwise: all
 * handles stay usable, and its output handles are null.
 *
 * Structs. The first field of each is `uint32_t size`: the caller sets it to
 * sizeof of the struct. Later versions add fields at the end only, and zero
 * is always the default. A struct that is larger than the library's is taken
 * if the bytes that the library does not know are zero, and refused if not
 * (id "struct.newer"). One of an older header is taken as if zeros followed.
 * To make one:
 *
 *   dsv4_tensor tensor = DSV4_INIT(dsv4_tensor);
 *
 * Strings are UTF-8 and end with a zero byte. Those that come from a handle
 * live as long as the handle.
 *
 * Threads. A runtime and a program may be used by any number of threads at
 * once, and a block by one at a time. Handles are destroyed in any order: a
 * block keeps its program alive, and a program its runtime. Destroying null
 * does nothing.
 *
 * Forks. A child of fork() may use the host target, whatever other threads of
 * the parent did meanwhile. If the parent used CUDA, CUDA is unavailable in the
 * child (id "driver.forked"), as the driver demands.
 *
 * CUDA. Streams are CUstream (or cudaStream_t) as void *; null is the
 * default stream. The device is that of the arguments. Calls use the
 * primary context of that device, as PyTorch, JAX and the CUDA runtime do:
 * they make it current where it is not, and make the caller's current again
 * before they return. Nothing here starts the driver before it is needed.
 */

#ifndef DSV4_H
#define DSV4_H

#include <stddef.h>
#include <stdint.h>

#if defined(DSV4_BUILDING_LIBRARY)
#define DSV4_API __attribute__((visibility("default")))
#else
#define DSV4_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Version ----------------------------------------------------------===*/

/* Of this header: major * 10000 + minor * 100 + patch. */
#define DSV4_VERSION 100
/* The binary interface: the number in the soname, libdsv4.so.1. Programs built
 * with one number run with every library of that number that is as new. */
#define DSV4_ABI 1

/* Those of the library that is loaded. */
DSV4_API uint32_t dsv4_version(void);
DSV4_API uint32_t dsv4_abi(void);

/* An initialiser of a struct: its size, and zeros. */
#ifdef __cplusplus
#define DSV4_INIT(type)                                                        \
  [] {                                                                         \
    type value = {};                                                           \
    value.size = static_cast<uint32_t>(sizeof(type));                          \
    return value;                                                              \
  }()
#else
#define DSV4_INIT(type) {.size = (uint32_t)sizeof(type)}
#endif

/*===-- Errors -----------------------------------------------------------===*/

typedef int32_t dsv4_status;

/* The classes of errors: who has to do something about it. */
enum {
  DSV4_OK = 0,
  /* A shape, stride, alignment, count, name, null or option is wrong. */
  DSV4_ERROR_INVALID_ARGUMENT = 1,
  /* The element type, kind of memory or device of an argument is wrong. */
  DSV4_ERROR_TYPE_MISMATCH = 2,
  /* The machine lacks something: a driver, a device, a compiler, memory. */
  DSV4_ERROR_UNAVAILABLE = 3,
  /* The compiler refused the program, or failed. */
  DSV4_ERROR_COMPILE_FAILED = 4,
  /* The driver or the loader refused the code of a kernel. */
  DSV4_ERROR_LOAD_FAILED = 5,
  /* The driver or the device reported an error of a launch. */
  DSV4_ERROR_LAUNCH_FAILED = 6,
  /* Bytes are no entry of this version, or are damaged: compile anew. */
  DSV4_ERROR_CORRUPT_ENTRY = 7,
  /* The call would have to compile, load or allocate while its stream captures
   * a graph, or after dsv4_freeze(): prepare before. */
  DSV4_ERROR_NOT_PREPARED = 8
};

/* The name of a class, "invalid argument" for instance. */
DSV4_API const char *dsv4_status_name(dsv4_status status);

/* An error. All pointers live as long as the error. */
typedef struct dsv4_error {
  uint32_t size;
  dsv4_status status;
  /* The same in every version and for every program, for code to compare:
   * "argument.extent". docs/EmbeddingInC.md lists them. Never null. */
  const char *id;
  /* One line: what is wrong, what was expected, what to do. Never null. */
  const char *message;
  /* The name of the argument that is wrong, or null. */
  const char *argument;
  /* The index of that argument, or -1. */
  int32_t argument_index;
  /* The CUresult that caused it, or 0. */
  int32_t driver_result;
} dsv4_error;

DSV4_API void dsv4_error_destroy(dsv4_error *error);

/* The error of the last call of this thread that failed, or null. It is valid
 * until the next call that fails on this thread. */
DSV4_API const dsv4_error *dsv4_last_error(void);

/*===-- The runtime ------------------------------------------------------===*/

typedef struct dsv4_runtime dsv4_runtime; /* Options, workspaces, counters. */
typedef struct dsv4_program dsv4_program; /* A compiled program. */
typedef struct dsv4_block dsv4_block;     /* Bound arguments of a program. */

enum {
  DSV4_EVENT_COMPILED = 1,   /* milliseconds; text: the program's name */
  DSV4_EVENT_COMPILE_FAILED, /* text: the message */
  DSV4_EVENT_LOADED,         /* device_id; text: the program's name */
  DSV4_EVENT_WORKSPACE_GREW, /* device_id, bytes */
  DSV4_EVENT_NOT_PREPARED,   /* text: the message */
  DSV4_EVENT_WARNING,        /* text, one line */
  DSV4_EVENT_DISK_HIT,       /* milliseconds; text: the program's name */
  DSV4_EVENT_CACHE_WARNING   /* directory; text: what is wrong, one line */
};

/* Later versions may have other kinds: ignore those that you do not know. */
typedef struct dsv4_event {
  uint32_t size;
  int32_t kind;
  const char *text; /* Never null; valid during the callback. */
  double milliseconds;
  uint64_t bytes;
  int32_t device_id; /* Or -1. */
  uint32_t reserved;
  const char *directory; /* Of the disk cache, or null. */
} dsv4_event;

/* Called on the thread whose call caused the event, without any lock held. It
 * must not call functions of this library other than dsv4_counters_read(), and
 * must not throw. A launch of what is prepared causes no event, but for
 * warnings on the host target. */
typedef void (*dsv4_event_callback)(void *user, const dsv4_event *event);

typedef struct dsv4_runtime_options {
  uint32_t size;
  uint32_t reserved; /* 0 */
  dsv4_event_callback on_event;
  void *user;
  /* The compiler, an executable file. Null: $DSV4_COMPILER, or `dsv4-compile`
   * beside libdsv4.so, or in ../bin of that directory, or in
   * ../libexec/dsv4. */
  const char *compiler;
  /* Directories where the compiler looks for NVRTC, separated by ':', before
   * those that it knows. Null: none. */
  const char *nvrtc_path;
  /* The compiler's disk cache. Null: $DSV4_CACHE_DIR or the user's cache
   * directory. Empty: no disk cache. */
  const char *cache_dir;
} dsv4_runtime_options;

/* Makes a runtime; `options` may be null. Starts no driver and no thread. One
 * per process is enough. */
DSV4_API dsv4_status dsv4_runtime_create(const dsv4_runtime_options *options,
                                         dsv4_runtime **runtime,
                                         dsv4_error **error);

/* Workspaces of the runtime that launches may still use, and kernels that
 * graphs may hold, stay until the process ends. */
DSV4_API void dsv4_runtime_destroy(dsv4_runtime *runtime);

/* From now on a call that would have to compile, load or grow a workspace
 * returns DSV4_ERROR_NOT_PREPARED. There is no way back. */
DSV4_API dsv4_status dsv4_freeze(dsv4_runtime *runtime, dsv4_error **error);

typedef struct dsv4_counters {
  uint32_t size;
  uint32_t reserved;
  uint64_t programs; /* Opened or compiled. */
  uint64_t compiles; /* Programs that were compiled. */
  uint64_t compile_failures;
  uint64_t loads; /* Programs loaded, per device. */
  uint64_t load_failures;
  uint64_t binds;           /* Successful dsv4_bind. */
  uint64_t calls;           /* Successful dsv4_call. */
  uint64_t not_prepared;    /* Calls refused with that class. */
  uint64_t errors;          /* Calls that failed, for whatever reason. */
  uint64_t workspace_bytes; /* Held for streams. */
  uint64_t disk_hits;       /* Programs that the disk cache had. */
  /* Compiles that waited for another process with the same program, */
  uint64_t waits;
  /* and those of them where it was stopped or took too long. */
  uint64_t passed_by;
  uint64_t warnings; /* Events that are warnings. */
} dsv4_counters;

DSV4_API dsv4_status dsv4_counters_read(const dsv4_runtime *runtime,
                                        dsv4_counters *counters,
                                        dsv4_error **error);

typedef struct dsv4_cache {
  uint32_t size;
  uint8_t used; /* 1: programs are kept there. */
  uint8_t reserved[3];
  /* An absolute path. Null: there is no disk cache, because `cache_dir` is
   * empty, or no variable names a directory. */
  const char *directory;
  /* Why the directory is not used, in one line, or null. */
  const char *problem;
} dsv4_cache;

/* The disk cache that a compile would use now. Makes no directory. The strings
 * live as long as the runtime. */
DSV4_API dsv4_status dsv4_cache_query(const dsv4_runtime *runtime,
                                      dsv4_cache *cache, dsv4_error **error);

/*===-- Devices ----------------------------------------------------------===*/

/* The numbers of DLPack's DLDeviceType. */
enum {
  DSV4_DEVICE_UNKNOWN = 0, /* Not in DLPack: the argument is not checked. */
  DSV4_DEVICE_CPU = 1,
  DSV4_DEVICE_CUDA = 2,
  DSV4_DEVICE_CUDA_HOST = 3,
  DSV4_DEVICE_CUDA_MANAGED = 13
};

typedef struct dsv4_device {
  uint32_t size;
  int32_t device_id;
  char name[128];
  char arch[16]; /* What to compile for: "sm_90a". */
  int32_t major, minor;
  int32_t multiprocessors;
  int32_t driver_version; /* 13000 for CUDA 13.0. */
  uint64_t memory_bytes;
} dsv4_device;

/* The number of CUDA devices. DSV4_ERROR_UNAVAILABLE, with the reason, if CUDA
 * cannot be used. Starts the driver. */
DSV4_API dsv4_status dsv4_device_count(dsv4_runtime *runtime, int32_t *count,
                                       dsv4_error **error);
DSV4_API dsv4_status dsv4_device_query(dsv4_runtime *runtime, int32_t device_id,
                                       dsv4_device *device, dsv4_error **error);

/*===-- Programs ---------------------------------------------------------===*/

/* Reads an entry: the file that the compiler writes. The bytes are checked and
 * may be freed afterwards. No code of theirs runs before dsv4_program_load(),
 * and no device is needed. Who can write entries can run code: open none of a
 * stranger. */
DSV4_API dsv4_status dsv4_program_open(dsv4_runtime *runtime, const char *path,
                                       dsv4_program **program,
                                       dsv4_error **error);
DSV4_API dsv4_status dsv4_program_open_memory(dsv4_runtime *runtime,
                                              const void *bytes, size_t count,
                                              dsv4_program **program,
                                              dsv4_error **error);

enum {
  DSV4_TARGET_AUTO = 0, /* CUDA if there is a device, else the host. */
  DSV4_TARGET_CUDA = 1,
  DSV4_TARGET_HOST = 2
};

typedef struct dsv4_compile_options {
  uint32_t size;
  int32_t target; /* DSV4_TARGET_... */
  /* The function to compile; null: the only one of the text. */
  const char *entry;
  /* Extents of exact dims, and bounds of buckets. */
  const char *const *dim_names;
  const int64_t *dim_values;
  uint32_t dim_count;
  /* The device whose architecture is compiled for, unless `arch` is given. */
  int32_t device_id;
  const char *arch;        /* "sm_90a"; null: that of the device. */
  const char *schedule;    /* #dsv4.schedule<...>; null: from the table. */
  const char *source_name; /* For messages; null: "program". */
  /* Milliseconds after which the compiler is killed; 0: 10 minutes. */
  uint32_t timeout_ms;
  /* 1: `stream` is where the program will be launched; if it captures, the call
   * is refused. */
  uint8_t check_stream;
  uint8_t reserved[3]; /* 0 */
  void *stream;
  /* Asked every 50 ms on the calling thread, without any lock held, while the
   * compiler runs. If it returns other than 0, the compiler is killed, and the
   * call fails with id "compile.stopped". It must not throw. Null: never. */
  int32_t (*should_stop)(void *user);
  void *stop_user;
} dsv4_compile_options;

/* Compiles `text` (null: refused) of `count` bytes; SIZE_MAX: up to its zero
 * byte. `options` may be null. Runs the compiler as a child process, and takes
 * what an earlier call left in its disk cache. The calling thread waits. The
 * child ends with this process, however that ends. The host target needs g++,
 * and CUDA needs NVRTC but no device if `arch` is given. */
DSV4_API dsv4_status dsv4_compile(dsv4_runtime *runtime, const char *text,
                                  size_t count,
                                  const dsv4_compile_options *options,
                                  dsv4_program **program, dsv4_error **error);

DSV4_API void dsv4_program_destroy(dsv4_program *program);

/* The bytes of the entry, for dsv4_program_open_memory() or a file. They live
 * as long as the program. */
DSV4_API dsv4_status dsv4_program_bytes(const dsv4_program *program,
                                        const void **bytes, size_t *count,
                                        dsv4_error **error);

/* Loads the program on a device, so that no launch has to. Loading it again
 * does nothing. `device_id` is ignored on the host target. If `stream` is not
 * null and captures, nothing is loaded: DSV4_ERROR_NOT_PREPARED. */
DSV4_API dsv4_status dsv4_program_load(dsv4_program *program, int32_t device_id,
                                       void *stream, dsv4_error **error);

typedef struct dsv4_program_info {
  uint32_t size;
  int32_t target;   /* DSV4_TARGET_CUDA or _HOST. */
  const char *name; /* Of the entry function. */
  const char *arch; /* "sm_90a". */
  const char *key;  /* The digest of what it was compiled from, in hex. */
  uint32_t bindings;
  uint32_t dims;
  uint32_t kernels;
  uint32_t reserved;
} dsv4_program_info;

DSV4_API dsv4_status dsv4_program_query(const dsv4_program *program,
                                        dsv4_program_info *info,
                                        dsv4_error **error);

#define DSV4_MAX_RANK 8
/* Alignment of a workspace, in bytes. */
#define DSV4_WORKSPACE_ALIGNMENT 16

/* DLPack's DLDataType: code, bits, lanes. All zero: unknown. */
typedef struct dsv4_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} dsv4_type;

/* The numbers of DLPack's DLDataTypeCode. */
enum {
  DSV4_TYPE_INT = 0,
  DSV4_TYPE_UINT = 1,
  DSV4_TYPE_FLOAT = 2,
  DSV4_TYPE_BFLOAT = 4,
  DSV4_TYPE_BOOL = 6,
  DSV4_TYPE_FLOAT8_E4M3FN = 10,
  DSV4_TYPE_FLOAT8_E5M2 = 12,
  DSV4_TYPE_FLOAT8_E8M0FNU = 14,
  DSV4_TYPE_FLOAT4_E2M1FN = 17
};

/* What a program takes as one argument. A binding may have axes of constant
 * extent, and axes whose extent is a dim: the same for all axes of that dim. */
typedef struct dsv4_binding {
  uint32_t size;
  int32_t rank;
  const char *name;    /* "indices", "cache", "cache.nope". */
  const char *element; /* The compiler's name: "i32", "bf16", "f8E4M3FN". */
  dsv4_type type;      /* The storage type: what an array of it has. */
  uint32_t element_bytes;
  uint8_t written; /* A destination. */
  uint8_t scalar;  /* One number, by its address in host memory. */
  uint8_t strided; /* Its strides may differ from contiguous ones. */
  uint8_t reserved[5];
  int64_t extents[DSV4_MAX_RANK]; /* In stored elements; -1: a dim. */
  int32_t dims[DSV4_MAX_RANK];    /* The index of the dim, or -1. */
  /* Bytes between neighbours along an axis; -1: of a dim, or contiguous over
   * extents that are dims. */
  int64_t strides[DSV4_MAX_RANK];
  /* The alignment of the first element that kernels rely on, in bytes: 1 if
   * they begin elsewhere. */
  uint32_t alignment;
  uint32_t reserved_end;
} dsv4_binding;

DSV4_API dsv4_status dsv4_program_binding(const dsv4_program *program,
                                          uint32_t index, dsv4_binding *binding,
                                          dsv4_error **error);

/* The index of the binding with this name, or -1. */
DSV4_API int32_t dsv4_program_find_binding(const dsv4_program *program,
                                           const char *name);

typedef struct dsv4_dim {
  uint32_t size;
  int32_t binding; /* Where it is read from. */
  const char *name;
  int32_t axis;
  uint8_t is_stride; /* A stride in elements, not an extent. */
  uint8_t reserved[3];
  int64_t min, max; /* Bounds. */
  int64_t multiple; /* It is a multiple of this power of two. */
} dsv4_dim;

DSV4_API dsv4_status dsv4_program_dim(const dsv4_program *program,
                                      uint32_t index, dsv4_dim *dim,
                                      dsv4_error **error);

typedef struct dsv4_kernel {
  uint32_t size;
  uint32_t registers; /* Per thread; 0: unknown. */
  const char *symbol;
  const char *schedule; /* Text, for people. */
  uint32_t spill_bytes;
  uint32_t image_bytes;
  uint32_t block[3];   /* Threads. */
  uint32_t cluster[3]; /* Blocks. */
  uint8_t uses_workspace;
  uint8_t reserved[7];
} dsv4_kernel;

DSV4_API dsv4_status dsv4_program_kernel(const dsv4_program *program,
                                         uint32_t index, dsv4_kernel *kernel,
                                         dsv4_error **error);

/*===-- Arguments --------------------------------------------------------===*/

/* The layout of DLPack 1.x's DLTensor: pass the address of one after a cast.
 * Strides count elements; null: contiguous. */
typedef struct dsv4_dltensor {
  void *data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  dsv4_type type;
  const int64_t *shape;
  const int64_t *strides;
  uint64_t byte_offset;
} dsv4_dltensor;

/* The library's own view of an array. */
typedef struct dsv4_tensor {
  uint32_t size;
  int32_t ndim;
  void *data;             /* The first element; null if the array is empty. */
  const int64_t *shape;   /* ndim extents. */
  const int64_t *strides; /* ndim strides in bytes; null: contiguous. */
  dsv4_type type;         /* Zeros: not checked. */
  int32_t device_type;    /* DSV4_DEVICE_...; 0: not checked. */
  int32_t device_id;
  uint32_t reserved; /* 0 */
} dsv4_tensor;

enum {
  DSV4_ARGUMENT_TENSOR = 0, /* value: a dsv4_tensor */
  DSV4_ARGUMENT_DLPACK = 1, /* value: a DLTensor */
  DSV4_ARGUMENT_SCALAR = 2  /* value: an int32_t, int64_t or float, as the
                               binding says; it is copied */
};

/* The program must not write to it (DLPack's flag of the same name). */
#define DSV4_ARGUMENT_READ_ONLY 1u

/* An argument, read during the call that it is given to. All elements of an
 * array of them have the same size. The memory that it
 * describes stays the caller's, and must live until the launches that use it
 * have ended.
 *
 * Types: a tensor has the binding's type. Elements of 8 and 16 bits that are
 * not integers may also be passed as unsigned integers of that width: FP8
 * scales and packed FP4 as uint8, bf16 as uint16.
 * Memory: programs for CUDA take device and managed memory of one device, and
 * those for the host take CPU memory. What a program writes must not overlap
 * another of its arguments. */
typedef struct dsv4_argument {
  uint32_t size;
  int32_t kind; /* DSV4_ARGUMENT_... */
  const void *value;
  uint32_t flags;
  uint32_t reserved; /* 0 */
} dsv4_argument;

/*===-- Workspaces -------------------------------------------------------===*/

/* Memory that the blocks of a launch share; only some programs need it. It is
 * zero before its first launch, and zero again after every launch, replays of
 * graphs included. Launches that may run at the same time need one each. Those
 * of one stream, of whatever programs, can share one. After a launch that
 * failed on the device it must be zeroed again.
 *
 * The caller's: give dsv4_workspace with memory of that device, zeroed once.
 * This is the choice where a graph is replayed beside other work.
 *
 * The runtime's: give none. The runtime has one per device and stream, made and
 * zeroed in the order of the stream when a launch needs more than there is, and
 * never freed before the process ends, because graphs may hold it. While the
 * stream captures it does not grow: that launch is DSV4_ERROR_NOT_PREPARED.
 * Call dsv4_reserve_workspace() before the capture, or launch once. A graph
 * keeps the workspace of the stream that it was captured on: its replays, and
 * launches on that stream, must not overlap in time. */
typedef struct dsv4_workspace {
  uint32_t size;
  uint32_t reserved; /* 0 */
  void *data;        /* Aligned to DSV4_WORKSPACE_ALIGNMENT. */
  uint64_t bytes;
} dsv4_workspace;

/* The bytes that a launch with these arguments needs; 0: none. Data pointers
 * may be null. `device_id` as for dsv4_program_load, which must have happened:
 * persistent kernels depend on the device. */
DSV4_API dsv4_status dsv4_workspace_bytes(dsv4_program *program,
                                          const dsv4_argument *arguments,
                                          uint32_t count, int32_t device_id,
                                          uint64_t *bytes, dsv4_error **error);

/* Makes the runtime's workspace of a stream at least `bytes` large. It waits
 * for nothing. */
DSV4_API dsv4_status dsv4_reserve_workspace(dsv4_runtime *runtime,
                                            int32_t device_id, void *stream,
                                            uint64_t bytes, dsv4_error **error);

/*===-- Launches ---------------------------------------------------------===*/

/* One launch without a block: checks the arguments (one per binding, in order)
 * and launches. Loads the program on the device of the arguments if it is not
 * loaded there. `workspace` may be null. On the host target the work is done
 * when it returns. Nothing is launched unless all checks pass. */
DSV4_API dsv4_status dsv4_call(dsv4_program *program,
                               const dsv4_argument *arguments, uint32_t count,
                               const dsv4_workspace *workspace, void *stream,
                               dsv4_error **error);

/* Checks the arguments and keeps all that a launch needs, so that a launch is
 * little more than the driver's. Loads the program as dsv4_call() does; if
 * `stream` is not null and captures, that is DSV4_ERROR_NOT_PREPARED. It is
 * used for nothing else: a block may be launched on any stream of its device.
 * Data may be null here, and set before the launch. */
DSV4_API dsv4_status dsv4_bind(dsv4_program *program,
                               const dsv4_argument *arguments, uint32_t count,
                               void *stream, dsv4_block **block,
                               dsv4_error **error);

DSV4_API void dsv4_block_destroy(dsv4_block *block);

/* Another address for a tensor of the same shape, strides and device: checked
 * for its alignment alone. The fastest way to change a block. */
DSV4_API dsv4_status dsv4_set_data(dsv4_block *block, uint32_t index,
                                   void *data, dsv4_error **error);

/* Another argument: type, device and rank are checked now, and how its shape
 * fits the others at the next launch, because several may change together. */
DSV4_API dsv4_status dsv4_set_argument(dsv4_block *block, uint32_t index,
                                       const dsv4_argument *argument,
                                       dsv4_error **error);

/* Another extent for every axis of a dim, such as the number of tokens. Arrays
 * bound without strides stay contiguous, and others keep their strides. Checked
 * at the next launch. */
DSV4_API dsv4_status dsv4_set_dim(dsv4_block *block, uint32_t dim,
                                  int64_t extent, dsv4_error **error);

/* The caller's workspace for the launches of the block; null: the runtime's. */
DSV4_API dsv4_status dsv4_set_workspace(dsv4_block *block,
                                        const dsv4_workspace *workspace,
                                        dsv4_error **error);

/* Checks what changed, as the next launch would; `bytes` (may be null) receives
 * the bytes of workspace that it needs. */
DSV4_API dsv4_status dsv4_block_check(dsv4_block *block, uint64_t *bytes,
                                      dsv4_error **error);

/* Launches the kernels of the block on a stream of its device. It checks what
 * changed since the last launch. If nothing did, it does not allocate, lock or
 * wait; with a workspace of the runtime it takes one lock. */
DSV4_API dsv4_status dsv4_launch(dsv4_block *block, void *stream,
                                 dsv4_error **error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DSV4_H */
