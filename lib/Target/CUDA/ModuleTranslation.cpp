//===- ModuleTranslation.cpp - The printer ----------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "dsv4/Dialect/CUDA/ElementOps.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SaveAndRestore.h"

#include <charconv>
#include <cmath>

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// Defaults of the interface
//===----------------------------------------------------------------------===//

FailureOr<Spelling>
CUDATranslationDialectInterface::spell(Operation *op,
                                       ModuleTranslation &) const {
  return op->emitOpError() << "has no CUDA spelling";
}

LogicalResult
CUDATranslationDialectInterface::print(Operation *op,
                                       ModuleTranslation &) const {
  return op->emitOpError() << "has no CUDA spelling";
}

StringRef CUDATranslationDialectInterface::getHeader(Operation *) const {
  return "";
}

const CUDATranslationDialectInterface *dsv4::getCUDATranslation(Operation *op) {
  Dialect *dialect = op->getDialect();
  // A call says itself how it is printed, whatever dialect it is of.
  if (isa<cuda::DeviceCallOpInterface>(op))
    dialect = op->getContext()->getLoadedDialect<cuda::CUDADialect>();
  return dialect
             ? dialect
                   ->getRegisteredInterface<CUDATranslationDialectInterface>()
             : nullptr;
}

const CUDATranslationDialectInterface *
ModuleTranslation::interfaceOf(Operation *op) {
  const auto *found = getCUDATranslation(op);
  if (!found)
    op->emitOpError() << "has no CUDA spelling";
  return found;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Spelling dsv4::spellFloat(float value) {
  if (!std::isfinite(value))
    return Spelling{llvm::formatv("dsv4::as_float({0:X}u)",
                                  llvm::bit_cast<uint32_t>(value)),
                    Precedence::Postfix};
  const float size = std::abs(value);
  const bool plain = size == 0.0f || (size >= 1e-4f && size < 1e7f);
  char digits[64];
  auto end = std::to_chars(std::begin(digits), std::end(digits), value,
                           plain ? std::chars_format::fixed
                                 : std::chars_format::scientific);
  std::string text(digits, end.ptr);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return Spelling{text + "f", std::signbit(value) ? Precedence::Unary
                                                  : Precedence::Primary};
}

FailureOr<std::string> ModuleTranslation::spellType(Type type, Location loc) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    auto element = spellType(vector.getElementType(), loc);
    if (failed(element))
      return failure();
    std::string text =
        (vector.getRank() == 1 ? "dsv4::Vec<" : "dsv4::Tile<") + *element;
    for (int64_t extent : vector.getShape())
      text += ", " + std::to_string(extent);
    return text + ">";
  }
  StringRef text =
      llvm::TypeSwitch<Type, StringRef>(type)
          .Case<cuda::CallableType>([](auto) { return "auto"; })
          .Case<BFloat16Type>([](auto) { return "dsv4::bf16"; })
          .Case<Float16Type>([](auto) { return "dsv4::f16"; })
          .Case<Float32Type>([](auto) { return "float"; })
          .Case<Float8E4M3FNType>([](auto) { return "dsv4::e4m3"; })
          .Case<Float8E8M0FNUType>([](auto) { return "dsv4::ue8m0"; })
          .Case<Float4E2M1FNType>([](auto) { return "dsv4::e2m1"; })
          .Case<IntegerType>([](IntegerType integer) -> StringRef {
            switch (integer.getWidth()) {
            case 1:
              return "bool";
            case 4:
              return "dsv4::i4";
            case 8:
              return "unsigned char";
            case 16:
              return "short";
            case 32:
              return "int";
            case 64:
              return "long long";
            default:
              return "";
            }
          })
          .Default([](Type) { return StringRef(); });
  if (text.empty())
    return emitError(loc) << "type " << type << " has no CUDA spelling";
  return text.str();
}

/// How deep an expression may nest, and how long its text may be. What
/// cuda-prepare-for-emission prepared is far below both.
constexpr unsigned kMaxExpressionDepth = 256;
constexpr size_t kMaxExpressionLength = 1 << 16;

FailureOr<Spelling> ModuleTranslation::refuseExpression(Operation *op) {
  refusedExpression = true;
  return op->emitOpError()
         << "nests more than " << kMaxExpressionDepth
         << " levels or is longer than " << kMaxExpressionLength
         << " characters as an expression: run cuda-prepare-for-emission, "
            "which breaks it into lines";
}

FailureOr<Spelling> ModuleTranslation::spellOp(Operation *op) {
  const auto *dialect = interfaceOf(op);
  if (!dialect || refusedExpression)
    return failure();
  if (expressionDepth == kMaxExpressionDepth)
    return refuseExpression(op);
  ++expressionDepth;
  auto spelling = dialect->spell(op, *this);
  --expressionDepth;
  if (succeeded(spelling) && !spelling->hasStatements &&
      spelling->text.size() > kMaxExpressionLength)
    return refuseExpression(op);
  return spelling;
}

