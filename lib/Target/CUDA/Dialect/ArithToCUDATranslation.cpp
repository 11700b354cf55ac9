//===- ArithToCUDATranslation.cpp - Spellings of arith ops ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "dsv4/Dialect/CUDA/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dsv4;

namespace {

struct Operator {
  StringRef text;
  Precedence precedence;
  /// Whether a - (b - c) needs its parentheses.
  bool associative;
};

/// The binary operator of an op, if it is one.
std::optional<Operator> getOperator(Operation *op) {
  using P = Precedence;
  return llvm::TypeSwitch<Operation *, std::optional<Operator>>(op)
      .Case<arith::AddIOp>(
          [](auto) { return Operator{"+", P::Additive, true}; })
      .Case<arith::AddFOp>(
          [](auto) { return Operator{"+", P::Additive, false}; })
      .Case<arith::SubIOp, arith::SubFOp>(
          [](auto) { return Operator{"-", P::Additive, false}; })
      .Case<arith::MulIOp, arith::MulFOp>(
          [](auto) { return Operator{"*", P::Multiplicative, false}; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::DivFOp>(
          [](auto) { return Operator{"/", P::Multiplicative, false}; })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [](auto) { return Operator{"%", P::Multiplicative, false}; })
      .Case<arith::AndIOp>([](arith::AndIOp op) {
        return op.getType().isInteger(1) ? Operator{"&&", P::And, true}
                                         : Operator{"&", P::BitAnd, true};
      })
      .Case<arith::OrIOp>([](arith::OrIOp op) {
        return op.getType().isInteger(1) ? Operator{"||", P::Or, true}
                                         : Operator{"|", P::BitOr, true};
      })
      .Case<arith::XOrIOp>([](auto) { return Operator{"^", P::BitXor, true}; })
      .Case<arith::CmpIOp>([](arith::CmpIOp op) -> std::optional<Operator> {
        switch (op.getPredicate()) {
        case arith::CmpIPredicate::eq:
          return Operator{"==", P::Equality, false};
        case arith::CmpIPredicate::ne:
          return Operator{"!=", P::Equality, false};
        case arith::CmpIPredicate::slt:
          return Operator{"<", P::Relational, false};
        case arith::CmpIPredicate::sle:
          return Operator{"<=", P::Relational, false};
        case arith::CmpIPredicate::sgt:
          return Operator{">", P::Relational, false};
        case arith::CmpIPredicate::sge:
          return Operator{">=", P::Relational, false};
        default:
          return std::nullopt;
        }
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The operand of a widening that has no name of its own, else null.
Value getWidened(Value value) {
  auto cast = value.getDefiningOp<arith::ExtSIOp>();
  return cast && getEmittedName(cast->getLoc()).empty() ? cast.getIn()
                                                        : Value();
}

/// Leaves out the widening of one operand where C++ does it by itself because
/// the other operand has 64 bits as it is written.
void dropImplicitCast(Value &lhs, Value &rhs) {
  Value left = getWidened(lhs), right = getWidened(rhs);
  // A constant of 64 bits may be written as one of 32.
  bool leftConstant = isa_and_present<arith::ConstantOp>(lhs.getDefiningOp());
  bool rightConstant = isa_and_present<arith::ConstantOp>(rhs.getDefiningOp());
  if (right && !leftConstant)
    rhs = right;
  else if (left && !right && !rightConstant)
    lhs = left;
}

/// A number of that many bits. The lowest one is no literal with a sign: C++
/// gives what follows the sign a wider type.
Spelling spellInteger(int64_t value, unsigned width) {
  if (width >= 32 && value == llvm::minIntN(width))
    return {"(" + spellInteger(value + 1, width).text + " - 1)",
            Precedence::Primary};
  bool isInt = value == static_cast<int32_t>(value);
  return {std::to_string(value) + (isInt ? "" : "ll"),
          value < 0 ? Precedence::Unary : Precedence::Primary};
}

FailureOr<Spelling> spellConstant(arith::ConstantOp op,
                                  ModuleTranslation &text) {
  if (op.getType().isInteger(1))
    return Spelling{cast<BoolAttr>(op.getValue()).getValue() ? "true"
                                                             : "false"};
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return spellInteger(integer.getValue().getSExtValue(),
                        integer.getValue().getBitWidth());
  if (auto number = dyn_cast<FloatAttr>(op.getValue());
      number && number.getType().isF32())
    return spellFloat(number.getValue().convertToFloat());
  // A number for every element of a tile.
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (splat && splat.getElementType().isInteger(32)) {
    auto type = text.spellType(splat.getType(), op.getLoc());
    if (failed(type))
      return failure();
    Spelling number =
        spellInteger(splat.getSplatValue<APInt>().getSExtValue(), 32);
    return Spelling{"dsv4::fill<" + *type + ">(" + number.text + ")",
                    Precedence::Postfix};
  }
  if (!splat || !splat.getElementType().isF32())
    return op.emitOpError() << "has no CUDA spelling";
  return text.spellFill(op.getResult());
}

class ArithTranslation : public CUDATranslationDialectInterface {
public:
  using CUDATranslationDialectInterface::CUDATranslationDialectInterface;

  FailureOr<Spelling> spell(Operation *op,
                            ModuleTranslation &text) const override;
  StringRef getHeader(Operation *op) const override;

private:
  FailureOr<Spelling> spellBinary(Operation *op, const Operator &how,
                                  ModuleTranslation &text) const;
  FailureOr<Spelling> spellConversion(Operation *op,
                                      ModuleTranslation &text) const;
};

} // namespace

/// Whether `value` is one of threadIdx and its like, which are unsigned.
static bool isBuiltin(Value value) {
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  return cast && getEmittedName(cast->getLoc()).empty() &&
         cast.getIn().getType().isIndex();
}

/// Whether a result modulo 2^32 depends on its operands modulo 2^32 alone.
static bool isModular(Operation *op) {
  if (!op->getOperand(0).getType().isInteger(32))
    return false;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicate() == arith::CmpIPredicate::eq ||
           compare.getPredicate() == arith::CmpIPredicate::ne;
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp>(op);
}

/// The sign of what C++ computes of two integers of 32 bits.
static Sign getSign(Operation *op, const Spelling &left,
                    const Spelling &right) {
  if (isa<arith::CmpIOp>(op) ||
      (left.sign == Sign::Signed && right.sign == Sign::Signed))
    return Sign::Signed;
  auto isNatural = [](const Spelling &spelling, Value value) {
    return spelling.sign == Sign::Unsigned || isKnownNonNegative(value);
  };
  bool isNegative = isa<arith::SubIOp>(op) ||
                    !isNatural(left, op->getOperand(0)) ||
                    !isNatural(right, op->getOperand(1));
  return isNegative ? Sign::Modular : Sign::Unsigned;
}

/// The operands of arithmetic on floats. One number for all elements of a tile
/// is written as the number, where the device library has a function of both.
static FailureOr<std::pair<Spelling, Spelling>>
spellFloats(Operation *op, ModuleTranslation &text) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  bool hasTile = !text.spellNumber(lhs) || !text.spellNumber(rhs);
  bool mayBeFirst = isa<arith::SubFOp, arith::MulFOp, arith::DivFOp>(op);
  auto spell = [&](Value value, bool mayBeNumber) -> FailureOr<Spelling> {
    auto number = text.spellNumber(value);
    return number && mayBeNumber ? FailureOr<Spelling>(*number)
                                 : text.spell(value);
  };
  auto left = spell(lhs, hasTile && mayBeFirst), right = spell(rhs, hasTile);
  if (failed(left) || failed(right))
    return failure();
  return std::pair(*left, *right);
}

/// The operands of a binary operator, each as its value or modulo 2^32.
static FailureOr<std::pair<Spelling, Spelling>>
spellOperands(Operation *op, Value lhs, Value rhs, ModuleTranslation &text) {
  if (isa<VectorType>(op->getResult(0).getType()))
    return spellFloats(op, text);
  // Those of an unsigned division are not negative.
  bool mayBeNegative = !isa<arith::DivUIOp, arith::RemUIOp>(op);
  if (mayBeNegative && !isModular(op) && lhs.getType().isInteger(32) &&
      rhs.getType().isInteger(32))
    return text.spellPair(lhs, rhs);
  auto left = text.spell(lhs, isModular(op)),
       right = text.spell(rhs, isModular(op));
  if (failed(left) || failed(right))
    return failure();
  return std::pair(*left, *right);
}

FailureOr<Spelling>
ArithTranslation::spellBinary(Operation *op, const Operator &how,
                              ModuleTranslation &text) const {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if (lhs.getType().isInteger(64))
    dropImplicitCast(lhs, rhs);
  // Neither operand is negative. One that is unsigned in C++ makes the
  // operation so: a literal if there is one.
  bool isDivision = isa<arith::DivUIOp, arith::RemUIOp>(op);
  bool isUnsigned = isDivision && !isBuiltin(lhs);
  bool hasLiteral = matchPattern(rhs, m_Constant());
  bool isCast = isUnsigned && !hasLiteral;
  auto operands = spellOperands(op, lhs, rhs, text);
  if (failed(operands))
    return failure();
  auto [leftSpelling, right] = *operands;
  std::string left =
      leftSpelling.within(isCast ? Precedence::Unary : how.precedence);
  bool isWide = op->getResult(0).getType().isInteger(64);
  if (isCast)
    left = (isWide ? "(unsigned long long)" : "(unsigned)") + left;
  else if (isUnsigned)
    right.text =
        StringRef(right.text).rtrim('l').str() + (isWide ? "ull" : "u");
  bool bare = right.precedence < how.precedence ||
              (how.associative && right.precedence == how.precedence);
  Spelling result{left + " " + how.text.str() + " " +
                      (bare ? right.text : "(" + right.text + ")"),
                  how.precedence, isUnsigned};
  if (isDivision && !isUnsigned)
    result.sign = Sign::Unsigned;
  else if (isModular(op))
    result.sign = getSign(op, leftSpelling, right);
  return result;
}

FailureOr<Spelling>
ArithTranslation::spellConversion(Operation *op,
                                  ModuleTranslation &text) const {
  auto value = text.spell(op->getOperand(0));
  if (failed(value))
    return failure();
  Type to = op->getResult(0).getType();
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(op)) {
    Type element =
        isa<VectorType>(to) ? cast<VectorType>(to).getElementType() : to;
    auto type = text.spellType(element, op->getLoc());
    if (failed(type))
      return failure();
    return Spelling{"dsv4::convert<" + *type + ">(" + value->text + ")",
                    Precedence::Postfix};
  }
  // Of a tile, indices become wider ones, or those of 16 bits.
  if (isa<VectorType>(to)) {
    std::string call = isa<arith::ExtSIOp>(op) ? "dsv4::widen" : "dsv4::halve";
    std::string made = call + "(" + value->text + ")";
    Type from = getElementTypeOrSelf(op->getOperand(0));
    if (from.isInteger(16) && getElementTypeOrSelf(to).isInteger(64))
      made = call + "(" + made + ")";
    return Spelling{made, Precedence::Postfix};
  }
  auto type = text.spellType(to, op->getLoc());
  if (failed(type))
    return failure();
  return Spelling{"(" + *type + ")" + value->within(Precedence::Unary),
                  Precedence::Unary};
}

/// Overloads are chosen by type: that of a constant is in its spelling.
static FailureOr<Spelling> spellOfType(Value value, ModuleTranslation &text) {
  auto spelled = text.spell(value);
  if (failed(spelled))
    return failure();
  APInt number;
  if (value.getType().isInteger(64) &&
      matchPattern(value, m_ConstantInt(&number)) && number.isSignedIntN(32))
    spelled->text += "ll";
  // There is none for an int and an unsigned.
  return spelled->sign == Sign::Signed ? spelled
                                       : text.castBack(*spelled, value);
}

FailureOr<Spelling> ArithTranslation::spell(Operation *op,
                                            ModuleTranslation &text) const {
  if (auto how = getOperator(op))
    return spellBinary(op, *how, text);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return spellConstant(constant, text);
  // A builtin such as threadIdx.x, or a bool: C++ converts it where it is used.
  if (isa<arith::IndexCastOp>(op) ||
      (isa<arith::ExtUIOp>(op) && op->getOperand(0).getType().isInteger(1)))
    return text.spell(op->getOperand(0));
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(op))
    return spellConversion(op, text);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto condition = text.spellWithin(select.getCondition(), Precedence::Or);
    auto values = text.spellPair(select.getTrueValue(), select.getFalseValue());
    if (failed(condition) || failed(values))
      return failure();
    return spellChoice(*condition, *values);
  }
  bool isOfTiles = isa<VectorType>(op->getResult(0).getType());
  if (isOfTiles &&
      isa<arith::MaximumFOp, arith::MinNumFOp, arith::MaxNumFOp>(op)) {
    auto operands = spellFloats(op, text);
    if (failed(operands))
      return failure();
    StringRef callee = isa<arith::MaximumFOp>(op)  ? "max_nan"
                       : isa<arith::MinNumFOp>(op) ? "min"
                                                   : "max";
    return Spelling{("dsv4::" + callee + "(" + operands->first.text + ", " +
                     operands->second.text + ")")
                        .str(),
                    Precedence::Postfix};
  }
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinNumFOp, arith::MaxNumFOp>(
          op)) {
    auto lhs = spellOfType(op->getOperand(0), text),
         rhs = spellOfType(op->getOperand(1), text);
    if (failed(lhs) || failed(rhs))
      return failure();
    bool isMin = isa<arith::MinSIOp, arith::MinNumFOp>(op);
    std::string space = isOfTiles ? "dsv4::" : "";
    return Spelling{space + (isMin ? "min(" : "max(") + lhs->text + ", " +
                        rhs->text + ")",
                    Precedence::Postfix};
  }
  return CUDATranslationDialectInterface::spell(op, text);
}

/// Whether `op` computes a tile of a tile and a number for all elements, which
/// is written as the number.
static bool takesTileAndNumber(Operation *op) {
  return isa<VectorType>(op->getResult(0).getType()) &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           return matchPattern(operand, m_Constant()) ||
                  operand.getDefiningOp<vector::BroadcastOp>();
         });
}

StringRef ArithTranslation::getHeader(Operation *op) const {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(op))
    return "rows/convert.cuh";
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::MinSIOp, arith::MaxSIOp>(
          op) &&
      isa<VectorType>(op->getResult(0).getType()))
    return "core/integers.cuh";
  if (isa<arith::MinNumFOp, arith::MaxNumFOp>(op) &&
      isa<VectorType>(op->getResult(0).getType()))
    return "rows/rows.cuh";
  if (isa<arith::AddFOp, arith::SubFOp, arith::DivFOp>(op) &&
      takesTileAndNumber(op))
    return "rows/rows.cuh";
  return isa<arith::MaximumFOp>(op) ? "rows/gate.cuh" : "";
}

void dsv4::registerArithCUDATranslation(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect>();
  registry.addExtension(+[](MLIRContext *, arith::ArithDialect *dialect) {
    dialect->addInterfaces<ArithTranslation>();
  });
}
