//===- CompileTest.cpp - Compiles by a child process ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CTesting.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace dsv4;
using namespace dsv4::test;

namespace {

/// A compiler that is a shell script.
class CompileTest : public RuntimeTest {
protected:
  void SetUp() override {
    char name[] = "/tmp/dsv4-c-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override {
    const std::string command = "rm -r " + folder;
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

  /// Compiles with a script instead of the compiler.
  dsv4_status compile(const std::string &script,
                      const dsv4_compile_options *options = nullptr,
                      const char *cache = nullptr,
                      dsv4_counters *counted = nullptr) {
    const std::string path = folder + "/compiler";
    std::ofstream(path) << "#!" << shell << "\n" << script << "\n";
    chmod(path.c_str(), 0700);
    auto runtimeOptions = sized<dsv4_runtime_options>();
    runtimeOptions.compiler = path.c_str();
    runtimeOptions.cache_dir = cache;
    runtimeOptions.nvrtc_path = "/some/where";
    runtimeOptions.on_event = Events::note;
    runtimeOptions.user = &events;
    dsv4_runtime *with = nullptr;
    EXPECT_EQ(dsv4_runtime_create(&runtimeOptions, &with, nullptr), DSV4_OK);
    dsv4_program_destroy(program);
    const dsv4_status status =
        dsv4_compile(with, "the text", SIZE_MAX, options, &program, error);
    if (counted) {
      EXPECT_EQ(dsv4_counters_read(with, counted, nullptr), DSV4_OK);
    }
    dsv4_runtime_destroy(with);
    return status;
  }
  ~CompileTest() override { dsv4_program_destroy(program); }

  Error error;
  const char *shell = "/bin/sh";
  std::string folder;
  dsv4_program *program = nullptr;
};

TEST_F(CompileTest, GivesAProgram) {
  rt::CompiledProgram compiled = rt::test::gatherProgram("cuda");
  compiled.images[0].assign(1 << 20, 'x'); // More than a pipe holds.
  std::ofstream(folder + "/entry", std::ios::binary)
      << rt::serialize(compiled, "abc");
  auto options = sized<dsv4_compile_options>();
  const char *names[] = {"tokens", "k"};
  const int64_t values[] = {5, 64};
  options.target = DSV4_TARGET_CUDA;
  options.arch = "sm_100a";
  options.entry = "gather";
  options.dim_names = names;
  options.dim_values = values;
  options.dim_count = 2;
  ASSERT_EQ(compile("cat > " + folder +
                        "/text; echo \"$@ $LD_LIBRARY_PATH\" > " + folder +
                        "/words; echo careful >&2; cat " + folder + "/entry",
                    &options, "/c d"),
            DSV4_OK)
      << error.message();
  auto info = sized<dsv4_program_info>();
  ASSERT_EQ(dsv4_program_query(program, &info, error), DSV4_OK);
  EXPECT_STREQ(info.name, "gather");
  const void *bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(dsv4_program_bytes(program, &bytes, &size, error), DSV4_OK);
  EXPECT_EQ(std::string(static_cast<const char *>(bytes), size),
            rt::serialize(compiled, "abc"));
  std::string text, words;
  std::getline(std::ifstream(folder + "/text"), text);
  std::getline(std::ifstream(folder + "/words"), words);
  EXPECT_EQ(text, "the text");
  EXPECT_EQ(words.substr(0, words.find(" /some/where")),
            "- -o - --target=cuda --arch=sm_100a --entry=gather "
            "--dim=tokens=5 --dim=k=64 --cache-dir=/c d --caller=" +
                std::to_string(getpid()) +
                " --deadline=601000 --report-file=3");
  ASSERT_EQ(events.kinds.size(), 2u);
  EXPECT_EQ(events.kinds[0], DSV4_EVENT_WARNING);
  EXPECT_EQ(events.texts[0], "careful ");
  EXPECT_EQ(events.kinds[1], DSV4_EVENT_COMPILED);
}

/// Files, signals and preloaded tools of the engine stay out of the compiler.
TEST_F(CompileTest, TheChildIsFresh) {
  const int file = dup2(STDERR_FILENO, 57);
  ASSERT_EQ(file, 57);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto handler = signal(SIGPIPE, SIG_IGN);
  setenv("LD_PRELOAD", "", 1);
  shell = "/bin/bash"; // Others clear the mask themselves.
  // Not the first and last bits: libc keeps two signals to itself, and the
  // shell ignores SIGQUIT.
  EXPECT_EQ(
      compile("while read -r name mask; do case $name in SigBlk:|SigIgn:)"
              "  echo $name ${mask:9:6} >&2;; esac; done < /proc/$$/status;"
              "if [ -e /proc/$$/fd/57 ]; then echo file >&2; fi;"
              "echo \"${LD_PRELOAD-unset}\" >&2; exit 1"),
      DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.message(), "SigBlk: 000000 SigIgn: 000000 unset");
  unsetenv("LD_PRELOAD");
  signal(SIGPIPE, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(file);
}

/// What the compiler has started ends with it.
TEST_F(CompileTest, TimeoutsEndAllOfIt) {
  auto options = sized<dsv4_compile_options>();
  options.timeout_ms = 1000;
  EXPECT_EQ(compile("sleep 100 & echo $! > " + folder + "/pid; wait", &options),
            DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.id(), "compile.timeout");
  std::string pid;
  std::getline(std::ifstream(folder + "/pid"), pid);
  ASSERT_FALSE(pid.empty());
  // Whoever inherits it may let it be a zombie for a while.
  auto isRunning = [&] {
    std::string stat;
    std::getline(std::ifstream("/proc/" + pid + "/stat"), stat);
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
  };
  for (int i = 0; i < 200 && isRunning(); ++i)
    usleep(10000);
  EXPECT_FALSE(isRunning());
}

/// It needs no descriptor of the child, which some containers refuse. Here
/// there are only as many as the texts of the compiler need.
TEST_F(CompileTest, TimeoutsWithoutADescriptor) {
  constexpr int last = 200;
  std::vector<int> files;
  while (files.empty() || files.back() < last)
    files.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = last + 5;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  auto options = sized<dsv4_compile_options>();
  options.timeout_ms = 100;
  EXPECT_EQ(compile("exec sleep 3", &options), DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.id(), "compile.timeout") << error.message();
  options.timeout_ms = 60000;
  EXPECT_EQ(compile("exit 3", &options), DSV4_ERROR_UNAVAILABLE);
  EXPECT_EQ(error.id(), "compile.unavailable") << error.message();
  setrlimit(RLIMIT_NOFILE, &before);
  for (int file : files)
    close(file);
}

/// What the compiler reports is counted and raised.
TEST_F(CompileTest, Reports) {
  std::ofstream(folder + "/entry", std::ios::binary)
      << rt::serialize(rt::test::gatherProgram("cuda"), "abc");
  auto counted = sized<dsv4_counters>();
  auto compileWith = [&](const std::string &report) {
    events = {};
    ASSERT_EQ(compile("printf '" + report + "' >&3; cat " + folder + "/entry",
                      nullptr, nullptr, &counted),
              DSV4_OK)
        << error.message();
  };
  compileWith("");
  EXPECT_EQ(events.kinds, std::vector<int32_t>{DSV4_EVENT_COMPILED});
  EXPECT_EQ(counted.compiles, 1u);
  EXPECT_EQ(counted.disk_hits, 0u);
  compileWith("cache /c d\\nwarning it is full\\nwaited\\nnews of later "
              "versions\\nhit\\n");
  EXPECT_EQ(events.kinds, (std::vector<int32_t>{DSV4_EVENT_CACHE_WARNING,
                                                DSV4_EVENT_DISK_HIT}));
  EXPECT_EQ(events.texts, (std::vector<std::string>{"it is full", "gather"}));
  EXPECT_EQ(events.directories, (std::vector<std::string>{"/c d", ""}));
  EXPECT_EQ(counted.compiles, 0u);
  EXPECT_EQ(counted.disk_hits, 1u);
  EXPECT_EQ(counted.waits, 1u);
  EXPECT_EQ(counted.passed_by, 0u);
  EXPECT_EQ(counted.warnings, 1u);
  compileWith("waited\\npassed-by\\n");
  EXPECT_EQ(counted.compiles, 1u);
  EXPECT_EQ(counted.passed_by, 1u);
  // Also of a compile that fails.
  EXPECT_EQ(
      compile("printf 'warning w\\n' >&3; exit 1", nullptr, nullptr, &counted),
      DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(counted.warnings, 1u);
}

/// The caller is asked on its own thread, and stops what the compiler started.
TEST_F(CompileTest, TheCallerStopsIt) {
  struct Asked {
    std::thread::id thread = std::this_thread::get_id();
    int count = 0;
    std::chrono::steady_clock::time_point when;
  } asked;
  auto options = sized<dsv4_compile_options>();
  options.stop_user = &asked;
  options.should_stop = [](void *user) -> int32_t {
    auto &asked = *static_cast<Asked *>(user);
    EXPECT_EQ(asked.thread, std::this_thread::get_id());
    asked.when = std::chrono::steady_clock::now();
    return ++asked.count == 4;
  };
  EXPECT_EQ(compile("sleep 100 & wait", &options), DSV4_ERROR_COMPILE_FAILED);
  EXPECT_LT(std::chrono::steady_clock::now() - asked.when,
            std::chrono::seconds(10));
  EXPECT_EQ(error.id(), "compile.stopped");
  EXPECT_EQ(error.message(),
            "the program was not compiled: should_stop() ended it");
  EXPECT_EQ(asked.count, 4);
  // Who never stops it waits for it, and an older caller has no such field.
  asked.count = 4;
  EXPECT_EQ(compile("exit 3", &options), DSV4_ERROR_UNAVAILABLE);
  EXPECT_GT(asked.count, 4);
  options.size = offsetof(dsv4_compile_options, should_stop);
  asked.count = 3;
  EXPECT_EQ(compile("exit 3", &options), DSV4_ERROR_UNAVAILABLE);
  EXPECT_EQ(asked.count, 3);
}

/// An empty element of the search path would be the current directory.
TEST_F(CompileTest, WhereTheCompilerLooksForNVRTC) {
  const char *before = getenv("LD_LIBRARY_PATH");
  const std::string saved = before ? before : "";
  auto path = [&](const char *mine) {
    setenv("LD_LIBRARY_PATH", mine, 1);
    EXPECT_EQ(compile("echo \"<$LD_LIBRARY_PATH>\" >&2; exit 1"),
              DSV4_ERROR_COMPILE_FAILED);
    return error.message();
  };
  EXPECT_EQ(path("/else/where"), "</some/where:/else/where>");
  EXPECT_EQ(path(""), "</some/where>");
  if (before)
    setenv("LD_LIBRARY_PATH", saved.c_str(), 1);
  else
    unsetenv("LD_LIBRARY_PATH");
}

TEST_F(CompileTest, TheArchitectureOfTheDevice) {
  EXPECT_EQ(compile("echo \"$@\" >&2; exit 1"), DSV4_ERROR_COMPILE_FAILED);
  const std::string start = "- -o - --target=cuda --arch=sm_90a ";
  EXPECT_EQ(error.message().substr(0, start.size()), start);
}

TEST_F(CompileTest, Failures) {
  EXPECT_EQ(compile("echo 'dsv4-compile: error: line 3: no' >&2; exit 1"),
            DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.message(), "line 3: no");
  EXPECT_EQ(error.id(), "compile.failed");
  EXPECT_EQ(events.kinds.back(), DSV4_EVENT_COMPILE_FAILED);
  EXPECT_EQ(compile("echo 'no NVRTC' >&2; exit 3"), DSV4_ERROR_UNAVAILABLE);
  EXPECT_EQ(error.id(), "compile.unavailable");
  EXPECT_EQ(compile("kill -SEGV $$"), DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.id(), "compile.crashed");
  EXPECT_EQ(compile("exit 0"), DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.id(), "compile.failed");
  EXPECT_EQ(compile("echo not an entry"), DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.id(), "compile.version");
  auto options = sized<dsv4_compile_options>();
  options.timeout_ms = 50;
  options.source_name = "mine";
  EXPECT_EQ(compile("sleep 100", &options), DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.id(), "compile.timeout");
  EXPECT_EQ(error.message(),
            "program 'mine' was not compiled within 50 ms: the compiler was "
            "killed; simplify the program, or give a longer timeout_ms");
  EXPECT_EQ(program, nullptr);
  // The compiler's own deadline.
  options.timeout_ms = 0;
  EXPECT_EQ(compile("echo 'dsv4-compile: error: too long' >&2; exit 4"),
            DSV4_ERROR_COMPILE_FAILED);
  EXPECT_EQ(error.id(), "compile.timeout");
  EXPECT_EQ(error.message(), "too long");
}

TEST_F(CompileTest, Options) {
  auto options = sized<dsv4_compile_options>();
  options.target = 3;
  EXPECT_EQ(compile("exit 1", &options), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "option.target");
  options.target = 0;
  options.dim_count = 1;
  EXPECT_EQ(compile("exit 1", &options), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "null");
  const char *name = "k";
  const int64_t value = -1;
  options.dim_names = &name;
  options.dim_values = &value;
  EXPECT_EQ(compile("exit 1", &options), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "option.dims");
  options.dim_count = 65;
  EXPECT_EQ(compile("exit 1", &options), DSV4_ERROR_INVALID_ARGUMENT);
}

TEST_F(CompileTest, NoCompiler) {
  auto options = sized<dsv4_runtime_options>();
  options.compiler = "/nowhere/dsv4-compile";
  dsv4_runtime *with = nullptr;
  ASSERT_EQ(dsv4_runtime_create(&options, &with, nullptr), DSV4_OK);
  EXPECT_EQ(dsv4_compile(with, "", 0, nullptr, &program, error),
            DSV4_ERROR_UNAVAILABLE);
  EXPECT_EQ(error.id(), "compiler.missing");
  dsv4_runtime_destroy(with);
}

} // namespace
