//===- dsv4.hpp - dsv4 in C++ -----------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer over dsv4.h without code of its own in libdsv4.so: handles that free
// themselves, spans, and exceptions. C++17; what a compiler makes of it is in
// the program, so programs and library need not agree about C++.
//
//   dsv4::Runtime runtime;
//   dsv4::Program program = runtime.open("topk.dsv4");
//   dsv4::Block block = program.bind({{scores, {rows, n}}, {out, {rows, k}}});
//   block.launch(stream); // In the request path.
//
// Functions throw dsv4::Error. Code that does without exceptions uses dsv4.h.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HPP
#define DSV4_HPP

#include "dsv4.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dsv4 {

/// An error of the library. what() is the message.
class Error : public std::runtime_error {
public:
  explicit Error(const dsv4_error &error)
      : std::runtime_error(error.message), code(error.status), name(error.id),
        wrong(error.argument ? error.argument : ""),
        index(error.argument_index), result(error.driver_result) {}

  dsv4_status status() const { return code; } ///< DSV4_ERROR_...
  /// Stays the same in every version: "argument.extent".
  const std::string &id() const { return name; }
  /// The name of the argument that is wrong, or "".
  const std::string &argument() const { return wrong; }
  int argumentIndex() const { return index; } ///< Or -1.
  int driverResult() const { return result; } ///< The CUresult, or 0.

private:
  dsv4_status code;
  std::string name, wrong;
  int index, result;
};

/// Throws the error of a call that failed.
inline void check(dsv4_status status) {
  if (status != DSV4_OK)
    throw Error(*dsv4_last_error());
}

/// Elements that somebody else owns, until the end of the call at least.
template <typename T>
class Span {
public:
  constexpr Span() = default;
  constexpr Span(const T *data, size_t size) : first(data), count(size) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr Span(std::initializer_list<T> list)
      : first(list.begin()), count(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  template <typename C, typename = decltype(std::declval<const C &>().data())>
  constexpr Span(const C &container)
      : first(container.data()), count(container.size()) {}

  constexpr const T *data() const { return first; }
  constexpr size_t size() const { return count; }
  constexpr const T *begin() const { return first; }
  constexpr const T *end() const { return first + count; }
  constexpr const T &operator[](size_t i) const { return first[i]; }

private:
  const T *first = nullptr;
  size_t count = 0;
};

/// The type of elements of C++; void: not known, and not checked.
template <typename T>
constexpr dsv4_type typeOf() {
  using Plain = std::remove_cv_t<T>;
  static_assert(std::is_void_v<Plain> || std::is_arithmetic_v<Plain>,
                "pass other elements as void *, or as unsigned integers");
  if constexpr (std::is_void_v<Plain>)
    return {};
  else
    return {static_cast<uint8_t>(std::is_same_v<Plain, bool> ? DSV4_TYPE_BOOL
                                 : std::is_floating_point_v<Plain>
                                     ? DSV4_TYPE_FLOAT
                                 : std::is_signed_v<Plain> ? DSV4_TYPE_INT
                                                           : DSV4_TYPE_UINT),
            static_cast<uint8_t>(8 * sizeof(Plain)), 1};
}

/// An argument: an array, a DLTensor or a number. It copies extents, strides
/// and numbers, but no elements.
class Argument {
public:
  /// An array. A `const` one is read-only. Strides count bytes; none:
  /// contiguous.
  template <typename T>
  Argument(T *data, Span<int64_t> extents, Span<int64_t> byteStrides = {})
      : argument(DSV4_INIT(dsv4_argument)), tensor(DSV4_INIT(dsv4_tensor)) {
    if (extents.size() > DSV4_MAX_RANK ||
        (byteStrides.size() && byteStrides.size() != extents.size()))
      throw std::invalid_argument(
          "dsv4::Argument: expected at most 8 extents, and as many strides");
    tensor.ndim = static_cast<int32_t>(extents.size());
    tensor.data = const_cast<std::remove_cv_t<T> *>(data);
    tensor.type = typeOf<T>();
    std::copy(extents.begin(), extents.end(), shape);
    std::copy(byteStrides.begin(), byteStrides.end(), strides);
    isStrided = byteStrides.size() != 0;
    if (std::is_const_v<T>)
      argument.flags = DSV4_ARGUMENT_READ_ONLY;
  }

