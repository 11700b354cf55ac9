//===- NVRTC.cpp - CUDA C++ text to machine code --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/JIT/NVRTC.h"

#include "LibraryFile.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

using namespace dsv4::jit;
using dsv4::rt::Code;
using dsv4::rt::Result;
using dsv4::rt::Status;

/// The oldest version that has every option used: 12.9.
static constexpr int oldestVersion = 12090;

//===----------------------------------------------------------------------===//
// Finding the library
//===----------------------------------------------------------------------===//

static std::vector<std::string> matches(const std::string &pattern) {
  std::vector<std::string> paths;
  glob_t found;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

/// The file of a library that is open in this process.
static std::string pathOf(void *library) {
  struct link_map *map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name)
    return "";
  return map->l_name;
}

/// The copy of NVRTC that the process has open already (PyTorch's, say), if
/// any. Asking the loader by name would cost a search of its directories.
static std::string loadedLibrary() {
  std::string path;
  ::dl_iterate_phdr(
      [](struct dl_phdr_info *info, size_t, void *data) {
        const char *slash = std::strrchr(info->dlpi_name, '/');
        if (!slash || std::strncmp(slash, "/libnvrtc.so", 12) != 0)
          return 0;
        *static_cast<std::string *>(data) = info->dlpi_name;
        return 1;
      },
      &path);
  return path;
}

/// Where NVRTC is looked for, best first.
static std::vector<std::string> directories() {
  std::vector<std::string> dirs;
  if (const char *list = std::getenv("LD_LIBRARY_PATH")) {
    for (const char *at = list; *at;) {
      size_t length = std::strcspn(at, ":");
      if (length)
        dirs.emplace_back(at, length);
      at += length + (at[length] == ':');
    }
  }
  std::vector<std::string> toolkits;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable); root && *root)
      toolkits.push_back(root);
  toolkits.push_back("/usr/local/cuda");
  for (const std::string &root : toolkits)
    for (const char *sub : {"/lib64", "/lib", "/targets/x86_64-linux/lib",
                            "/targets/sbsa-linux/lib"})
      dirs.push_back(root + sub);
  return dirs;
}

/// Where pip puts the package nvidia-cuda-nvrtc.
static std::vector<std::string> pipDirectories() {
  std::vector<std::string> roots;
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char *root = std::getenv(variable); root && *root)
      roots.push_back(root);
  if (const char *home = std::getenv("HOME"); home && *home)
    roots.push_back(std::string(home) + "/.local");
  roots.push_back("/usr/local");
  roots.push_back("/usr");
  std::vector<std::string> dirs;
  for (const std::string &root : roots)
    for (const char *package : {"nvidia/cu13", "nvidia/cuda_nvrtc"})
      for (std::string &dir :
           matches(root + "/lib/python3*/*-packages/" + package + "/lib"))
        dirs.push_back(std::move(dir));
  return dirs;
}

static std::string findLibrary() {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                      "libnvrtc.so"};
  if (std::string loaded = loadedLibrary(); !loaded.empty())
    return loaded;
  for (bool pip : {false, true})
    for (const std::string &dir : pip ? pipDirectories() : directories())
      for (const char *name : names)
        if (std::string path = dir + "/" + name;
            ::access(path.c_str(), R_OK) == 0)
          return path;
  // Last, what only the loader's own configuration knows of.
  for (const char *name : names)
    if (void *loaded = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL))
      return pathOf(loaded);
  return "";
}