/// Where the name of `value` is.
static Location getNameLoc(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->getLoc();
  // The text of a loop has no location of its index.
  if (scf::ForOp loop = scf::getForInductionVarOwner(value))
    return loop.getLoc();
  return cast<BlockArgument>(value).getLoc();
}

/// What `value` is, for messages.
static std::string describe(Value value) {
  if (Operation *op = value.getDefiningOp())
    return ("a result of '" + op->getName().getStringRef() + "'").str();
  auto arg = cast<BlockArgument>(value);
  std::string number = std::to_string(arg.getArgNumber());
  Operation *owner = arg.getOwner()->getParentOp();
  return isa<gpu::GPUFuncOp>(owner) ? "kernel parameter " + number
                                    : ("argument " + number + " of '" +
                                       owner->getName().getStringRef() + "'")
                                          .str();
}

FailureOr<StringRef> ModuleTranslation::declare(Value value) {
  Location loc = getNameLoc(value);
  StringRef name = getEmittedName(loc);
  constexpr llvm::StringLiteral remedy =
      ": run cuda-prepare-for-emission, and keep locations with "
      "--mlir-print-debuginfo";
  if (name.empty())
    return emitError(loc) << describe(value) << " has no name" << remedy;
  if (!isEmittableIdentifier(name))
    return emitError(loc) << "'" << toCommentText(name)
                          << "' cannot be the name of a value in CUDA C++"
                          << remedy;
  if (!valueNames.insert(name).second)
    return emitError(loc) << "two values of a kernel have the name '" << name
                          << "'" << remedy;
  declared[value] = name;
  return name;
}

FailureOr<Spelling> ModuleTranslation::castBack(const Spelling &spelling,
                                                Value value) {
  auto type = spellType(value.getType(), value.getLoc());
  if (failed(type))
    return failure();
  return Spelling{"(" + *type + ")" + spelling.within(Precedence::Unary),
                  Precedence::Unary};
}

FailureOr<Spelling> ModuleTranslation::spell(Value value, bool isModular) {
  if (auto found = declared.find(value); found != declared.end())
    return Spelling{found->second.str()};
  Operation *op = value.getDefiningOp();
  // An argument, or a value of a line that is not printed above this one.
  if (!op || !getEmittedName(op->getLoc()).empty())
    return emitError(getNameLoc(value))
           << "a value is used where its name is not declared: run "
              "cuda-prepare-for-emission, and keep locations with "
              "--mlir-print-debuginfo";
  auto spelling = spellOp(op);
  if (failed(spelling))
    return failure();
  bool isCast =
      spelling->isUnsigned || (spelling->sign == Sign::Modular && !isModular);
  return isCast ? castBack(*spelling, value) : spelling;
}

std::optional<Spelling> ModuleTranslation::spellNumber(Value value) {
  DenseFPElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat() &&
      splat.getElementType().isF32())
    return spellFloat(splat.getSplatValue<APFloat>().convertToFloat());
  auto number = value.getDefiningOp<vector::BroadcastOp>();
  if (!number || !number.getSourceType().isF32())
    return std::nullopt;
  auto spelling = spell(number.getSource());
  if (failed(spelling))
    return std::nullopt;
  return *spelling;
}

FailureOr<Spelling> ModuleTranslation::spellFill(Value value) {
  auto type = spellType(value.getType(), value.getLoc());
  auto number = spellNumber(value);
  if (failed(type) || !number)
    return failure();
  return Spelling{"dsv4::fill<" + *type + ">(" + number->text + ")",
                  Precedence::Postfix};
}

/// How far the operands of a value are looked at.
constexpr unsigned kMaxProofDepth = 8;

bool dsv4::isKnownNonNegative(Value value, unsigned depth) {
  // Integers that a launch passes are extents, strides and counts.
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
  Operation *op = value.getDefiningOp();
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    return number.isNonNegative();
  if (auto constant = dyn_cast<cuda::ConstantOp>(op))
    return static_cast<int64_t>(constant.getValue()) >= 0;
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::GridDimOp, arith::DivUIOp,
          arith::RemUIOp, arith::ExtUIOp>(op))
    return true;
  if (depth == kMaxProofDepth)
    return false;
  auto isKnown = [&](Value operand) {
    return isKnownNonNegative(operand, depth + 1);
  };
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), isKnown);
  return isa<arith::IndexCastOp, arith::ExtSIOp, arith::AddIOp, arith::MulIOp,
             arith::MinSIOp>(op) &&
         llvm::all_of(op->getOperands(), isKnown);
}

