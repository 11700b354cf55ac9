//===- HostCompiler.cpp - Kernel text to a shared object ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/Host/HostCompiler.h"

#include "ChildProcess.h"
#include "host/PrivateDirectory.h"
#include "host/Sanitizers.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace dsv4::rt {

namespace {

// In the private directory, which is the compiler's working directory, so that
// no message depends on its name.
constexpr const char *sourceName = "kernel.cu";
constexpr const char *imageName = "kernel.so";
constexpr const char *logName = "log";

/// Where programs are without a PATH.
constexpr const char *standardPath = "/usr/bin:/bin";

/// Messages are one line; a compiler that has lost its way says hundreds.
constexpr size_t maxDiagnostics = 8;
constexpr size_t maxLineBytes = 400;
constexpr size_t maxSummaryBytes = 2000;
constexpr size_t maxLogBytes = size_t(1) << 20;

/// The variables that the compiler sees as they are set here. All others, of
/// which CPATH, LIBRARY_PATH, GCC_EXEC_PREFIX and many more change what it
/// makes, are for this process.
constexpr const char *passedOn[] = {"HOME", "LD_LIBRARY_PATH", "PATH"};

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
  std::istringstream directories(search ? search : standardPath);
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

/// Messages in English and temporary files in the private directory, which goes
/// away with them.
std::vector<std::string> environmentFor(const std::string &directory) {
  std::vector<std::string> variables = {"LC_ALL=C", "TMPDIR=" + directory};
  for (const char *name : passedOn)
    if (const char *value = std::getenv(name))
      variables.push_back(std::string(name) + "=" + value);
  // The compiler looks for its assembler and linker as it was looked for.
  if (!std::getenv("PATH"))
    variables.push_back(std::string("PATH=") + standardPath);
  return variables;
}

/// At most `max` bytes, in which control characters and what is not ASCII are
/// escaped.
std::string printable(const std::string &line, size_t max) {
  std::string text;
  for (unsigned char c : line) {
    if (text.size() + 4 > max)
      return text + "...";
    char escaped[5];
    if (c < ' ' || c > '~')
      std::snprintf(escaped, sizeof(escaped), "\\x%02X", unsigned(c));
    text += c == '\t' ? " " : c < ' ' || c > '~' ? escaped : std::string(1, c);
  }
  return text;
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
  size_t shown = 0;
  while (shown < lines.size() && shown < maxDiagnostics) {
    const std::string line = printable(lines[shown], maxLineBytes);
    if (summary.size() + line.size() + 2 > maxSummaryBytes)
      break;
    summary += (shown++ ? "; " : "") + line;
  }
  if (lines.size() > shown)
    summary += "; and " + std::to_string(lines.size() - shown) + " more lines";
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
                        "', which is not an executable program");
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

std::vector<std::string> describeHostCompiler() {
  HostCompileOptions options;
  Result<std::vector<std::string>> found = findHostCompiler();
  if (!found)
    return {"none"};
  options.compiler = found.take();
  // An upgrade changes the driver with the compiler proper: both are built, and
  // packaged, together. Asking it for its version would be a process on the
  // path of a hit, and these are a few system calls. The inode is not part of
  // it: the same installation on another machine is the same compiler.
  const std::string &program = options.compiler.front();
  std::error_code error;
  std::vector<std::string> parts = {
      std::filesystem::canonical(program, error).string()};
  struct stat info = {};
  (void)stat(program.c_str(), &info);
  parts.push_back(std::to_string(info.st_size));
  parts.push_back(std::to_string(info.st_mtim.tv_sec) + "." +
                  std::to_string(info.st_mtim.tv_nsec));
  for (const char *name : passedOn) {
    const char *value = std::getenv(name);
    parts.push_back(value ? std::string("=") + value : "unset");
  }
  for (std::string &word : arguments(options))
    parts.push_back(std::move(word));
  return parts;
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
  const std::string &compiler = used.compiler.front();
  Result<int> state =
      runChild({arguments(used), environmentFor(directory->path()),
                directory->path(), directory->pathOf(logName)});
  if (!state)
    return Status(state.status().code(),
                  "host compiler: " + state.status().message());

  if (WIFEXITED(*state) && WEXITSTATUS(*state) == 0) {
    Result<std::string> image = directory->read(imageName);
    return image ? std::move(image)
                 : Status(Code::CompileFailed,
                          "host compiler " + compiler +
                              " reported no error and made no image: " +
                              image.status().message());
  }
  const std::string how =
      WIFSIGNALED(*state)
          ? " was killed by signal " + std::to_string(WTERMSIG(*state)) + ": "
          : " refused the kernel: ";
  Result<std::string> log = directory->read(logName, maxLogBytes);
  return Status(Code::CompileFailed,
                "host compiler " + compiler + how + summarize(log ? *log : ""));
}

} // namespace dsv4::rt
