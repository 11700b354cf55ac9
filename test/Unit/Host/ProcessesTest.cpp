//===- ProcessesTest.cpp - What a compile leaves behind -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"
#include "host/PrivateDirectory.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dsv4::rt;
using namespace dsv4::rt::test;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// In a temporary directory of its own, which $TMPDIR names.
class ProcessesTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern =
        (fs::temp_directory_path() / "dsv4-processes-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    base = pattern;
    if (const char *set = std::getenv("TMPDIR"))
      before = set;
    fs::create_directory(base + "/tmp");
    ::setenv("TMPDIR", (base + "/tmp").c_str(), 1);
  }
  void TearDown() override {
    before ? ::setenv("TMPDIR", before->c_str(), 1) : ::unsetenv("TMPDIR");
    fs::remove_all(base);
  }

  /// What compiling says with this script as the compiler.
  Result<std::string> compileWith(const std::string &script) const {
    std::ofstream(base + "/c++") << "#!/bin/sh\n" << script << "\n";
    ::chmod((base + "/c++").c_str(), 0700);
    HostCompileOptions options;
    options.compiler = {base + "/c++"};
    return compileHost("int x;\n", options);
  }

  std::vector<std::string> leftovers() const {
    std::vector<std::string> names;
    for (const auto &each : fs::directory_iterator(base + "/tmp"))
      names.push_back(each.path().filename());
    return names;
  }

  static bool isRunning(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string id, name, state;
    // Nobody may wait for it where the tests run.
    return (file >> id >> name >> state) && state != "Z" && state != "X";
  }
  template <typename Condition>
  static bool comesTrue(Condition condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition())
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  /// The numbers in a file that is written at once, by a rename.
  std::vector<pid_t> readProcesses() const {
    std::vector<pid_t> all;
    EXPECT_TRUE(comesTrue([&] { return fs::exists(base + "/pids"); }));
    std::ifstream file(base + "/pids");
    for (pid_t process; file >> process;)
      all.push_back(process);
    return all;
  }
  /// A compiler with a process of its own, neither of which ends.
  std::string endless() const {
    return "sleep 1000 & echo $$ $! > " + base + "/new && mv " + base +
           "/new " + base + "/pids; wait";
  }

  std::string base;
  std::optional<std::string> before;
};

TEST_F(ProcessesTest, ChildrenEndWithTheProcess) {
  for (int signal : {SIGKILL, SIGTERM}) {
    fs::remove(base + "/pids");
    const pid_t process = ::fork();
    if (process == 0) {
      (void)compileWith(endless());
      ::_exit(0);
    }
    std::vector<pid_t> running = readProcesses();
    ASSERT_EQ(running.size(), 2u);
    EXPECT_TRUE(isRunning(running[0]) && isRunning(running[1]));
    EXPECT_EQ(leftovers().size(), 1u);
    EXPECT_EQ(PrivateDirectory::sweep(base + "/tmp"), 0u);
    ::kill(process, signal);
    ::waitpid(process, nullptr, 0);
    for (pid_t each : running)
      EXPECT_TRUE(comesTrue([&] { return !isRunning(each); })) << signal;
    // Only then: a compiler that still runs may write there.
    EXPECT_TRUE(
        comesTrue([&] { return PrivateDirectory::sweep(base + "/tmp") == 1; }));
    EXPECT_TRUE(leftovers().empty());
  }
}

TEST_F(ProcessesTest, NothingRunsOnAfterTheCompiler) {
  Result<std::string> image = compileWith("sleep 1000 & echo $! > " + base +
                                          "/pids; echo error: stop; exit 1");
  EXPECT_TRUE(contains(image.status().message(), "error: stop"));
  std::vector<pid_t> running = readProcesses();
  ASSERT_EQ(running.size(), 1u);
  EXPECT_TRUE(comesTrue([&] { return !isRunning(running[0]); }));
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(ProcessesTest, KilledWatcherIsAnError) {
  std::thread killer([&] {
    for (pid_t each : readProcesses())
      ::kill(-::getpgid(each), SIGKILL);
  });
  Result<std::string> image = compileWith(endless());
  killer.join();
  ASSERT_FALSE(image);
  EXPECT_TRUE(contains(image.status().message(),
                       "was killed with its process group: run it again"))
      << image.status().message();
}

// What this process does with signals is neither passed on nor changed.
TEST_F(ProcessesTest, SignalsAreAsUsual) {
  sigset_t term, old;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &old);
  auto *child = ::signal(SIGCHLD, SIG_IGN), *pipe = ::signal(SIGPIPE, SIG_IGN);
  Result<std::string> image =
      compileWith("grep -E '^Sig(Blk|Ign)' /proc/self/status; exit 1");
  EXPECT_EQ(::signal(SIGCHLD, child), SIG_IGN);
  EXPECT_EQ(::signal(SIGPIPE, pipe), SIG_IGN);
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, &old, &now);
  EXPECT_TRUE(::sigismember(&now, SIGTERM));
  EXPECT_FALSE(::sigismember(&now, SIGINT));
  const std::string message = image.status().message();
  const std::string begin =
      "refused the kernel: SigBlk: 0000000000000000; SigIgn: ";
  const size_t at = message.find(begin);
  ASSERT_NE(at, std::string::npos) << message;
  // Signals 32 and 33 are glibc's own: a parent may have them ignored, and
  // sigaction() does not change them.
  const uint64_t ignored =
      std::stoull(message.substr(at + begin.size(), 16), nullptr, 16);
  EXPECT_EQ(ignored & ~uint64_t(0x180000000), 0u) << message;
}

