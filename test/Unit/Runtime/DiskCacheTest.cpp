//===- DiskCacheTest.cpp - The cache fails nobody -------------------------===//
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
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dsv4::rt;
using namespace dsv4::rt::test;
namespace fs = std::filesystem;

namespace {

const std::string key = digestHex("the canonical text");
const char arch[] = "sm_90a";

/// Sets an environment variable (null: unsets it) for a scope.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    if (const char *old = std::getenv(name))
      saved = old;
    set(value);
  }
  ~Variable() { set(saved ? saved->c_str() : nullptr); }

private:
  void set(const char *value) {
    if (value)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  const char *name;
  std::optional<std::string> saved;
};

class DiskCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern =
        (fs::temp_directory_path() / "dsv4-cache-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    base = pattern;
    options.root = base + "/root";
    options.warn = [this](const std::string &text) {
      EXPECT_EQ(text.find('\n'), std::string::npos);
      warnings.push_back(text);
    };
  }
  void TearDown() override { fs::remove_all(base); }

  /// How many files there are under the root, LLVM's time stamp aside.
  size_t files() const {
    size_t count = 0;
    for (const auto &each : fs::recursive_directory_iterator(options.root))
      count += each.is_regular_file() &&
               each.path().filename() != "llvmcache.timestamp";
    return count;
  }

  void expectOneWarning(const std::string &part) {
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(part), std::string::npos) << warnings[0];
  }

  std::string base;
  DiskCacheOptions options;
  std::vector<std::string> warnings;
};

TEST_F(DiskCacheTest, MissPublishHit) {
  DiskCache cache(options);
  ASSERT_TRUE(cache.enabled());
  EXPECT_FALSE(cache.lookup(arch, key).has_value());
  EXPECT_TRUE(cache.publish(arch, key, gatherProgram()));
  std::optional<CompiledProgram> program = cache.lookup(arch, key);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->images, gatherProgram().images);
  EXPECT_EQ(cache.entryPath(arch, key),
            options.root + "/v4/sm_90a/llvmcache-" + key);
  EXPECT_EQ(files(), 1u);
  DiskCacheStats stats = cache.stats();
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.writes, 1u);
  EXPECT_EQ(stats.failedWrites, 0u);
  EXPECT_EQ(stats.quarantined, 0u);
  EXPECT_TRUE(warnings.empty());
  // Another process finds it, and may replace it.
  DiskCache other(options);
  EXPECT_TRUE(other.lookup(arch, key).has_value());
  EXPECT_TRUE(other.publish(arch, key, gatherProgram()));
  EXPECT_EQ(files(), 1u);
}

