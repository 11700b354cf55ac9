//===- Prelude.cpp - The text that a kernel is pasted after ---------------===//
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

/// A file that can be pasted.
struct Source {
  std::string_view name, text;
  bool isOfLibrary;
};

/// Those of the device library and of others, in the order in which they are
/// pasted.
std::vector<Source> listSources(const std::vector<DeviceFile> &others) {
  std::vector<Source> sources;
  for (std::string_view file : deviceLibraryFiles())
    sources.push_back({file, deviceLibrary(file), true});
  for (const DeviceFile &file : others)
    sources.push_back({file.name, file.text, false});
  return sources;
}

/// Marks `file` and what it includes.
void require(std::string_view file, const std::vector<Source> &sources,
             std::set<std::string_view> &needed) {
  const auto known =
      std::find_if(sources.begin(), sources.end(),
                   [&](const Source &source) { return source.name == file; });
  if (known == sources.end() || !needed.insert(known->name).second)
    return;
  constexpr std::string_view include = "#include \"";
  for (size_t at = known->text.find(include); at != std::string_view::npos;
       at = known->text.find(include, at)) {
    at += include.size();
    require(known->text.substr(at, known->text.find('"', at) - at), sources,
            needed);
  }
}

/// Those that `files` need.
std::vector<Source> selectSources(const std::vector<std::string> &files,
                                  const std::vector<DeviceFile> &others) {
  const std::vector<Source> sources = listSources(others);
  std::set<std::string_view> needed;
  for (const std::string &file : files)
    require(file, sources, needed);
  std::vector<Source> selected;
  for (const Source &source : sources)
    if (files.empty() || needed.count(source.name))
      selected.push_back(source);
  return selected;
}

/// A file without what only an including file needs.
std::string withoutIncludes(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const auto startsWith = [&](std::string_view word) {
      return line.substr(0, word.size()) == word;
    };
    // An empty line instead keeps the line numbers right.
    if (!startsWith("#pragma once") && !startsWith("#include"))
      result += line;
    result += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

std::string pasted(const Source &source) {
  if (source.isOfLibrary)
    return rt::pasted(source.name, source.text);
  return "#line 1 \"" + std::string(source.name) + "\"\n" +
         withoutIncludes(source.text);
}

} // namespace

std::string pasted(std::string_view name, std::string_view text) {
  return "#line 1 \"dsv4/" + std::string(name) + "\"\n" + withoutIncludes(text);
}

/// The files without #line, each before a blank line.
static std::string joined(const std::vector<std::string> &files,
                          const std::vector<DeviceFile> &others) {
  std::string text;
  for (const Source &source : selectSources(files, others))
    text += withoutIncludes(source.text) + "\n";
  return text;
}

std::string selfContained(const std::vector<std::string> &files,
                          std::string_view kernel,
                          const std::vector<DeviceFile> &others) {
  return ("// Functions of dsv4's device library, and the kernel that calls "
          "them at the end.\n\n" +
          joined(files, others))
      .append(kernel);
}

std::string libraryFile(const std::vector<std::string> &files,
                        const std::vector<DeviceFile> &others) {
  return "// Functions of dsv4's device library that the kernels beside this "
         "file call.\n#pragma once\n\n" +
         joined(files, others);
}

std::string cudaPrelude(const std::vector<std::string> &files,
                        const std::vector<DeviceFile> &others) {
  std::string text;
  for (const Source &source : selectSources(files, others))
    text += pasted(source);
  return text + beginKernel();
}

std::string hostPrelude(const std::vector<std::string> &files,
                        const std::vector<DeviceFile> &others) {
  std::string text;
  for (std::string_view file : {"abi.h", "cuda_builtins.h"})
    text += pasted(file, hostLibrary(file));
  // What no kernel calls is not compiled, and shared memory that a template
  // declares is of the same kind as the kernel's own.
  text += "namespace {\n";
  for (const Source &source : selectSources(files, others)) {
    const std::string twin = source.isOfLibrary ? twinOf(source.name) : "";
    text += hostLibrary(twin).empty() ? pasted(source)
                                      : pasted(twin, hostLibrary(twin));
  }
  return text + "} // namespace\n" + beginKernel();
}

// A kernel may have any name but those that begin with dsv4_host.
std::string hostEpilogue(std::string_view symbol) {
  return "\n#line 1 \"dsv4/epilogue\"\n"
         "extern \"C\" void dsv4_host_entry(void **dsv4_host_params) {\n"
         "  ::dsv4_host::call(&::" +
         std::string(symbol) +
         ", dsv4_host_params);\n"
         "}\n";
}

} // namespace dsv4::rt
