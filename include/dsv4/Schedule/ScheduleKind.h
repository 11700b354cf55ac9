//===- ScheduleKind.h - Kinds of schedule parts ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_SCHEDULEKIND_H
#define DSV4_SCHEDULE_SCHEDULEKIND_H

#include "dsv4/Dialect/DSV4.h"

#include "mlir/IR/DialectInterface.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <set>

namespace dsv4 {

/// A candidate schedule of a kernel: its parts so far.
struct ScheduleCandidate {
  LaunchPart launch;
  llvm::SmallVector<mlir::Attribute, 2> parts;
};

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// One part of an entry of a schedule table: the kernels that it is for, and
/// the start of its candidates.
class PartEntry {
public:
  virtual ~PartEntry() = default;

  /// The name of the part: "dsv4.rows".
  virtual llvm::StringRef getKind() const = 0;
  /// The part as it stands in the table; null after an error.
  virtual mlir::Attribute getPart(EmitError emitError,
                                  mlir::MLIRContext *context) const = 0;
  /// Whether the entry is for `kernel`.
  virtual bool appliesTo(KernelOp kernel) const = 0;
  /// Appends `base` with a part of this kind, once per part that is worth
  /// trying, the best first. The launch part may be reduced, too.
  virtual void
  addCandidates(KernelOp kernel, const ScheduleCandidate &base,
                llvm::SmallVectorImpl<ScheduleCandidate> &candidates) const = 0;
  /// An entry to try if no candidate of this one fits, or null. May widen the
  /// launch part. Its last candidate has the smallest demands, so its misfit
  /// explains why nothing fits.
  virtual std::shared_ptr<const PartEntry> widen(LaunchPart &) const {
    return nullptr;
  }
};

/// One object of a table. Members are read by name; others are errors.
class TableObject {
public:
  TableObject(const llvm::json::Value &value, llvm::json::Path path)
      : map(value, path), object(value.getAsObject()), path(path),
        good(bool(map)) {}

  template <typename T>
  void read(llvm::StringLiteral key, T &out) {
    known.insert(key.str());
    good = good && map.mapOptional(key, out);
  }
  template <typename Enum>
  void read(llvm::StringLiteral key, Enum &out,
            std::optional<Enum> (*symbolize)(llvm::StringRef),
            llvm::StringLiteral expected) {
    std::optional<std::string> word;
    read(key, word);
    if (!good || !word)
      return;
    if (auto value = symbolize(*word))
      out = *value;
    else
      fail(key, expected);
  }
  /// A member that is read by others, or null.
  const llvm::json::Value *find(llvm::StringRef key) {
    known.insert(key.str());
    return object ? object->get(key) : nullptr;
  }
  void readNotNegative(llvm::StringLiteral key, int64_t &out) {
    read(key, out);
    if (good && out < 0)
      fail(key, "expected a number that is not negative");
  }
  void fail(llvm::StringRef key, llvm::StringLiteral expected) {
    path.field(key).report(expected);
    good = false;
  }
  bool isGood() const { return good; }
  /// A member that was not read, or an empty string.
  std::string findUnknown() const {
    if (object)
      for (const auto &[key, unused] : *object)
        if (!known.count(key.str()))
          return key.str();
    return "";
  }

private:
  llvm::json::ObjectMapper map;
  const llvm::json::Object *object;
  llvm::json::Path path;
  bool good;
  std::set<std::string> known;
};

/// A kind of schedule part: the functions that its attribute does not have.
class ScheduleKind {
public:
  virtual ~ScheduleKind() = default;

  /// The key of its object in an entry of a table: "rows".
  virtual llvm::StringRef getKey() const = 0;
  /// Reads that object. Errors are in `object`.
  virtual std::shared_ptr<const PartEntry> read(TableObject &object) const = 0;
};

/// The kinds that a dialect brings.
class ScheduleKindInterface
    : public mlir::DialectInterface::Base<ScheduleKindInterface> {
public:
  ScheduleKindInterface(mlir::Dialect *dialect) : Base(dialect) {}
  virtual llvm::ArrayRef<const ScheduleKind *> getKinds() const = 0;
  /// A table of JSON that is searched after the user's, with entries for ops of
  /// the dialect; empty: none.
  virtual llvm::StringRef getTable() const { return ""; }
};

/// The kinds of all loaded dialects.
llvm::SmallVector<const ScheduleKindInterface *>
getScheduleInterfaces(mlir::MLIRContext *context);

/// The kinds of all loaded dialects. Parts of an entry are tried in this order.
llvm::SmallVector<const ScheduleKind *>
getScheduleKinds(mlir::MLIRContext *context);

/// Attaches the kinds of dsv4: rows, window and select.
void registerScheduleKinds(mlir::DialectRegistry &registry);

} // namespace dsv4

#endif // DSV4_SCHEDULE_SCHEDULEKIND_H
