//===- Prelude.cpp - The text that a kernel is pasted behind --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/Prelude.h"

#include <algorithm>
#include <set>

namespace dsv4::rt {

// In generated files: the texts of runtime/device/dsv4 and runtime/host/dsv4.
std::string_view hostLibrary(std::string_view file);

namespace {

/// The host's file with the names of a file of the device library, if it has
/// one: "primitives.h" of "core/primitives.cuh".
std::string twinOf(std::string_view file) {
  file.remove_prefix(file.rfind('/') + 1); // Those of the host have no folder.
  return std::string(file.substr(0, file.rfind('.'))) + ".h";
}

std::string beginKernel() { return "#line 1 \"kernel.cu\"\n"; }

/// Marks `file` and what it includes.
void require(std::string_view file, std::set<std::string_view> &needed) {
  const auto &files = deviceLibraryFiles();
  const auto known = std::find(files.begin(), files.end(), file);
  if (known == files.end() || !needed.insert(*known).second)
    return;
  constexpr std::string_view include = "#include \"";
  std::string_view text = deviceLibrary(file);
  for (size_t at = text.find(include); at != std::string_view::npos;
       at = text.find(include, at)) {
    at += include.size();
    require(text.substr(at, text.find('"', at) - at), needed);
  }
}

/// The files of the device library that `files` need, in their order.
std::vector<std::string_view>
selectFiles(const std::vector<std::string> &files) {
  std::set<std::string_view> needed;
  for (const std::string &file : files)
    require(file, needed);
  std::vector<std::string_view> selected;
  for (std::string_view file : deviceLibraryFiles())
    if (files.empty() || needed.count(file))
      selected.push_back(file);
  return selected;
}

} // namespace

std::string pasted(std::string_view name, std::string_view text) {
  std::string result = "#line 1 \"dsv4/" + std::string(name) + "\"\n";
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const auto startsWith = [&](std::string_view word) {
      return line.substr(0, word.size()) == word;
    };
    // An empty line in its place keeps the numbers right.
    if (!startsWith("#pragma once") && !startsWith("#include"))
      result += line;
    result += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

std::string cudaPrelude(const std::vector<std::string> &files) {
  std::string text;
  for (std::string_view file : selectFiles(files))
    text += pasted(file, deviceLibrary(file));
  return text + beginKernel();
}

std::string hostPrelude(const std::vector<std::string> &files) {
  std::string text;
  for (std::string_view file : {"abi.h", "cuda_builtins.h"})
    text += pasted(file, hostLibrary(file));
  // What no kernel calls is not compiled, and shared memory that a template
  // declares is of the same kind as the kernel's own.
  text += "namespace {\n";
  for (std::string_view file : selectFiles(files)) {
    const std::string twin = twinOf(file);
    text += hostLibrary(twin).empty() ? pasted(file, deviceLibrary(file))
                                      : pasted(twin, hostLibrary(twin));
  }
  return text + "} // namespace\n" + beginKernel();
}

std::string hostEpilogue(std::string_view symbol) {
  return "\n#line 1 \"dsv4/epilogue\"\n"
         "extern \"C\" void dsv4_host_entry(void **params) {\n"
         "  dsv4_host::call(&" +
         std::string(symbol) +
         ", params);\n"
         "}\n";
}

} // namespace dsv4::rt
