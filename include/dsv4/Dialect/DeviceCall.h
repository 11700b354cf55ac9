//===- DeviceCall.h - A call as the printer writes it -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of DeviceCallOpInterface. They are read from the op; the printer
// adds only the names of values and types.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DEVICECALL_H
#define DSV4_DIALECT_DEVICECALL_H

#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <variant>

namespace dsv4::cuda {

/// `scope`::`name`: a value of an enumeration, or a tag of a namespace.
struct Enumerator {
  llvm::StringRef scope, name;
};

using TemplateArgument = std::variant<mlir::Type, int64_t, bool, Enumerator>;

/// A member of a config: an int, a bool or an enumerator that is a constant, or
/// a type.
struct ConfigMember {
  llvm::StringRef name;
  TemplateArgument value;
};

/// The only template argument of a call that would need many: a type that
/// derives from the defaults of the library, `base`, and sets the members that
/// differ.
struct CallConfig {
  llvm::StringRef base;
  llvm::SmallVector<ConfigMember> members;
};

/// &base[offset]
struct ElementAddress {
  mlir::Value base, offset;
};

/// An object of a type of the library that is made for the call: `type`().
struct Temporary {
  llvm::StringRef type;
};

/// A region as a lambda. Its parameters are the arguments of the region, then
/// `callback`, a function that the terminator of the region calls, then
/// `outputs`.
struct Lambda {
  mlir::Region *region = nullptr;
  llvm::StringRef callback = "";
  /// Parameters that are set to the last operands of the terminator. Those
  /// before them are returned.
  llvm::SmallVector<llvm::StringRef, 0> outputs = {};
  /// The library function that combines several returned values into one.
  llvm::StringRef maker = "";
};

using CallArgument = std::variant<mlir::Value, ElementAddress, int64_t,
                                  llvm::APFloat, Temporary, Lambda>;

/// How the offsets of memory accesses in a region are added up.
enum class OffsetSum {
  /// As wide as the range of each value requires.
  Range,
  /// The last sum has 64 bits. The region is unrolled, so all of the sum except
  /// the lane is constant, and the instruction takes the constant.
  Wide,
  /// Values that depend on the first argument have 64 bits. A loop counts the
  /// argument, and the instructions take the constant parts of sums.
  WideIndex,
};

} // namespace dsv4::cuda

#endif // DSV4_DIALECT_DEVICECALL_H
