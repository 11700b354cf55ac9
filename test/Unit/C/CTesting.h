//===- CTesting.h - Programs and arguments for the C interface --*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_C_CTESTING_H
#define DSV4_TEST_UNIT_C_CTESTING_H

#include "FakeLibcuda.h"
#include "Samples.h"

#include "dsv4-runtime/Entry.h"
#include "dsv4.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <memory>
#include <string>

namespace dsv4::test {

/// The fake, opened before libdsv4.so asks for a driver.
inline FakeLibcuda &fakeCuda() {
  static FakeLibcuda *fake = [] {
    void *library = dlopen(DSV4_FAKE_LIBCUDA, RTLD_NOW | RTLD_GLOBAL);
    auto get =
        reinterpret_cast<FakeLibcuda *(*)()>(dlsym(library, "dsv4FakeLibcuda"));
    return get();
  }();
  return *fake;
}
inline void *currentContext() {
  return reinterpret_cast<void *(*)()>(
      dlsym(RTLD_DEFAULT, "dsv4FakeCurrentContext"))();
}
inline void setCurrentContext(void *context) {
  reinterpret_cast<void (*)(void *)>(
      dlsym(RTLD_DEFAULT, "dsv4FakeSetCurrentContext"))(context);
}

template <typename T>
T sized() {
  T value = {};
  value.size = sizeof(T);
  return value;
}

/// An error that frees itself.
class Error {
public:
  ~Error() { dsv4_error_destroy(error); }
  operator dsv4_error **() {
    dsv4_error_destroy(error);
    error = nullptr;
    return &error;
  }
  const dsv4_error *operator->() const { return error; }
  bool isSet() const { return error != nullptr; }
  std::string id() const { return error ? error->id : ""; }
  std::string message() const { return error ? error->message : ""; }
  std::string argument() const {
    return error && error->argument ? error->argument : "";
  }

private:
  dsv4_error *error = nullptr;
};

/// The events of a runtime, in order.
struct Events {
  std::vector<int32_t> kinds;
  std::vector<std::string> texts, directories;
  static void note(void *user, const dsv4_event *event) {
    auto *events = static_cast<Events *>(user);
    events->kinds.push_back(event->kind);
    events->texts.push_back(event->text);
    events->directories.push_back(event->directory ? event->directory : "");
  }
};

class RuntimeTest : public ::testing::Test {
protected:
  RuntimeTest() {
    FakeLibcuda &fake = fakeCuda();
    fake.loadResult = fake.launchResult = fake.allocateResult = 0;
    fake.launches = fake.loads = fake.allocations = 0;
    fake.takesNotes = true;
    setCurrentContext(nullptr);
    auto options = sized<dsv4_runtime_options>();
    options.on_event = Events::note;
    options.user = &events;
    EXPECT_EQ(dsv4_runtime_create(&options, &runtime, nullptr), DSV4_OK);
  }
  ~RuntimeTest() override { dsv4_runtime_destroy(runtime); }

  dsv4_program *open(const rt::CompiledProgram &compiled) {
    const std::string bytes = rt::serialize(compiled, "c0ffee");
    dsv4_program *program = nullptr;
    Error error;
    EXPECT_EQ(dsv4_program_open_memory(runtime, bytes.data(), bytes.size(),
                                       &program, error),
              DSV4_OK)
        << error.message();
    return program;
  }

  dsv4_counters counters() {
    auto counters = sized<dsv4_counters>();
    EXPECT_EQ(dsv4_counters_read(runtime, &counters, nullptr), DSV4_OK);
    return counters;
  }

  Events events;
  dsv4_runtime *runtime = nullptr;
};

/// Arguments of gatherInfo(): 3 tokens, 4 entries each, 5 pages. Their memory
/// is on the host; the fake reads none of it.
struct GatherArguments {
  GatherArguments() {
    bytes.resize(5 * 64 * 656 + 3 * 4 * 4 + 3 * 4 * 1024 + 3 * 128);
    auto address = reinterpret_cast<uintptr_t>(bytes.data());
    char *next = reinterpret_cast<char *>((address + 127) & ~uintptr_t(127));
    const int64_t shapes[3][3] = {{5, 64, 656}, {3, 4, 0}, {3, 4, 512}};
    const dsv4_type types[3] = {{DSV4_TYPE_UINT, 8, 1},
                                {DSV4_TYPE_INT, 32, 1},
                                {DSV4_TYPE_BFLOAT, 16, 1}};
    for (int i = 0; i < 3; ++i) {
      std::copy_n(shapes[i], 3, shape[i]);
      tensors[i] = sized<dsv4_tensor>();
      tensors[i].ndim = i == 1 ? 2 : 3;
      tensors[i].data = next;
      tensors[i].shape = shape[i];
      tensors[i].type = types[i];
      tensors[i].device_type = DSV4_DEVICE_CUDA;
      arguments[i] = sized<dsv4_argument>();
      arguments[i].value = &tensors[i];
      int64_t size = types[i].bits / 8;
      for (int axis = 0; axis < tensors[i].ndim; ++axis)
        size *= shape[i][axis];
      next += (size + 127) / 128 * 128;
    }
  }
  GatherArguments(const GatherArguments &) = delete;

  std::vector<char> bytes;
  int64_t shape[3][3];
  dsv4_tensor tensors[3];
  dsv4_argument arguments[3];
};

/// The sizes of the parameters of gatherInfo().
inline const std::vector<size_t> gatherSizes = {8, 8, 8, 4, 4, 8};
/// And of the kernels of scoresInfo(), with a workspace.
inline const std::vector<size_t> scoresSizes = {8, 8, 4, 8, 8, 4, 8, 8};

} // namespace dsv4::test

#endif // DSV4_TEST_UNIT_C_CTESTING_H
