//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One array in, one array out, row-major and little-endian:
//
//   bytes 0-5    \x93 N U M P Y
//   bytes 6-7    version: 1.0, 2.0 or 3.0
//   bytes 8-     length of the header, 2 bytes (1.0) or 4 bytes, little-endian
//   header       a Python dict: {'descr': '<f4', 'fortran_order': False,
//                'shape': (2, 3), }, padded with blanks, ended by a newline
//   the rest     the elements
//
// A file of another form is refused with one line that says what to do. Nothing
// in a file is trusted.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SUPPORT_NPY_H
#define DSV4_SUPPORT_NPY_H

#include "dsv4-runtime/Status.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dsv4 {

struct NpyArray {
  /// Kind and size in bytes of one element: "u1", "u2", "u4", "i4", "i8" or
  /// "f4". Floats that NumPy lacks travel as the unsigned integer of their
  /// width.
  std::string dtype;
  std::vector<int64_t> shape; ///< Empty for a scalar, which has one element.
  std::vector<char> bytes;    ///< Elements, row-major, little-endian.
};

/// NumPy's name of a dtype: "uint8" for "u1", "float32" for "f4".
llvm::StringRef getNumpyName(llvm::StringRef dtype);

/// Reads the array in the file `path`, or from that pipe.
rt::Result<NpyArray> readNpy(llvm::StringRef path);

/// Reads an array from the contents of a file; errors call it `name`.
rt::Result<NpyArray> parseNpy(llvm::StringRef contents, llvm::StringRef name);

/// Writes `array` to the file `path`, in version 1.0. The file is written under
/// another name and renamed, so after a failure `path` is as before.
rt::Status writeNpy(llvm::StringRef path, const NpyArray &array);

} // namespace dsv4

#endif // DSV4_SUPPORT_NPY_H