FailureOr<std::pair<Spelling, Spelling>>
ModuleTranslation::spellPair(Value lhs, Value rhs) {
  auto left = spell(lhs), right = spell(rhs);
  if (failed(left) || failed(right))
    return failure();
  // Without a cast an operand that may be negative would become unsigned, too.
  if (left->sign != Sign::Signed && !isKnownNonNegative(rhs))
    left = castBack(*left, lhs);
  if (right->sign != Sign::Signed && !isKnownNonNegative(lhs))
    right = castBack(*right, rhs);
  if (failed(left) || failed(right))
    return failure();
  return std::pair(*left, *right);
}

Spelling dsv4::spellChoice(StringRef condition,
                           const std::pair<Spelling, Spelling> &values) {
  const auto &[yes, no] = values;
  Spelling choice{condition.str() + " ? " + yes.within(Precedence::Or) + " : " +
                      no.within(Precedence::Or),
                  Precedence::Conditional};
  if (yes.sign != Sign::Signed || no.sign != Sign::Signed)
    choice.sign = Sign::Unsigned;
  return choice;
}

FailureOr<std::string> ModuleTranslation::spellWithin(Value value,
                                                      Precedence outer) {
  auto spelling = spell(value);
  if (failed(spelling))
    return failure();
  return spelling->within(outer);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

FailureOr<std::string>
ModuleTranslation::capture(function_ref<LogicalResult()> print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  raw_indented_ostream nested(os);
  llvm::SaveAndRestore redirect(current, &nested);
  if (failed(print()))
    return failure();
  return text;
}

static FileLineColLoc findSource(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return file;
  if (auto name = dyn_cast<NameLoc>(loc))
    return findSource(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (FileLineColLoc file = findSource(part))
        return file;
  return {};
}

void ModuleTranslation::printLineDirective(Operation *op) {
  if (!options.lineDirectives)
    return;
  FileLineColLoc source = findSource(op->getLoc());
  if (!source)
    return;
  // Compilers count lines in 31 bits.
  if (source.getLine() == 0 || source.getLine() > INT32_MAX)
    return;
  os() << "#line " << source.getLine() << " "
       << toStringLiteral(source.getFilename().getValue()) << "\n";
}

LogicalResult ModuleTranslation::printStatement(Operation *op) {
  if (op->getNumResults() == 0) {
    printLineDirective(op);
    const auto *dialect = interfaceOf(op);
    return success(dialect && succeeded(dialect->print(op, *this)));
  }
  if (getEmittedName(op->getLoc()).empty())
    return success();
  Type result = op->getResult(0).getType();
  auto memory = dyn_cast<MemRefType>(result);
  auto type =
      spellType(memory ? memory.getElementType() : result, op->getLoc());
  auto value = spellOp(op);
  auto name = declare(op->getResult(0));
  if (failed(type) || failed(value) || failed(name))
    return failure();
  printLineDirective(op);
  // Vector types repeat what the expression says.
  StringRef shown = isa<VectorType>(result) ? "auto" : StringRef(*type);
  os() << (isa<cuda::ConstantOp>(op) ? "constexpr " : "const ") << shown << " "
       << (memory ? "*" : "") << *name << " = " << value->text << ";\n";
  return success();
}

LogicalResult
ModuleTranslation::printBranches(Block &first, Block &second,
                                 llvm::function_ref<void()> between) {
  const llvm::StringSet<> before = valueNames;
  if (failed(printBlock(first)))
    return failure();
  between();
  llvm::StringSet<> ofFirst = std::exchange(valueNames, before);
  LogicalResult printed = printBlock(second);
  for (const auto &name : ofFirst)
    valueNames.insert(name.first());
  return printed;
}

LogicalResult ModuleTranslation::printBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(printStatement(&op)))
      return failure();
  return success();
}

/// Whether the kernel writes through `pointer`.
static bool isWritten(BlockArgument pointer) {
  return llvm::any_of(pointer.getUsers(), [&](Operation *user) {
    return hasEffect<MemoryEffects::Write>(user, pointer);
  });
}

LogicalResult ModuleTranslation::printParameters(Block &body,
                                                 StringRef symbol) {
  Location loc = body.getParentOp()->getLoc();
  std::string separator = "";
  for (BlockArgument arg : body.getArguments()) {
    Type type = arg.getType();
    auto pointer = dyn_cast<MemRefType>(type);
    auto text = spellType(pointer ? pointer.getElementType() : type, loc);
    auto name = declare(arg);
    if (failed(text) || failed(name))
      return failure();
    os() << separator << (pointer && !isWritten(arg) ? "const " : "") << *text
         << (pointer ? " *__restrict__ " : " ") << *name;
    separator = ",\n" + std::string(symbol.size() + 1, ' ');
  }
  return success();
}

