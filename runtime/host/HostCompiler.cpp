//===- HostCompiler.cpp - Kernel text to a shared object ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCompiler.h"
#include "PrivateDirectory.h"
#include "Sanitizers.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char **environ;

namespace dsv4::rt {

namespace {

// In the private directory, which is the compiler's working directory, so that
// no message depends on its name.
constexpr const char *sourceName = "kernel.cu";
constexpr const char *imageName = "kernel.so";
constexpr const char *logName = "log";

/// Messages are one line; a compiler that has lost its way says hundreds.
constexpr size_t maxDiagnostics = 8;

std::vector<std::string> splitAtSpaces(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

bool isExecutableFile(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

/// As execvp would find it, but absolute; empty if there is none.
std::string findProgram(const std::string &name) {
  if (name.find('/') != std::string::npos) {
    std::error_code error;
    const std::string path = std::filesystem::absolute(name, error);
    return !error && isExecutableFile(path) ? path : std::string();
  }
  const char *search = std::getenv("PATH");
  std::istringstream directories(search ? search : "/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string path = directory + "/" + name;
    if (!directory.empty() && directory.front() == '/' &&
        isExecutableFile(path))
      return path;
  }
  return "";
}

std::vector<std::string> arguments(const HostCompileOptions &options) {
  std::vector<std::string> words = options.compiler;
  for (const char *word :
       {"-x", "c++", "-std=c++17", "-shared", "-fPIC", "-fno-exceptions",
        "-fno-rtti", "-w",
        // One rounding per operation, as written: the device library spells
        // every operation with the `rn` intrinsics, which NVRTC never contracts
        // to an fma, and an fma that is wanted is a call.
        "-ffp-contract=off", "-fstack-clash-protection", "-fno-fast-math",
        "-fno-math-errno",
        // As device code is compiled: types may alias, char has a sign.
        "-fno-strict-aliasing", "-fsigned-char", "-fvisibility=default",
        // A kernel may have the name of a function of libc.
        "-Wl,-Bsymbolic"})
    words.push_back(word);
  words.push_back("-O" + std::to_string(options.optimization));
  if (options.sanitize) {
    words.push_back("-fsanitize=address,undefined");
    // A row that is not valid has an address that is computed and not used.
    words.push_back("-fno-sanitize=pointer-overflow");
    words.push_back("-fno-omit-frame-pointer");
    words.push_back("-g1");
#ifndef __clang__
    // Guard shared memory too, though it has a section of its own. Clang, by
    // which a sanitized process has its kernels compiled if it is itself,
    // cannot.
    words.push_back("-fsanitize-sections=dsv4_shared");
#endif
  } else {
    // No start files, and of the libraries only the small ones: linking is half
    // of the time.
    words.push_back("-nostdlib");
  }
  for (const char *word : {"-o", imageName, sourceName})
    words.push_back(word);
  if (!options.sanitize)
    for (const char *word : {"-lm", "-lc", "-lgcc"})
      words.push_back(word);
  return words;
}

/// The environment with messages in English and temporary files in the private
/// directory, which goes away with them.
std::vector<std::string> environmentFor(const std::string &directory) {
  std::vector<std::string> variables;
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string variable = *entry;
    const std::string name = variable.substr(0, variable.find('='));
    // A preloaded sanitizer is for this process.
    if (name != "LC_ALL" && name != "TMPDIR" && name != "LD_PRELOAD")
      variables.push_back(variable);
  }
  variables.push_back("LC_ALL=C");
  variables.push_back("TMPDIR=" + directory);
  return variables;
}

std::vector<char *> pointersTo(std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(&word[0]);
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs the program in `directory` with both outputs into the log. The result
/// is what waitpid says.
Result<int> runIn(const std::string &directory,
                  std::vector<std::string> words) {
  std::vector<std::string> variables = environmentFor(directory);
  const std::string log = directory + "/" + logName;

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, words.front().c_str(), &actions, nullptr,
                  pointersTo(words).data(), pointersTo(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    return Status(Code::Unavailable, "cannot start the host compiler '" +
                                         words.front() +
                                         "': " + std::strerror(error));

  int state = 0;
  while (waitpid(child, &state, 0) < 0) {
    if (errno != EINTR)
      return Status(Code::CompileFailed, "cannot wait for the host compiler '" +
                                             words.front() +
                                             "': " + std::strerror(errno));
  }
  return state;
}

/// The lines of the log that report errors, in one line; without such lines,
/// the first ones.
std::string summarize(const std::string &log) {
  std::vector<std::string> errors, others;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    const bool isError = line.find("error: ") != std::string::npos;
    if (!line.empty())
      (isError ? errors : others).push_back(line);
  }
  const std::vector<std::string> &lines = errors.empty() ? others : errors;
  std::string summary;
  for (size_t i = 0; i < lines.size() && i < maxDiagnostics; ++i)
    summary += (i ? "; " : "") + lines[i];
  if (lines.size() > maxDiagnostics)
    summary += "; and " + std::to_string(lines.size() - maxDiagnostics) +
               " more lines";
  return summary.empty() ? "no message" : summary;
}

} // namespace

bool HostCompileOptions::defaultSanitize() { return addressSanitizerIsOn; }

Result<std::vector<std::string>> findHostCompiler() {
  for (const char *variable : {"DSV4_HOST_CXX", "CXX"}) {
    const char *value = std::getenv(variable);
    std::vector<std::string> words = splitAtSpaces(value ? value : "");
    if (words.empty())
      continue;
    const std::string program = findProgram(words.front());
    if (!program.empty()) {
      words.front() = program;
      return words;
    }
    if (std::strcmp(variable, "DSV4_HOST_CXX") == 0)
      return Status(Code::Unavailable,
                    "DSV4_HOST_CXX names '" + words.front() +
                        "', which is no program that can be executed");
  }
  std::vector<std::string> names = {"c++", "g++", "clang++"};
#ifdef DSV4_HOST_SANITIZED_CXX
  // The kernel needs the run-time library that this process has.
  names.insert(names.begin(), DSV4_HOST_SANITIZED_CXX);
#endif
  for (const std::string &name : names) {
    const std::string program = findProgram(name);
    if (!program.empty())
      return std::vector<std::string>{program};
  }
  return Status(Code::Unavailable,
                "the host target needs a C++ compiler: none of $DSV4_HOST_CXX, "
                "$CXX, c++, g++, clang++ was found; install one (g++) or set "
                "DSV4_HOST_CXX");
}

Result<std::string> compileHost(const std::string &text,
                                const HostCompileOptions &options) {
  HostCompileOptions used = options;
  if (used.compiler.empty()) {
    Result<std::vector<std::string>> found = findHostCompiler();
    if (!found)
      return found.status();
    used.compiler = found.take();
  }
  if (used.optimization > 3)
    return Status(Code::InvalidArgument, "host compiler: optimization level " +
                                             std::to_string(used.optimization) +
                                             ": expected 0, 1, 2 or 3");

  Result<PrivateDirectory> directory = PrivateDirectory::create();
  if (!directory)
    return directory.status();
  if (Status written = directory->write(sourceName, text); !written)
    return written;
  Result<int> state = runIn(directory->path(), arguments(used));
  if (!state)
    return state.status();

  if (WIFEXITED(*state) && WEXITSTATUS(*state) == 0)
    return directory->read(imageName);
  const std::string how =
      WIFSIGNALED(*state)
          ? " was killed by signal " + std::to_string(WTERMSIG(*state)) + ": "
          : " refused the kernel: ";
  Result<std::string> log = directory->read(logName);
  return Status(Code::CompileFailed, "host compiler " + used.compiler.front() +
                                         how + summarize(log ? *log : ""));
}

} // namespace dsv4::rt