TEST_F(DiskCacheTest, EverythingIsPrivate) {
  DiskCache cache(options);
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  struct stat info;
  for (const char *part : {"", "/v4", "/v4/sm_90a"}) {
    ASSERT_EQ(::stat((options.root + part).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u) << part;
  }
  ASSERT_EQ(::stat(cache.entryPath(arch, key).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, RootOrder) {
  Variable a("DSV4_CACHE_DIR", "/a"), b("XDG_CACHE_HOME", "/b"),
      c("HOME", "/c");
  EXPECT_EQ(DiskCache::defaultRoot(), "/a");
  Variable noA("DSV4_CACHE_DIR", "");
  EXPECT_EQ(DiskCache::defaultRoot(), "/b/dsv4");
  Variable relative("XDG_CACHE_HOME", "b");
  EXPECT_EQ(DiskCache::defaultRoot(), "/c/.cache/dsv4");
  Variable noB("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(DiskCache::defaultRoot(), "/c/.cache/dsv4");
  Variable noC("HOME", nullptr);
  EXPECT_EQ(DiskCache::defaultRoot(), "");
  options.root = "";
  DiskCache none(options);
  EXPECT_FALSE(none.enabled());
  EXPECT_FALSE(none.lookup(arch, key).has_value());
  EXPECT_FALSE(none.publish(arch, key, gatherProgram()));
  EXPECT_FALSE(none.prune(arch));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(DiskCacheTest, EnvironmentNamesTheRoot) {
  std::string home = base + "/home";
  Variable a("DSV4_CACHE_DIR", nullptr), b("XDG_CACHE_HOME", nullptr),
      c("HOME", home.c_str());
  options.root = "";
  EXPECT_EQ(DiskCache(options).root(), home + "/.cache/dsv4");
  options.memoryOnly = true;
  EXPECT_FALSE(DiskCache(options).enabled());
}

TEST_F(DiskCacheTest, RelativeRootStaysWhenTheProcessMoves) {
  options.root = "relative";
  fs::path here = fs::current_path();
  fs::current_path(base);
  DiskCache cache(options);
  fs::current_path(here);
  EXPECT_EQ(cache.root(), fs::canonical(base).string() + "/relative");
}

TEST_F(DiskCacheTest, RootThatCannotBe) {
  std::ofstream(base + "/file") << "x";
  options.root = base + "/file/root";
  DiskCache cache(options);
  EXPECT_FALSE(cache.enabled());
  expectOneWarning("cannot create cache directory");
  warnings.clear();
  options.root = base + "/file";
  EXPECT_FALSE(DiskCache(options).enabled());
  expectOneWarning("is not a directory");
}

TEST_F(DiskCacheTest, UnwritableRoot) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root writes everywhere";
  fs::create_directory(options.root);
  ::chmod(options.root.c_str(), 0500);
  DiskCache cache(options);
  EXPECT_FALSE(cache.publish(arch, key, gatherProgram()));
  EXPECT_EQ(cache.stats().failedWrites, 1u);
  expectOneWarning("cannot create the directory of cache entry");
  EXPECT_NE(warnings[0].find("Permission denied"), std::string::npos);
  ::chmod(options.root.c_str(), 0700);
}

TEST_F(DiskCacheTest, RootThatOthersCanWrite) {
  fs::create_directory(options.root);
  for (mode_t mode : {0770, 0702, 0777}) {
    warnings.clear();
    ASSERT_EQ(::chmod(options.root.c_str(), mode), 0);
    EXPECT_FALSE(DiskCache(options).enabled());
    expectOneWarning("can be written by others");
  }
  ASSERT_EQ(::chmod(options.root.c_str(), 0755), 0);
  EXPECT_TRUE(DiskCache(options).enabled());
}

TEST_F(DiskCacheTest, RootOfAnotherUser) {
  fs::create_directory(options.root);
  if (::geteuid() != 0 || ::chown(options.root.c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "only root can give a directory away";
  EXPECT_FALSE(DiskCache(options).enabled());
  expectOneWarning("belongs to another user");
}

TEST_F(DiskCacheTest, BadEntryIsSetAside) {
  DiskCache cache(options);
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  std::string path = cache.entryPath(arch, key);
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_FALSE(cache.lookup(arch, key).has_value());
  EXPECT_EQ(cache.stats().quarantined, 1u);
  EXPECT_EQ(cache.stats().misses, 1u);
  expectOneWarning(
      "is bad (cache entry: no trailer: expected a file of dsv4-compile)");
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(options.root + "/v4/quarantine/llvmcache-" + key));
  // The next one compiles and publishes, and all is well.
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  EXPECT_TRUE(cache.lookup(arch, key).has_value());
}

TEST_F(DiskCacheTest, EntryOfAnotherKeyIsSetAside) {
  DiskCache cache(options);
  std::string other = digestHex("another text");
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  fs::rename(cache.entryPath(arch, key), cache.entryPath(arch, other));
  EXPECT_FALSE(cache.lookup(arch, other).has_value());
  expectOneWarning("made for another key");
}

TEST_F(DiskCacheTest, EntryThatIsNoPrivateFile) {
  DiskCache cache(options);
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  std::string path = cache.entryPath(arch, key);
  ::chmod(path.c_str(), 0666);
  EXPECT_FALSE(cache.lookup(arch, key).has_value());
  fs::create_symlink("/etc/hostname", path);
  EXPECT_FALSE(cache.lookup(arch, key).has_value());
  EXPECT_FALSE(fs::exists(fs::symlink_status(path)));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache.lookup(arch, key).has_value()); // And does not hang.
  EXPECT_EQ(warnings.size(), 3u);
}

TEST_F(DiskCacheTest, QuarantineIsBounded) {
  DiskCache cache(options);
  for (int i = 0; i < 40; ++i) {
    std::string each = digestHex(std::to_string(i));
    ASSERT_TRUE(cache.publish(arch, each, gatherProgram()));
    fs::resize_file(cache.entryPath(arch, each), 10);
    EXPECT_FALSE(cache.lookup(arch, each).has_value());
  }
  EXPECT_EQ(cache.stats().quarantined, 40u);
  EXPECT_EQ(files(), 16u);
  EXPECT_TRUE(
      fs::exists(options.root + "/v4/quarantine/llvmcache-" + digestHex("39")));
}

/// The soft limit of a file's size in a scope.
class WithFileSize {
public:
  explicit WithFileSize(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit limit = {bytes, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~WithFileSize() { ::setrlimit(RLIMIT_FSIZE, &before); }

private:
  struct rlimit before;
};

// A write beyond the limit is an error, not SIGXFSZ, whose disposition stays.
TEST_F(DiskCacheTest, FailedWriteLeavesNothing) {
  DiskCache cache(options);
  {
    WithFileSize limit(10);
    EXPECT_FALSE(cache.publish(arch, key, gatherProgram()));
    EXPECT_FALSE(cache.publish(arch, key, gatherProgram()));
  }
  EXPECT_EQ(cache.stats().failedWrites, 2u);
  expectOneWarning("cannot write cache entry"); // The second is only counted.
  EXPECT_EQ(files(), 0u);
  sigset_t signals;
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &signals), 0);
  EXPECT_FALSE(::sigismember(&signals, SIGXFSZ));
  ASSERT_EQ(::sigpending(&signals), 0);
  EXPECT_FALSE(::sigismember(&signals, SIGXFSZ));
  struct sigaction action;
  ASSERT_EQ(::sigaction(SIGXFSZ, nullptr, &action), 0);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
  EXPECT_TRUE(cache.publish(arch, key, gatherProgram()));
}

// Whatever is at an entry's place goes, and what is made takes it.
TEST_F(DiskCacheTest, DirectoryAtAnEntrysPlace) {
  DiskCache cache(options);
  std::string path = cache.entryPath(arch, key);
  for (int round = 0; round < 2; ++round) { // The place aside is taken, then.
    warnings.clear();
    fs::remove(path);
    fs::create_directories(path + "/sub");
    EXPECT_TRUE(cache.publish(arch, key, gatherProgram()));
    EXPECT_TRUE(cache.lookup(arch, key).has_value());
    expectOneWarning("not a private regular file");
    fs::remove(path);
    fs::create_directories(path + "/sub");
    warnings.clear();
    EXPECT_FALSE(cache.lookup(arch, key).has_value());
    EXPECT_FALSE(fs::exists(path));
    expectOneWarning("not a private regular file");
  }
  EXPECT_TRUE(fs::exists(options.root + "/v4/quarantine/llvmcache-" + key));
  EXPECT_EQ(cache.stats().quarantined, 4u);
}

TEST_F(DiskCacheTest, QuarantineOfDirectoriesIsBounded) {
  DiskCache cache(options);
  for (int i = 0; i < 20; ++i) {
    std::string each = digestHex(std::to_string(i));
    fs::create_directories(cache.entryPath(arch, each) + "/a/b");
    EXPECT_FALSE(cache.lookup(arch, each).has_value());
  }
  EXPECT_EQ(std::distance(
                fs::directory_iterator(options.root + "/v4/quarantine"), {}),
            16);
}

// What others can write to is as little used below the root as there.
TEST_F(DiskCacheTest, EveryLevelIsOurs) {
  ASSERT_TRUE(DiskCache(options).publish(arch, key, gatherProgram()));
  fs::create_directory(base + "/elsewhere");
  fs::copy(options.root + "/v4", base + "/elsewhere/v4",
           fs::copy_options::recursive);
  fs::copy(options.root + "/v4/sm_90a", base + "/elsewhere/sm_90a",
           fs::copy_options::recursive);
  auto expectRefused = [&](const std::string &why) {
    warnings.clear();
    DiskCache cache(options);
    EXPECT_FALSE(cache.lookup(arch, key).has_value());
    EXPECT_FALSE(cache.publish(arch, key, gatherProgram()));
    EXPECT_FALSE(cache.publish(arch, key, gatherProgram()));
    options.pruneIntervalSeconds = 0;
    EXPECT_FALSE(cache.prune(arch));
    EXPECT_EQ(cache.stats().failedWrites, 2u);
    EXPECT_EQ(cache.stats().hits, 0u);
    expectOneWarning(why);
  };
  for (std::string part : {"/v4/sm_90a", "/v4"}) {
    const std::string path = options.root + part;
    for (mode_t mode : {0777, 0720}) {
      ASSERT_EQ(::chmod(path.c_str(), mode), 0);
      expectRefused("cache directory '" + path + "' can be written by others");
    }
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    EXPECT_TRUE(DiskCache(options).lookup(arch, key).has_value());
    if (::geteuid() == 0 && ::chown(path.c_str(), 12345, 12345) == 0) {
      expectRefused("cache directory '" + path + "' belongs to another user");
      ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
    }
    fs::rename(path, base + "/aside");
    fs::create_directory_symlink(
        base + "/elsewhere/" + path.substr(path.rfind('/')), path);
    expectRefused("cache directory '" + path + "' is a symbolic link");
    fs::remove(path);
    std::ofstream(path) << "a file";
    expectRefused("cache directory '" + path + "' is not a directory");
    fs::remove(path);
    fs::rename(base + "/aside", path);
  }
}

TEST_F(DiskCacheTest, QuarantineIsOurs) {
  DiskCache cache(options);
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  fs::create_directory(base + "/elsewhere");
  fs::create_directory_symlink(base + "/elsewhere",
                               options.root + "/v4/quarantine");
  fs::resize_file(cache.entryPath(arch, key), 10);
  EXPECT_FALSE(cache.lookup(arch, key).has_value());
  EXPECT_TRUE(fs::is_empty(base + "/elsewhere"));
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("quarantine' is a symbolic link"),
            std::string::npos);
  EXPECT_NE(warnings[1].find("cannot be set aside"), std::string::npos);
  // A good one takes its place all the same.
  EXPECT_TRUE(cache.publish(arch, key, gatherProgram()));
  EXPECT_TRUE(cache.lookup(arch, key).has_value());
}

TEST_F(DiskCacheTest, NamesCannotLeaveTheRoot) {
  DiskCache cache(options);
  for (const char *bad : {"", "..", ".", "a/b", "../x", "quarantine", "a b"}) {
    EXPECT_EQ(cache.entryPath(bad, key), "") << bad;
    EXPECT_FALSE(cache.lookup(bad, key).has_value());
    EXPECT_FALSE(cache.publish(bad, key, gatherProgram()));
  }
  for (const char *bad : {"", "..", "ABC", "12/34", "12 "})
    EXPECT_EQ(cache.entryPath(arch, bad), "") << bad;
}

TEST_F(DiskCacheTest, ManyWritersAndReaders) {
  DiskCache cache(options);
  std::vector<std::thread> threads;
  std::atomic<int> seen{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        cache.publish(arch, key, gatherProgram());
        seen += cache.lookup(arch, key).has_value();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(seen, 200);
  EXPECT_EQ(cache.stats().quarantined, 0u);
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(DiskCacheTest, PruningBySizeAndTouchOnHit) {
  options.maxBytes = 1;
  options.pruneIntervalSeconds = 0;
  DiskCache cache(options);
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  EXPECT_EQ(files(), 0u); // It alone is over the bound.
  options.maxBytes = 0;
  DiskCache unbounded(options);
  ASSERT_TRUE(unbounded.publish(arch, key, gatherProgram()));
  EXPECT_EQ(files(), 1u);

  // An entry last read long ago goes; one that is read stays.
  std::string path = unbounded.entryPath(arch, key);
  struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
  EXPECT_TRUE(unbounded.lookup(arch, key).has_value());
  EXPECT_TRUE(unbounded.prune(arch));
  EXPECT_TRUE(fs::exists(path));
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
  EXPECT_TRUE(unbounded.prune(arch));
  EXPECT_FALSE(fs::exists(path));
}

// What a process leaves that is killed while it writes or renames.
TEST_F(DiskCacheTest, OldTemporaryFilesGo) {
  DiskCache cache(options);
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  const std::string folder = options.root + "/v4/sm_90a/";
  const std::string digits = "0123456789abcdef";
  const std::string stale = folder + "llvmcache-" + key + "." + digits;
  const std::string fresh = stale + "0";
  const std::string others[] = {folder + "llvmcache-" + digits,
                                folder + "README." + digits,
                                folder + "llvmcache-" + key + ".x"};
  struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
  for (const std::string &path :
       {stale, fresh, others[0], others[1], others[2]})
    std::ofstream(path) << "part of an entry";
  for (const std::string &path : {stale, others[0], others[1], others[2]})
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
  // Before an hour is over another process may be writing it.
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh));
  for (const std::string &path : others)
    EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(DiskCacheTest, PruningWaitsForItsInterval) {
  DiskCache cache(options);
  ASSERT_TRUE(cache.publish(arch, key, gatherProgram()));
  EXPECT_FALSE(cache.prune(arch));
  std::ofstream(options.root + "/v4/sm_90a/README") << "not ours";
  options.pruneIntervalSeconds = 0;
  options.maxBytes = 1;
  EXPECT_TRUE(DiskCache(options).prune(arch));
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(fs::exists(options.root + "/v4/sm_90a/README"));
}

} // namespace