const std::string &NVRTC::libraryPath() {
  static const std::string *path = new std::string(findLibrary());
  return *path;
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

const std::string &NVRTC::identity() {
  static const std::string *id =
      new std::string(identifyLibrary(libraryPath()));
  return *id;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

// name in the table, symbol in libnvrtc, parameters; all return nvrtcResult.
#define DSV4_NVRTC_ENTRY_POINTS(X)                                             \
  X(version, nvrtcVersion, (int *, int *))                                     \
  X(archCount, nvrtcGetNumSupportedArchs, (int *))                             \
  X(archList, nvrtcGetSupportedArchs, (int *))                                 \
  X(create, nvrtcCreateProgram,                                                \
    (void **, const char *, const char *, int, const char *const *,            \
     const char *const *))                                                     \
  X(destroy, nvrtcDestroyProgram, (void **))                                   \
  X(compile, nvrtcCompileProgram, (void *, int, const char *const *))          \
  X(cubinSize, nvrtcGetCUBINSize, (void *, size_t *))                          \
  X(cubin, nvrtcGetCUBIN, (void *, char *))                                    \
  X(ptxSize, nvrtcGetPTXSize, (void *, size_t *))                              \
  X(ptx, nvrtcGetPTX, (void *, char *))                                        \
  X(logSize, nvrtcGetProgramLogSize, (void *, size_t *))                       \
  X(log, nvrtcGetProgramLog, (void *, char *))

struct NVRTC::API {
#define DSV4_MEMBER(NAME, SYMBOL, PARAMETERS) int(*NAME) PARAMETERS = nullptr;
  DSV4_NVRTC_ENTRY_POINTS(DSV4_MEMBER)
#undef DSV4_MEMBER
  const char *(*errorString)(int) = nullptr;
};

NVRTC::NVRTC() : api(std::make_unique<API>()) {}
NVRTC::~NVRTC() = default;

static Status unavailable(const std::string &message) {
  return Status(Code::Unavailable, message);
}

/// The loader ends a process by SIGBUS where a file is cut off.
static Status checkFile(const std::string &path) {
  const std::string damage = findDamage(path);
  return damage.empty() ? Status()
                        : unavailable("NVRTC '" + path + "' " + damage +
                                      ": install it again");
}

/// NVRTC opens its builtins by bare name and finds them only on the loader's
/// path; once they are in the process it finds them anywhere.
static Status openBuiltins(const std::string &library) {
  char resolved[PATH_MAX];
  if (!::realpath(library.c_str(), resolved))
    return Status();
  std::string dir(resolved);
  dir.resize(dir.rfind('/'));
  for (const std::string &path :
       matches(dir + "/libnvrtc-builtins.so.[0-9]*")) {
    if (Status status = checkFile(path); !status)
      return status;
    (void)::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return Status();
}

Status NVRTC::open() {
  const std::string &path = libraryPath();
  if (path.empty())
    return unavailable(
        "no NVRTC (neither libnvrtc.so.13 nor libnvrtc.so.12 found): install "
        "cuda-nvrtc-13-0 from NVIDIA's apt repository, or `pip install "
        "nvidia-cuda-nvrtc`, or for a driver of CUDA 12 cuda-nvrtc-12-9 or "
        "`pip install nvidia-cuda-nvrtc-cu12`, or set CUDA_HOME");
  if (Status status = checkFile(path); !status)
    return status;
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = ::dlerror();
    return unavailable("cannot open NVRTC '" + path +
                       "': " + (why ? why : "unknown error"));
  }
  bool complete = true;
#define DSV4_RESOLVE(NAME, SYMBOL, PARAMETERS)                                 \
  api->NAME =                                                                  \
      reinterpret_cast<decltype(api->NAME)>(::dlsym(library, #SYMBOL));        \
  complete &= api->NAME != nullptr;
  DSV4_NVRTC_ENTRY_POINTS(DSV4_RESOLVE)
#undef DSV4_RESOLVE
  api->errorString = reinterpret_cast<decltype(api->errorString)>(
      ::dlsym(library, "nvrtcGetErrorString"));
  int major = 0, minor = 0, count = 0;
  if (!complete || !api->errorString || api->version(&major, &minor) != 0)
    return unavailable("'" + path +
                       "' is not a usable NVRTC: install 12.9 or newer");
  libraryVersion = major * 1000 + minor * 10;
  if (libraryVersion < oldestVersion)
    return unavailable("NVRTC " + std::to_string(major) + "." +
                       std::to_string(minor) + " at '" + path +
                       "' is too old: install 12.9 or newer");
  if (api->archCount(&count) == 0 && count > 0 && count < 1000) {
    archs.resize(size_t(count));
    if (api->archList(archs.data()) != 0)
      archs.clear();
  }
  return openBuiltins(path);
}

Result<NVRTC *> NVRTC::get() {
  struct State {
    NVRTC nvrtc;
    Status failure;
    State() { failure = nvrtc.open(); }
  };
  static State *state = new State();
  if (!state->failure.ok())
    return state->failure;
  return &state->nvrtc;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

std::vector<std::string> NVRTC::options(const std::string &arch,
                                        const std::vector<std::string> &extra) {
  std::vector<std::string> all = {
      "-arch=" + arch,       "--no-cache", "--modify-stack-limit=false",
      "--no-source-include", "-std=c++17", "-default-device",
      "--minimal",           "-Xptxas=-v"};
  all.insert(all.end(), extra.begin(), extra.end());
  return all;
}

Status NVRTC::checkArch(const std::string &arch) const {
  size_t digits = 3;
  int number = 0;
  while (digits < arch.size() && digits < 7 && arch[digits] >= '0' &&
         arch[digits] <= '9')
    number = number * 10 + (arch[digits++] - '0');
  std::string suffix = arch.substr(std::min(digits, arch.size()));
  bool plain = suffix.empty();
  bool specific =
      (suffix == "a" && number >= 90) || (suffix == "f" && number >= 100);
  if (arch.compare(0, 3, "sm_") == 0 && (plain || specific) &&
      (archs.empty() ||
       std::find(archs.begin(), archs.end(), number) != archs.end()))
    return Status();
  std::string known;
  for (int each : archs)
    known += (known.empty() ? "sm_" : ", sm_") + std::to_string(each);
  return Status(Code::InvalidArgument,
                "NVRTC " + std::to_string(libraryVersion / 1000) + "." +
                    std::to_string(libraryVersion % 1000 / 10) +
                    " does not know target '" + arch + "': it knows " + known +
                    " (also sm_90a; a and f from sm_100 on)");
}

/// The largest number that stands before `after` anywhere in the log.
static uint32_t largestBefore(const std::string &log, const char *after) {
  uint32_t largest = 0;
  for (size_t at = log.find(after); at != std::string::npos;
       at = log.find(after, at + 1)) {
    size_t begin = at;
    while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9')
      --begin;
    unsigned long value = std::strtoul(log.c_str() + begin, nullptr, 10);
    largest = std::max(largest, uint32_t(std::min(value, 0xfffffffful)));
  }
  return largest;
}

/// The line to show of a failed compile's log.
static std::string firstError(const std::string &log) {
  size_t error = log.find("error");
  size_t begin = 0;
  if (error != std::string::npos)
    begin = log.rfind('\n', error) + 1; // npos + 1 is 0.
  size_t end = log.find('\n', begin);
  return log.substr(begin, end == std::string::npos ? end : end - begin);
}

namespace {
/// One compile, as its thread sees it.
struct Job {
  const NVRTC::API &api;
  const std::string &source;
  const std::string &name;
  const std::string &arch;
  std::vector<std::string> options;
  NVRTCOutput output;
  Status status;

  using Size = int (*)(void *, size_t *);
  using Read = int (*)(void *, char *);
  static bool fetch(void *program, Size size, Read read, std::string &out) {
    size_t bytes = 0;
    if (size(program, &bytes) != 0)
      return false;
    out.resize(bytes);
    return bytes == 0 || read(program, out.data()) == 0;
  }

  void run() {
    void *program = nullptr;
    int result =
        api.create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr);
    if (result != 0) {
      status = Status(Code::CompileFailed,
                      "'" + name +
                          "': NVRTC cannot start: " + api.errorString(result));
      return;
    }
    std::vector<const char *> list;
    for (const std::string &option : options)
      list.push_back(option.c_str());
    result = api.compile(program, int(list.size()), list.data());
    (void)fetch(program, api.logSize, api.log, output.log);
    while (!output.log.empty() && output.log.back() == '\0')
      output.log.pop_back();
    if (result != 0) {
      std::string error = firstError(output.log);
      status = Status(Code::CompileFailed,
                      "'" + name + "' for " + arch + ": " +
                          (error.empty() ? api.errorString(result) : error));
    } else if (!fetch(program, api.cubinSize, api.cubin, output.cubin) ||
               !fetch(program, api.ptxSize, api.ptx, output.ptx) ||
               output.cubin.empty()) {
      status = Status(Code::CompileFailed,
                      "'" + name + "' for " + arch + ": NVRTC gave no cubin");
    }
    if (!output.ptx.empty() && output.ptx.back() == '\0')
      output.ptx.pop_back();
    api.destroy(&program);
  }

  static void *entry(void *self) {
    static_cast<Job *>(self)->run();
    return nullptr;
  }
};
} // namespace

Result<NVRTCOutput> NVRTC::compile(const std::string &source,
                                   const std::string &name,
                                   const std::string &arch,
                                   const std::vector<std::string> &extra,
                                   std::string *log) const {
  if (log)
    log->clear();
  if (Status status = checkArch(arch); !status)
    return status;
  Job job{*api, source, name, arch, options(arch, extra), {}, {}};

  pthread_attr_t attributes;
  pthread_t thread;
  int failed = ::pthread_attr_init(&attributes);
  if (!failed) {
    failed = ::pthread_attr_setstacksize(&attributes, size_t(8) << 20);
    if (!failed)
      failed = ::pthread_create(&thread, &attributes, Job::entry, &job);
    ::pthread_attr_destroy(&attributes);
  }
  if (failed)
    return Status(Code::CompileFailed,
                  "'" + name + "': cannot start a thread to compile on: " +
                      std::strerror(failed));
  ::pthread_join(thread, nullptr);

  if (log)
    *log = job.output.log;
  if (!job.status)
    return job.status;
  job.output.registers = largestBefore(job.output.log, " registers");
  job.output.spillBytes = largestBefore(job.output.log, " bytes spill stores");
  job.output.stackBytes = largestBefore(job.output.log, " bytes stack frame");
  job.output.sharedBytes = largestBefore(job.output.log, " bytes smem");
  return std::move(job.output);
}
