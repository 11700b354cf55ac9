//===- EntryLockTest.cpp - One process makes an entry ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include "dsv4-runtime/DiskCache.h"
#include "dsv4-runtime/Entry.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dsv4::rt;
using namespace dsv4::rt::test;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

namespace {

const std::string key = digestHex("the canonical text");
const char arch[] = "sm_90a";

/// What the processes of a test count together.
struct Shared {
  std::atomic<int> ready, made, found, waits, passedBy;
};

class EntryLockTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern =
        (fs::temp_directory_path() / "dsv4-lock-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    base = pattern;
    options.root = base;
    options.warn = [](const std::string &text) { ADD_FAILURE() << text; };
    void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared = new (memory) Shared{};
  }
  void TearDown() override {
    ::munmap(shared, sizeof(Shared));
    fs::remove_all(base);
  }

  /// What a compile does: looks, waits for its turn, looks again, and makes the
  /// entry by `make`.
  template <typename F>
  void compile(F make) {
    DiskCache cache(options);
    auto found = cache.lookup(arch, key);
    if (!found) {
      EntryLock lock = cache.lock(arch, key);
      if (cache.contains(arch, key))
        found = cache.lookup(arch, key);
      if (!found) {
        ++shared->made;
        if (make() && cache.publish(arch, key, gatherProgram("cuda")))
          lock.published();
      }
    }
    shared->found += bool(found);
    shared->waits += int(cache.stats().waits);
    shared->passedBy += int(cache.stats().passedBy);
  }

  template <typename F>
  static pid_t start(F work) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      work();
      ::_exit(::testing::Test::HasFailure());
    }
    return child;
  }
  static void expectEnd(pid_t child) {
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  /// A process that compiles and does not come to an end, once it has the lock.
  pid_t startEndless() {
    const pid_t child = start([&] {
      compile([&] {
        ++shared->ready;
        for (;;)
          ::pause();
        return false;
      });
    });
    while (!shared->ready)
      ::usleep(1000);
    return child;
  }
  std::vector<std::string> locks() const {
    std::vector<std::string> names;
    for (const auto &each : fs::recursive_directory_iterator(base))
      if (EntryLock::isName(each.path().filename()))
        names.push_back(each.path().filename());
    return names;
  }

  std::string base;
  DiskCacheOptions options;
  Shared *shared = nullptr;
};

TEST_F(EntryLockTest, OneOfManyProcessesMakesIt) {
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i)
    children.push_back(start([&] {
      ++shared->ready;
      while (shared->ready < 16)
        ::usleep(100);
      compile([] { return ::usleep(200000) == 0; });
    }));
  for (pid_t child : children)
    expectEnd(child);
  EXPECT_EQ(shared->made, 1);
  EXPECT_EQ(shared->found, 15);
  EXPECT_EQ(shared->waits, 15);
  EXPECT_EQ(shared->passedBy, 0);
  EXPECT_EQ(locks().size(), 0u);
}

TEST_F(EntryLockTest, ThreadsToo) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [&] { compile([] { return ::usleep(200000) == 0; }); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(shared->made, 1);
}

/// One that is there when the wait begins is one that does not load.
TEST_F(EntryLockTest, AnOldEntryEndsNoWait) {
  DiskCache cache(options);
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram("cuda")));
  const pid_t holder = start([&] {
    DiskCache own(options);
    EntryLock lock = own.lock(arch, key);
    ++shared->ready;
    ::usleep(500000);
    EXPECT_TRUE(own.publish(arch, key, gatherProgram("cuda")));
    ++shared->made;
  });
  while (!shared->ready)
    ::usleep(1000);
  const EntryLock lock = cache.lock(arch, key);
  EXPECT_TRUE(lock.waited());
  EXPECT_EQ(shared->made, 1);
  expectEnd(holder);
}

TEST_F(EntryLockTest, AKilledHolderIsFollowedAtOnce) {
  options.lock.patience = milliseconds(20000);
  const pid_t holder = startEndless();
  const pid_t next = start([&] { compile([] { return true; }); });
  ::usleep(100000);
  EXPECT_EQ(shared->made, 1);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  expectEnd(next);
  EXPECT_EQ(shared->made, 2);
  EXPECT_EQ(shared->passedBy, 0);
  EXPECT_EQ(locks().size(), 0u);
}

/// One of those that wait makes it instead, and the others wait for that one.
TEST_F(EntryLockTest, AStoppedHolderIsPassedBy) {
  options.lock.patience = milliseconds(400);
  const pid_t holder = startEndless();
  ::kill(holder, SIGSTOP);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(
        start([&] { compile([] { return ::usleep(300000) == 0; }); }));
  for (pid_t child : children)
    expectEnd(child);
  EXPECT_EQ(shared->made, 2);
  EXPECT_EQ(shared->found, 3);
  EXPECT_EQ(shared->passedBy, 4);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
}

/// One that is slow is not: it shows that it lives.
TEST_F(EntryLockTest, ASlowHolderIsWaitedFor) {
  options.lock.patience = milliseconds(400);
  const pid_t holder =
      start([&] { compile([&] { return ++shared->ready, ::sleep(2) == 0; }); });
  while (!shared->ready)
    ::usleep(1000);
  compile([] { return true; });
  expectEnd(holder);
  EXPECT_EQ(shared->made, 1);
  EXPECT_EQ(shared->passedBy, 0);
}

TEST_F(EntryLockTest, TheWaitIsBounded) {
  options.lock.wait = milliseconds(300);
  const pid_t holder = startEndless();
  const auto begin = std::chrono::steady_clock::now();
  compile([] { return true; });
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(300));
  EXPECT_EQ(shared->made, 2);
  EXPECT_EQ(shared->passedBy, 1);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
}

/// What fails is not tried by one after the other.
TEST_F(EntryLockTest, FailuresAreNotQueuedUp) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(start([&] {
      ++shared->ready;
      while (shared->ready < 8)
        ::usleep(100);
      compile([] { return ::usleep(500000) != 0; });
    }));
  const auto begin = std::chrono::steady_clock::now();
  for (pid_t child : children)
    expectEnd(child);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(3000));
  EXPECT_EQ(shared->made, 8);
  EXPECT_EQ(locks().size(), 0u);
}

/// A child of fork() that has the file, too, does not keep the lock.
TEST_F(EntryLockTest, AForkedChildHoldsNothing) {
  pid_t child = -1;
  compile([&] {
    child = start([] { ::sleep(30); });
    return true;
  });
  fs::remove_all(base + "/v4");
  compile([] { return true; });
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
  EXPECT_EQ(shared->made, 2);
  EXPECT_EQ(shared->waits, 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

/// Where nothing can be written, everybody makes it.
TEST_F(EntryLockTest, WithoutADirectory) {
  options.memoryOnly = true;
  compile([] { return true; });
  compile([] { return true; });
  EXPECT_EQ(shared->made, 2);
}

TEST_F(EntryLockTest, LocksOfKilledProcessesAreRemoved) {
  const std::string folder = base + "/v4/" + arch + "/";
  compile([] { return true; });
  const std::string left = folder + "lock-llvmcache-abc";
  const std::string held = folder + "lock-llvmcache-def";
  const auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const std::string &each : {left, held}) {
    std::ofstream(each) << "";
    fs::last_write_time(each, longAgo);
  }
  const int file = ::open(held.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
  DiskCache cache(options);
  cache.publish(arch, digestHex("another"), gatherProgram("cuda"));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(held));
  ::close(file);
}

} // namespace