  /// A view of the C interface.
  Argument(const dsv4_tensor &view)
      : Argument(
            view.data, {view.shape, static_cast<size_t>(view.ndim)},
            {view.strides, view.strides ? static_cast<size_t>(view.ndim) : 0}) {
    tensor.type = view.type;
    tensor.device_type = view.device_type;
    tensor.device_id = view.device_id;
  }

  /// The address of a DLPack DLTensor, which must live until the call ends.
  static Argument dlpack(const void *dltensor) {
    Argument made;
    made.argument.kind = DSV4_ARGUMENT_DLPACK;
    made.argument.value = dltensor;
    return made;
  }

  Argument(int32_t value) : Argument() { setScalar(value); }
  Argument(int64_t value) : Argument() { setScalar(value); }
  Argument(float value) : Argument() { setScalar(value); }

  Argument &readOnly() {
    argument.flags |= DSV4_ARGUMENT_READ_ONLY;
    return *this;
  }
  Argument &type(dsv4_type type) {
    tensor.type = type;
    return *this;
  }
  /// Memory of a CUDA device.
  Argument &onDevice(int32_t id) {
    tensor.device_type = DSV4_DEVICE_CUDA;
    tensor.device_id = id;
    return *this;
  }

  /// For a call of the C interface, during which this object must not move.
  dsv4_argument get() {
    dsv4_argument result = argument;
    if (argument.kind == DSV4_ARGUMENT_SCALAR)
      result.value = scalar;
    if (argument.kind == DSV4_ARGUMENT_TENSOR) {
      tensor.shape = shape;
      tensor.strides = isStrided ? strides : nullptr;
      result.value = &tensor;
    }
    return result;
  }

private:
  Argument()
      : argument(DSV4_INIT(dsv4_argument)), tensor(DSV4_INIT(dsv4_tensor)) {}
  template <typename T>
  void setScalar(T value) {
    argument.kind = DSV4_ARGUMENT_SCALAR;
    std::memcpy(scalar, &value, sizeof(value));
  }

  dsv4_argument argument;
  dsv4_tensor tensor;
  int64_t shape[DSV4_MAX_RANK], strides[DSV4_MAX_RANK];
  bool isStrided = false;
  alignas(8) unsigned char scalar[8];
};

/// The arguments of a launch, for the C interface.
class Arguments {
public:
  Arguments(std::initializer_list<Argument> given) : list(given) {}
  Arguments(std::vector<Argument> given) : list(std::move(given)) {}

  const dsv4_argument *data() {
    views.clear();
    for (Argument &each : list)
      views.push_back(each.get());
    return views.data();
  }
  uint32_t size() const { return static_cast<uint32_t>(list.size()); }

private:
  std::vector<Argument> list;
  std::vector<dsv4_argument> views;
};

namespace detail {
struct Destroy {
  void operator()(dsv4_runtime *handle) const { dsv4_runtime_destroy(handle); }
  void operator()(dsv4_program *handle) const { dsv4_program_destroy(handle); }
  void operator()(dsv4_block *handle) const { dsv4_block_destroy(handle); }
};
template <typename T>
using Handle = std::unique_ptr<T, Destroy>;
using Callback = std::function<void(const dsv4_event &)>;
} // namespace detail

/// Memory for the blocks of a launch: see dsv4_workspace.
struct Workspace {
  void *data = nullptr;
  uint64_t bytes = 0;
  dsv4_workspace get() const {
    dsv4_workspace value = DSV4_INIT(dsv4_workspace);
    value.data = data;
    value.bytes = bytes;
    return value;
  }
};

/// Bound arguments. Used by one thread at a time.
class Block {
public:
  void launch(void *stream = nullptr) {
    check(dsv4_launch(handle.get(), stream, nullptr));
  }
  void setData(uint32_t index, void *data) {
    check(dsv4_set_data(handle.get(), index, data, nullptr));
  }
  void setArgument(uint32_t index, Argument argument) {
    const dsv4_argument value = argument.get();
    check(dsv4_set_argument(handle.get(), index, &value, nullptr));
  }
  void setDim(uint32_t dim, int64_t extent) {
    check(dsv4_set_dim(handle.get(), dim, extent, nullptr));
  }
  /// One without memory: the runtime's.
  void setWorkspace(Workspace workspace) {
    const dsv4_workspace value = workspace.get();
    check(dsv4_set_workspace(handle.get(), value.data ? &value : nullptr,
                             nullptr));
  }
  /// Checks and packs what changed; returns the bytes of workspace that the
  /// next launch needs.
  uint64_t prepare() {
    uint64_t bytes = 0;
    check(dsv4_block_check(handle.get(), &bytes, nullptr));
    return bytes;
  }
  dsv4_block *get() const { return handle.get(); }

private:
  friend class Program;
  Block(dsv4_block *block, std::shared_ptr<detail::Callback> callback)
      : callback(std::move(callback)), handle(block) {}