TEST_F(ProcessesTest, CompilerSeesFewVariablesAndFiles) {
  ::setenv("CPATH", "/nonexistent", 1);
  ::setenv("GCC_EXEC_PREFIX", "/nonexistent", 1);
  Result<std::string> image =
      compileWith("tr '\\0' '\\n' < /proc/$$/environ | cut -d= -f1 | sort; "
                  "ls /proc/$$/fd; exit 1");
  ::unsetenv("CPATH");
  ::unsetenv("GCC_EXEC_PREFIX");
  std::string expected = "refused the kernel: ";
  for (const char *name : {"HOME", "LC_ALL", "LD_LIBRARY_PATH", "PATH"})
    if (std::getenv(name) || std::string(name) == "LC_ALL")
      expected += std::string(name) + "; ";
  // sh has its script open.
  EXPECT_TRUE(contains(image.status().message(), expected + "TMPDIR; 0; 1; "))
      << image.status().message();
  EXPECT_FALSE(contains(image.status().message(), "; 3"))
      << image.status().message();
}

/// From here on close_range(2) is unknown to this process, as to old kernels
/// and to some sandboxes.
bool forbidCloseRange() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program = {4, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
         ::close_range(1000, 1000, 0) != 0 && errno == ENOSYS;
}

TEST_F(ProcessesTest, KernelWithoutCloseRange) {
  constexpr int skipped = 2;
  pid_t child = ::fork();
  if (child == 0) {
    if (!forbidCloseRange())
      ::_exit(skipped);
    const int leaked = ::open("/dev/null", O_RDONLY);
    Result<std::string> image = compileWith("ls /proc/$$/fd; exit 1");
    // The two that sh has, and its script.
    const bool good =
        leaked > 2 &&
        contains(image.status().message(), "refused the kernel: 0; 1; ") &&
        !contains(image.status().message(), "; 3");
    if (!good)
      std::fprintf(stderr, "%s\n", image.status().message().c_str());
    ::_exit(good ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFEXITED(state));
  if (WEXITSTATUS(state) == skipped)
    GTEST_SKIP() << "no seccomp filter can be installed";
  EXPECT_EQ(WEXITSTATUS(state), 0);
}

TEST_F(ProcessesTest, MessagesAreShortAndPrintable) {
  Result<std::string> image =
      compileWith("head -c 1000000 /dev/zero | tr '\\0' x; exit 1");
  const std::string head =
      "host compiler " + base + "/c++ refused the kernel: ";
  ASSERT_FALSE(image);
  EXPECT_TRUE(contains(image.status().message(), head + "xxxx"));
  EXPECT_TRUE(contains(image.status().message(), "xxx..."));
  EXPECT_LT(image.status().message().size(), head.size() + 410);

  image = compileWith("for i in 1 2 3 4 5 6 7 8 9; do head -c 390 /dev/zero | "
                      "tr '\\0' y; echo; done; exit 1");
  ASSERT_FALSE(image);
  EXPECT_TRUE(contains(image.status().message(), "; and 4 more lines"))
      << image.status().message();
  EXPECT_LT(image.status().message().size(), head.size() + 2100);

  image = compileWith("printf 'error: \\033[31m\\r\\tred\\0\\377'; exit 1");
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().message(),
            head + "error: \\x1B[31m\\x0D red\\x00\\xFF");
}

