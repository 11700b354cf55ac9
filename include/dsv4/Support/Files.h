//===- Files.h - Files that strangers name ----------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A path of a command line may name anything: a folder, a device without an
// end, a pipe without a writer, a link. Reading ends, and writing replaces
// nothing but regular files, whole.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SUPPORT_FILES_H
#define DSV4_SUPPORT_FILES_H

#include "dsv4-runtime/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace dsv4 {

/// Longest schedule table, in bytes.
constexpr size_t kMaxTableBytes = 1 << 20;

/// Maximum that is read from a pipe, in bytes. A file has its own size.
constexpr size_t kMaxPipeBytes = size_t(1) << 30;

/// What is wrong with a file or its contents.
rt::Status invalidFile(llvm::StringRef name, const llvm::Twine &what);

/// The bytes of `path`, a file or a pipe; "-" is standard input. More than
/// `maxBytes`, a folder or a device is an error. So is a pipe that has not
/// ended after ten seconds plus one per MiB. Standard input has no limit of
/// time.
rt::Result<std::string> readFile(llvm::StringRef path, size_t maxBytes);

/// Whether writeFile() can be expected to work. Called before the result is
/// computed.
rt::Status checkWritable(llvm::StringRef path);

/// Writes `parts`, one after the other. A regular file, the end of a link too,
/// is replaced when all is written, and keeps its permissions; a pipe, a
/// character device, or an open file named as /dev/stdout or /dev/fd/N is
/// written to, at its offset. Anything else is an error.
rt::Status writeFile(llvm::StringRef path,
                     llvm::ArrayRef<llvm::StringRef> parts);

/// Writes to standard output. A failed write is an error, not a signal.
rt::Status writeStandardOutput(llvm::StringRef text);

/// One spelling for all paths of a file that may not exist yet, the end of all
/// links.
std::string canonicalPath(llvm::StringRef path);

} // namespace dsv4

#endif // DSV4_SUPPORT_FILES_H
