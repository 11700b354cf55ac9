//===- Contract.h - How a destination is compared ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The promise of an op about a destination, as compared with the oracle;
// docs/Contracts.md has the rules. It does not depend on MLIR, so ops declare
// it and comparators take it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_REFERENCE_CONTRACT_H
#define DSV4_REFERENCE_CONTRACT_H

#include <cstdint>
#include <string>

namespace dsv4 {

class ResultContract {
public:
  enum class Kind {
    Exact,     ///< The bytes of the oracle.
    Ulp,       ///< At most n steps in the list of the format's values.
    Bounded,   ///< |got - exact| <= bound, which the oracle gives per element.
    Selection, ///< The exact selection of scores that are each within bounds.
  };

  ResultContract() = default;
  static ResultContract exact() { return {}; }
  static ResultContract ulp(uint64_t count) { return {Kind::Ulp, count}; }
  static ResultContract bounded() { return {Kind::Bounded, 0}; }
  static ResultContract selection() { return {Kind::Selection, 0}; }

  Kind getKind() const { return kind; }
  bool isExact() const { return kind == Kind::Exact; }
  /// n of `ulp n`.
  uint64_t getUlps() const { return ulps; }

  bool operator==(const ResultContract &other) const {
    return kind == other.kind && ulps == other.ulps;
  }
  bool operator!=(const ResultContract &other) const {
    return !(*this == other);
  }

private:
  ResultContract(Kind kind, uint64_t ulps) : kind(kind), ulps(ulps) {}

  Kind kind = Kind::Exact;
  uint64_t ulps = 0;
};

/// "exact", "ulp 2", "bounded" or "selection".
inline std::string toText(ResultContract contract) {
  switch (contract.getKind()) {
  case ResultContract::Kind::Exact:
    return "exact";
  case ResultContract::Kind::Ulp:
    return "ulp " + std::to_string(contract.getUlps());
  case ResultContract::Kind::Bounded:
    return "bounded";
  case ResultContract::Kind::Selection:
    return "selection";
  }
  return "";
}

} // namespace dsv4

#endif // DSV4_REFERENCE_CONTRACT_H