LogicalResult ModuleTranslation::beginFunction(Operation *operation) {
  auto func = cast<FunctionOpInterface>(operation);
  StringRef symbol = func.getName();
  StringRef kind = isa<gpu::GPUFuncOp>(operation) ? "kernel" : "function";
  if (!isEmittableIdentifier(symbol))
    return func.emitError() << "'" << toCommentText(symbol)
                            << "' cannot be the name of a " << kind
                            << " in CUDA C++: expected an identifier that CUDA "
                               "C++ does not reserve";
  if (!globalNames.insert(symbol).second)
    return func.emitError()
           << "two " << kind << "s have the name '" << symbol << "'";
  if (!func.getFunctionBody().hasOneBlock())
    return func.emitError()
           << kind << " '" << symbol << "' has several blocks, expected one";
  declared.clear();
  valueNames.clear();
  // A parameter of this name would hide the function.
  valueNames.insert(symbol);
  func.walk([&](cuda::DeviceCallOpInterface call) {
    for (StringRef name : cuda::getLambdaParameters(call))
      valueNames.insert(name);
  });
  return success();
}

LogicalResult ModuleTranslation::printFunctions(Operation *module) {
  for (auto func : cast<gpu::GPUModuleOp>(module).getOps<func::FuncOp>())
    if (!isPrinted(func.getName()) && failed(printFunction(func)))
      return failure();
  return success();
}

LogicalResult ModuleTranslation::printFunction(Operation *operation) {
  auto func = cast<func::FuncOp>(operation);
  if (func.isExternal() || func.getNumResults() != 1 ||
      llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<cuda::CallableType>))
    return func.emitError() << "function '" << func.getName()
                            << "' has no CUDA spelling: expected a body, one "
                               "result, and parameters that are values";
  auto type = spellType(func.getResultTypes().front(), func.getLoc());
  if (failed(type) || failed(beginFunction(func)))
    return failure();
  os() << "static __device__ __noinline__ " << *type << "\n"
       << func.getName() << "(";
  Block &body = func.getBody().front();
  if (failed(printParameters(body, func.getName())))
    return failure();
  os() << ") {\n";
  os().indent();
  if (failed(printBlock(body)))
    return failure();
  auto result = spell(body.getTerminator()->getOperand(0));
  if (failed(result))
    return failure();
  printLineDirective(body.getTerminator());
  os() << "return " << result->text << ";\n";
  os().unindent();
  os() << "}\n\n";
  return success();
}

LogicalResult ModuleTranslation::printKernel(Operation *operation) {
  auto func = cast<gpu::GPUFuncOp>(operation);
  StringRef symbol = func.getName();
  if (failed(printFunctions(func->getParentOp())) ||
      failed(beginFunction(func)))
    return failure();
  if (auto header =
          func->getAttrOfType<ArrayAttr>(cuda::CUDADialect::kHeaderAttr))
    for (StringRef line : header.getAsValueRange<StringAttr>())
      os() << "// " << toCommentText(line) << "\n";
  if (failed(printConfigs(func)))
    return failure();
  os() << "extern \"C\" __global__ void";
  if (auto cluster =
          func->getAttrOfType<IntegerAttr>(cuda::CUDADialect::kClusterAttr))
    os() << " __cluster_dims__(" << cluster.getInt() << ", 1, 1)";
  if (auto size = func.getKnownBlockSize()) {
    os() << " __launch_bounds__(" << (*size)[0];
    if (auto blocks =
            func->getAttrOfType<IntegerAttr>(cuda::CUDADialect::kMinBlocksAttr))
      os() << ", " << blocks.getInt();
    os() << ")";
  }
  os() << "\n" << symbol << "(";
  Block &body = func.getBody().front();
  if (failed(printParameters(body, symbol)))
    return failure();
  os() << ") {\n";
  os().indent();
  if (failed(printBlock(body)))
    return failure();
  os().unindent();
  os() << "}\n";
  return success();
}

LogicalResult dsv4::translateToCUDA(Operation *op, llvm::raw_ostream &os,
                                    const EmissionOptions &options) {
  // Half a text is of no use: it is written when it is complete.
  std::string text;
  llvm::raw_string_ostream buffer(text);
  ModuleTranslation translation(buffer, options);
  bool first = true;
  WalkResult result = op->walk([&](gpu::GPUFuncOp func) {
    if (!first)
      buffer << "\n";
    first = false;
    return failed(translation.printKernel(func)) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (first)
    return op->emitError() << "holds no gpu.func to print";
  os << text;
  return success();
}

void dsv4::registerCUDATranslations(DialectRegistry &registry) {
  registerArithCUDATranslation(registry);
  registerCUDACUDATranslation(registry);
  registerFuncCUDATranslation(registry);
  registerGPUCUDATranslation(registry);
  registerSCFCUDATranslation(registry);
  registerMathCUDATranslation(registry);
  registerVectorCUDATranslation(registry);
}
