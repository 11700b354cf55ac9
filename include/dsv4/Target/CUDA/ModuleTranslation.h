//===- ModuleTranslation.h - The printer's state ----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TARGET_CUDA_MODULETRANSLATION_H
#define DSV4_TARGET_CUDA_MODULETRANSLATION_H

#include "dsv4/Target/CUDA/TranslateToCUDA.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Support/IndentedOstream.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace dsv4 {

/// C++ precedence, tightest first.
enum class Precedence {
  Primary,
  Postfix,
  Unary,
  Multiplicative,
  Additive,
  Shift,
  Relational,
  Equality,
  BitAnd,
  BitXor,
  BitOr,
  And,
  Or,
  Conditional,
};

/// What C++ makes of an integer that it computes from threadIdx and its like,
/// which are unsigned.
enum class Sign {
  Signed,
  /// Unsigned, and never negative. It is used as it is, unless its partner
  /// makes a difference.
  Unsigned,
  /// Unsigned, the value modulo 2^32 of one that may be negative. Sums and
  /// products take it as it is, and a line of its own converts it back;
  /// elsewhere a cast does.
  Modular,
};

/// The text of an expression, and how tightly it binds.
struct Spelling {
  std::string text;
  Precedence precedence = Precedence::Primary;
  /// Whether C++ gives an integer an unsigned type: a line of its own converts
  /// it back, and elsewhere a cast does.
  bool isUnsigned = false;
  Sign sign = Sign::Signed;
  /// Whether the text holds statements, as a lambda does.
  bool hasStatements = false;

  /// The text as an operand of something that binds as `outer`.
  std::string within(Precedence outer) const {
    return precedence <= outer ? text : "(" + text + ")";
  }
};

/// The shortest decimal literal that is this float; bits where C++ has none.
Spelling spellFloat(float value);

/// Whether the definition of an integer says that it is not negative.
bool isKnownNonNegative(mlir::Value value, unsigned depth = 0);

/// One of two values, as ModuleTranslation::spellPair spells them.
Spelling spellChoice(llvm::StringRef condition,
                     const std::pair<Spelling, Spelling> &values);

class ModuleTranslation;

/// How the ops of one dialect are written.
class CUDATranslationDialectInterface
    : public mlir::DialectInterface::Base<CUDATranslationDialectInterface> {
public:
  CUDATranslationDialectInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// The expression for the result of `op`.
  virtual mlir::FailureOr<Spelling> spell(mlir::Operation *op,
                                          ModuleTranslation &text) const;
  /// The statement for an op without a result.
  virtual mlir::LogicalResult print(mlir::Operation *op,
                                    ModuleTranslation &text) const;
  /// The file of the device library that the text of `op` needs beside those of
  /// element types, or "".
  virtual llvm::StringRef getHeader(mlir::Operation *op) const;
};

/// How `op` is written, or null.
const CUDATranslationDialectInterface *getCUDATranslation(mlir::Operation *op);

/// One run of the printer.
class ModuleTranslation {
public:
  ModuleTranslation(llvm::raw_ostream &os, const EmissionOptions &options)
      : stream(os), current(&stream), options(options) {}

  mlir::raw_indented_ostream &os() { return *current; }
  /// What `print` writes to os(), as text that starts without an indent.
  mlir::FailureOr<std::string>
  capture(llvm::function_ref<mlir::LogicalResult()> print);

  /// Gives `value`, from here on, the name that its location carries. Every
  /// name of a value goes through here: one that is not an identifier, or that
  /// another value of the kernel has, is an error.
  mlir::FailureOr<llvm::StringRef> declare(mlir::Value value);
  /// The name of a declared value, or the expression of one without a name.
  /// With `isModular` the user computes modulo 2^32, so it may be an unsigned
  /// one.
  mlir::FailureOr<Spelling> spell(mlir::Value value, bool isModular = false);
  /// The expressions of two values of one type of which one becomes the result,
  /// or which are compared or divided: of one sign in C++ if a sign matters.
  mlir::FailureOr<std::pair<Spelling, Spelling>> spellPair(mlir::Value lhs,
                                                           mlir::Value rhs);
  /// The number that every element of the tile `value` is, if the IR says so.
  std::optional<Spelling> spellNumber(mlir::Value value);
  /// The tile `value` that has such a number.
  mlir::FailureOr<Spelling> spellFill(mlir::Value value);
  /// The expression `spelling` of `value`, as one of the type of `value`.
  mlir::FailureOr<Spelling> castBack(const Spelling &spelling,
                                     mlir::Value value);
  mlir::FailureOr<Spelling> spellOp(mlir::Operation *op);
  mlir::FailureOr<std::string> spellType(mlir::Type type, mlir::Location loc);
  /// The text of `value` as an operand of something that binds as `outer`.
  mlir::FailureOr<std::string> spellWithin(mlir::Value value, Precedence outer);

  /// Prints the statements of a block, its terminator excepted.
  mlir::LogicalResult printBlock(mlir::Block &block);
  /// Prints two blocks of which one is executed, and `between` between them. A
  /// name may be in both.
  mlir::LogicalResult printBranches(mlir::Block &first, mlir::Block &second,
                                    llvm::function_ref<void()> between);
  mlir::LogicalResult printStatement(mlir::Operation *op);
  mlir::LogicalResult printKernel(mlir::Operation *func);
  /// Whether `function` was printed, so that what follows can call it.
  bool isPrinted(llvm::StringRef function) const {
    return globalNames.contains(function);
  }

private:
  /// Begins a function with its own values.
  mlir::LogicalResult beginFunction(mlir::Operation *func);
  /// Prints the functions that kernels of `module` call.
  mlir::LogicalResult printFunctions(mlir::Operation *module);
  mlir::LogicalResult printFunction(mlir::Operation *func);
  /// Prints the config types of the calls in a kernel.
  mlir::LogicalResult printConfigs(mlir::Operation *func);
  mlir::LogicalResult printParameters(mlir::Block &body,
                                      llvm::StringRef symbol);
  void printLineDirective(mlir::Operation *op);
  mlir::FailureOr<Spelling> refuseExpression(mlir::Operation *op);
  const CUDATranslationDialectInterface *interfaceOf(mlir::Operation *op);

  mlir::raw_indented_ostream stream;
  mlir::raw_indented_ostream *current;
  EmissionOptions options;
  /// Of the kernels and their config types printed so far, and of the values of
  /// the kernel being printed.
  llvm::StringSet<> globalNames, valueNames;
  llvm::DenseMap<mlir::Value, llvm::StringRef> declared;
  /// The number of expressions around the current one.
  unsigned expressionDepth = 0;
  /// Whether an expression was refused for its depth or length. Then printing
  /// stops, because each use would fail again.
  bool refusedExpression = false;
};

void registerArithCUDATranslation(mlir::DialectRegistry &registry);
void registerCUDACUDATranslation(mlir::DialectRegistry &registry);
void registerFuncCUDATranslation(mlir::DialectRegistry &registry);
void registerGPUCUDATranslation(mlir::DialectRegistry &registry);
void registerSCFCUDATranslation(mlir::DialectRegistry &registry);
void registerMathCUDATranslation(mlir::DialectRegistry &registry);
void registerVectorCUDATranslation(mlir::DialectRegistry &registry);

} // namespace dsv4

#endif // DSV4_TARGET_CUDA_MODULETRANSLATION_H