  std::shared_ptr<detail::Callback> callback; ///< Lives as long as its events.
  detail::Handle<dsv4_block> handle;
};

/// A compiled program.
class Program {
public:
  dsv4_program_info info() const {
    return query<dsv4_program_info>(dsv4_program_query, handle.get());
  }
  std::string name() const { return info().name; }
  std::vector<dsv4_binding> bindings() const {
    return queryAll<dsv4_binding>(dsv4_program_binding, info().bindings);
  }
  std::vector<dsv4_dim> dims() const {
    return queryAll<dsv4_dim>(dsv4_program_dim, info().dims);
  }
  std::vector<dsv4_kernel> kernels() const {
    return queryAll<dsv4_kernel>(dsv4_program_kernel, info().kernels);
  }
  /// The index of a binding, or -1.
  int32_t find(const char *binding) const {
    return dsv4_program_find_binding(handle.get(), binding);
  }
  /// The entry, for a file.
  std::string_view bytes() const {
    const void *data = nullptr;
    size_t count = 0;
    check(dsv4_program_bytes(handle.get(), &data, &count, nullptr));
    return {static_cast<const char *>(data), count};
  }

  void load(int32_t device = 0, void *stream = nullptr) {
    check(dsv4_program_load(handle.get(), device, stream, nullptr));
  }
  void operator()(Arguments arguments, void *stream = nullptr) {
    check(dsv4_call(handle.get(), arguments.data(), arguments.size(), nullptr,
                    stream, nullptr));
  }
  void operator()(Arguments arguments, Workspace workspace, void *stream) {
    const dsv4_workspace value = workspace.get();
    check(dsv4_call(handle.get(), arguments.data(), arguments.size(), &value,
                    stream, nullptr));
  }
  Block bind(Arguments arguments, void *stream = nullptr) {
    dsv4_block *block = nullptr;
    check(dsv4_bind(handle.get(), arguments.data(), arguments.size(), stream,
                    &block, nullptr));
    return Block(block, callback);
  }
  uint64_t workspaceBytes(Arguments arguments, int32_t device = 0) {
    uint64_t bytes = 0;
    check(dsv4_workspace_bytes(handle.get(), arguments.data(), arguments.size(),
                               device, &bytes, nullptr));
    return bytes;
  }
  dsv4_program *get() const { return handle.get(); }

private:
  friend class Runtime;

  Program(dsv4_program *program, std::shared_ptr<detail::Callback> callback)
      : callback(std::move(callback)), handle(program) {}

  template <typename T, typename F, typename... As>
  static T query(F function, As... arguments) {
    T value = DSV4_INIT(T);
    check(function(arguments..., &value, nullptr));
    return value;
  }
  template <typename T, typename F>
  std::vector<T> queryAll(F function, uint32_t count) const {
    std::vector<T> values;
    for (uint32_t i = 0; i < count; ++i)
      values.push_back(query<T>(function, handle.get(), i));
    return values;
  }