TEST_F(ProcessesTest, ImagesThatAreNoFiles) {
  for (auto [script, why] :
       {std::pair<const char *, const char *>{"", "No such file or directory"},
        {"mkdir kernel.so", "not a regular file"},
        {"mkfifo kernel.so", "not a regular file"},
        {"ln -s /dev/zero kernel.so", "not a regular file"},
        {"rm -rf \"$TMPDIR\"", "No such file or directory"}}) {
    Result<std::string> image = compileWith(script);
    ASSERT_FALSE(image) << script;
    EXPECT_EQ(image.status().code(), Code::CompileFailed);
    EXPECT_TRUE(contains(image.status().message(),
                         "reported no error and made no image: cannot read"))
        << image.status().message();
    EXPECT_TRUE(contains(image.status().message(), why))
        << image.status().message();
  }
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(ProcessesTest, NoPathAtAll) {
  const char *set = std::getenv("PATH");
  const std::string path = set ? set : "";
  ::unsetenv("PATH");
  Result<std::string> image = compileHost("int x;\n");
  if (set)
    ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(image) << image.status().message();
}

// Beyond `ulimit -f` a write is an error here, and kills the compiler there.
TEST_F(ProcessesTest, FilesThatAreTooLarge) {
  struct rlimit old, limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  limit = old;
  limit.rlim_cur = 4096;
  HostCompileOptions options;
  options.compiler = {"/bin/false"};
  const std::string large(10000, ' ');
  ::setrlimit(RLIMIT_FSIZE, &limit);
  Result<std::string> image = compileHost(large, options);
  ::setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(image);
  EXPECT_TRUE(contains(image.status().message(), "kernel.cu': File too large"))
      << image.status().message();

  ::setrlimit(RLIMIT_FSIZE, &limit);
  image = compileWith("exec head -c 10000 /dev/zero > kernel.so");
  ::setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(image);
  EXPECT_TRUE(contains(image.status().message(),
                       "was killed by signal " + std::to_string(SIGXFSZ)))
      << image.status().message();
}

TEST_F(ProcessesTest, SweepTakesOnlyWhatIsStale) {
  // Somebody that was killed, and somebody that is alive.
  Result<PrivateDirectory> alive = PrivateDirectory::create();
  ASSERT_TRUE(alive) << alive.status().message();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t process = ::fork();
  if (process == 0) {
    Result<PrivateDirectory> directory = PrivateDirectory::create();
    if (directory && directory->write("kernel.cu", "text")) {
      fs::create_directories(directory->pathOf("a/b"));
      std::ofstream(directory->pathOf("a/b/c")) << "c";
      fs::create_symlink("/etc/hostname", directory->pathOf("link"));
      fs::create_directory_symlink(base, directory->pathOf("up"));
      (void)!::write(ends[1], "x", 1);
    }
    ::pause();
  }
  char one;
  ASSERT_EQ(::read(ends[0], &one, 1), 1);
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);

  const std::string tmp = base + "/tmp/";
  std::vector<std::string> others = {
      tmp + "dsv4-host-2-short", tmp + "dsv4-host-2-toolongs",
      tmp + "dsv4-host-2-a.b.c.", tmp + "dsv4-host-abcdef",
      tmp + "dsv4-host-2-public"};
  for (const std::string &other : others) {
    fs::create_directory(other);
    ::chmod(other.c_str(), other == others.back() ? 0755 : 0700);
  }
  others.push_back(tmp + "dsv4-host-2-afile0");
  std::ofstream(others.back()) << "text";
  others.push_back(tmp + "dsv4-host-2-alink0");
  fs::create_directory(base + "/target");
  ::chmod((base + "/target").c_str(), 0700);
  std::ofstream(base + "/target/file") << "text";
  fs::create_directory_symlink(base + "/target", others.back());
  if (::geteuid() == 0) {
    others.push_back(tmp + "dsv4-host-2-theirs");
    fs::create_directory(others.back());
    ::chmod(others.back().c_str(), 0700);
    ASSERT_EQ(::chown(others.back().c_str(), 12345, 12345), 0);
  }

  EXPECT_EQ(leftovers().size(), others.size() + 2);
  EXPECT_EQ(PrivateDirectory::sweep(base + "/tmp"), 1u);
  EXPECT_EQ(leftovers().size(), others.size() + 1);
  for (const std::string &other : others)
    EXPECT_TRUE(fs::exists(fs::symlink_status(other))) << other;
  EXPECT_TRUE(fs::exists(base + "/target/file"));
  EXPECT_TRUE(fs::exists(alive->path()));
  EXPECT_TRUE(alive->write("file", "text"));
  EXPECT_EQ(PrivateDirectory::sweep("/nonexistent"), 0u);
  ::close(ends[0]);
  ::close(ends[1]);
}

// A sweep between the making of a directory and its lock.
TEST_F(ProcessesTest, SweepsAndMakersAtOnce) {
  std::atomic<bool> done{false};
  std::atomic<size_t> failures{0}, swept{0};
  std::vector<std::thread> sweepers, makers;
  for (int i = 0; i < 2; ++i)
    sweepers.emplace_back([&] {
      while (!done)
        swept += PrivateDirectory::sweep(base + "/tmp");
    });
  for (int i = 0; i < 4; ++i)
    makers.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        Result<PrivateDirectory> directory = PrivateDirectory::create();
        failures += !directory || !directory->write("kernel.cu", "text") ||
                    !directory->read("kernel.cu");
      }
    });
  for (std::thread &maker : makers)
    maker.join();
  done = true;
  for (std::thread &sweeper : sweepers)
    sweeper.join();
  EXPECT_EQ(failures, 0u);
  EXPECT_TRUE(leftovers().empty());
}

// A copy of the process that ends as usual takes nothing away.
TEST_F(ProcessesTest, CopiesOfAProcessRemoveNothing) {
  Result<PrivateDirectory> directory = PrivateDirectory::create();
  ASSERT_TRUE(directory);
  const pid_t process = ::fork();
  if (process == 0) {
    {
      PrivateDirectory copy = directory.take();
    }
    ::_exit(0);
  }
  ::waitpid(process, nullptr, 0);
  EXPECT_TRUE(directory->write("file", "text"));
  EXPECT_EQ(PrivateDirectory::sweep(base + "/tmp"), 0u);
}

} // namespace
