//===- Prelude.h - The text that a kernel is pasted after -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emitted source includes nothing: the device library is part of this program
// and is pasted before a kernel, for NVRTC and for the host compiler
// alike. Both preludes set #line, so that a diagnostic names the library file,
// and end with #line 1 "kernel.cu". They consist of whole lines.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TARGET_CUDA_PRELUDE_H
#define DSV4_TARGET_CUDA_PRELUDE_H

#include <string>
#include <string_view>
#include <vector>

namespace dsv4::rt {

/// A file of device code of another dialect, for the calls of its ops. Includes
/// files of the device library, and of its own dialect, by name.
struct DeviceFile {
  std::string name; ///< As getHeader() of its ops has it: "engine/scores.cuh".
  std::string text;
};

/// The text of runtime/device/dsv4/<file>, byte for byte ("core/core.cuh");
/// empty if there is no such file.
std::string_view deviceLibrary(std::string_view file);

/// The files of the device library in the order in which they are pasted.
const std::vector<std::string_view> &deviceLibraryFiles();

/// The text before a kernel for NVRTC: the named files of the device library
/// and of `others`, and what they include; without names, all. `others` come
/// last, in their order.
std::string cudaPrelude(const std::vector<std::string> &files = {},
                        const std::vector<DeviceFile> &others = {});

/// A kernel as a file that nvcc accepts as it is: the same files, without
/// #line, then the kernel.
std::string selfContained(const std::vector<std::string> &files,
                          std::string_view kernel,
                          const std::vector<DeviceFile> &others = {});

/// The same files, as a file that kernels include.
std::string libraryFile(const std::vector<std::string> &files,
                        const std::vector<DeviceFile> &others = {});

/// The text before a kernel for compileHost(): the builtins, and the same files
/// with the host's primitives.
std::string hostPrelude(const std::vector<std::string> &files = {},
                        const std::vector<DeviceFile> &others = {});

/// The text after the kernel `symbol` for compileHost().
std::string hostEpilogue(std::string_view symbol);

/// A file of a prelude: its text without #pragma once and #include, after a
/// #line that names it.
std::string pasted(std::string_view name, std::string_view text);

} // namespace dsv4::rt

#endif // DSV4_TARGET_CUDA_PRELUDE_H