  std::shared_ptr<detail::Callback> callback; ///< Lives as long as its events.
  detail::Handle<dsv4_program> handle;
};

/// How to compile; what is empty or 0 is the library's choice.
struct CompileOptions {
  int32_t target = DSV4_TARGET_AUTO;
  std::string entry, arch, schedule, sourceName;
  std::vector<std::pair<std::string, int64_t>> dims;
  int32_t device = 0;
  uint32_t timeoutMilliseconds = 0;
  std::function<bool()> shouldStop; ///< Asked meanwhile. It must not throw.
};

/// Options of a runtime; what is empty is the library's choice.
struct RuntimeOptions {
  std::function<void(const dsv4_event &)> onEvent; ///< It must not throw.
  std::string compiler, nvrtcPath;
  std::string cacheDirectory;
  bool useDiskCache = true;
};

class Runtime {
public:
  explicit Runtime(RuntimeOptions options = {}) {
    dsv4_runtime_options given = DSV4_INIT(dsv4_runtime_options);
    if (options.onEvent) {
      callback = std::make_shared<detail::Callback>(std::move(options.onEvent));
      given.user = callback.get();
      given.on_event = [](void *user, const dsv4_event *event) {
        (*static_cast<detail::Callback *>(user))(*event);
      };
    }
    given.compiler = orNull(options.compiler);
    given.nvrtc_path = orNull(options.nvrtcPath);
    given.cache_dir =
        options.useDiskCache ? orNull(options.cacheDirectory) : "";
    dsv4_runtime *runtime = nullptr;
    check(dsv4_runtime_create(&given, &runtime, nullptr));
    handle.reset(runtime);
  }

  Program open(const std::string &path) {
    dsv4_program *program = nullptr;
    check(dsv4_program_open(handle.get(), path.c_str(), &program, nullptr));
    return Program(program, callback);
  }
  Program openMemory(std::string_view bytes) {
    dsv4_program *program = nullptr;
    check(dsv4_program_open_memory(handle.get(), bytes.data(), bytes.size(),
                                   &program, nullptr));
    return Program(program, callback);
  }
  Program compile(std::string_view text, const CompileOptions &options = {}) {
    dsv4_compile_options given = DSV4_INIT(dsv4_compile_options);
    std::vector<const char *> names;
    std::vector<int64_t> values;
    for (const auto &[name, value] : options.dims) {
      names.push_back(name.c_str());
      values.push_back(value);
    }
    given.target = options.target;
    given.entry = orNull(options.entry);
    given.dim_names = names.data();
    given.dim_values = values.data();
    given.dim_count = static_cast<uint32_t>(names.size());
    given.device_id = options.device;
    given.arch = orNull(options.arch);
    given.schedule = orNull(options.schedule);
    given.source_name = orNull(options.sourceName);
    given.timeout_ms = options.timeoutMilliseconds;
    if (options.shouldStop) {
      given.should_stop = [](void *user) -> int32_t {
        return (*static_cast<const std::function<bool()> *>(user))();
      };
      given.stop_user =
          const_cast<std::function<bool()> *>(&options.shouldStop);
    }
    dsv4_program *program = nullptr;
    check(dsv4_compile(handle.get(), text.data(), text.size(), &given, &program,
                       nullptr));
    return Program(program, callback);
  }

  void freeze() { check(dsv4_freeze(handle.get(), nullptr)); }
  dsv4_counters counters() const {
    return Program::query<dsv4_counters>(dsv4_counters_read, handle.get());
  }
  /// The disk cache; its strings live as long as the runtime.
  dsv4_cache cache() const {
    return Program::query<dsv4_cache>(dsv4_cache_query, handle.get());
  }
  int32_t deviceCount() {
    int32_t count = 0;
    check(dsv4_device_count(handle.get(), &count, nullptr));
    return count;
  }
  dsv4_device device(int32_t id) {
    return Program::query<dsv4_device>(dsv4_device_query, handle.get(), id);
  }
  void reserveWorkspace(int32_t device, void *stream, uint64_t bytes) {
    check(dsv4_reserve_workspace(handle.get(), device, stream, bytes, nullptr));
  }
  dsv4_runtime *get() const { return handle.get(); }

private:
  static const char *orNull(const std::string &text) {
    return text.empty() ? nullptr : text.c_str();
  }

  std::shared_ptr<detail::Callback> callback;
  detail::Handle<dsv4_runtime> handle;
};

} // namespace dsv4

#endif // DSV4_HPP
