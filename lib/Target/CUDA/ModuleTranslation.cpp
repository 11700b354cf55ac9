//===- ModuleTranslation.cpp - The printer -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

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

const CUDATranslationDialectInterface *
ModuleTranslation::interfaceOf(Operation *op) {
  auto *dialect = op->getDialect();
  auto *found =
      dialect
          ? dialect->getRegisteredInterface<CUDATranslationDialectInterface>()
          : nullptr;
  if (!found)
    op->emitOpError() << "has no CUDA spelling";
  return found;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

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
          .Case<BFloat16Type>([](auto) { return "dsv4::bf16"; })
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
  if (succeeded(spelling) && spelling->text.size() > kMaxExpressionLength)
    return refuseExpression(op);
  return spelling;
}

/// Where the name of `value` is.
static Location getNameLoc(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->getLoc();
  return cast<BlockArgument>(value).getLoc();
}

FailureOr<StringRef> ModuleTranslation::declare(Value value) {
  Location loc = getNameLoc(value);
  StringRef name = getEmittedName(loc);
  constexpr llvm::StringLiteral remedy =
      ": run cuda-prepare-for-emission, and keep locations with "
      "--mlir-print-debuginfo";
  if (name.empty()) {
    InFlightDiagnostic error = emitError(loc);
    if (auto arg = dyn_cast<BlockArgument>(value))
      error << "kernel parameter " << arg.getArgNumber();
    else
      error << "a result of '" << value.getDefiningOp()->getName() << "'";
    return error << " has no name" << remedy;
  }
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

FailureOr<Spelling> ModuleTranslation::spell(Value value) {
  if (auto found = declared.find(value); found != declared.end())
    return Spelling{found->second.str()};
  Operation *op = value.getDefiningOp();
  // An argument, or a value of a line that is not printed above this one.
  if (!op || !getEmittedName(op->getLoc()).empty())
    return emitError(getNameLoc(value))
           << "a value is used where its name is not declared: run "
              "cuda-prepare-for-emission, and keep locations with "
              "--mlir-print-debuginfo";
  return spellOp(op);
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
  stream << "#line " << source.getLine() << " "
         << toStringLiteral(source.getFilename().getValue()) << "\n";
}

LogicalResult ModuleTranslation::printStatement(Operation *op) {
  // What holds statements prints itself.
  if (op->getNumResults() == 0 || isa<cuda::PoolOp, cuda::PoolOnlineOp>(op)) {
    printLineDirective(op);
    const auto *dialect = interfaceOf(op);
    return success(dialect && succeeded(dialect->print(op, *this)));
  }
  if (getEmittedName(op->getLoc()).empty())
    return success();
  auto memory = dyn_cast<MemRefType>(op->getResult(0).getType());
  auto type =
      spellType(memory ? memory.getElementType() : op->getResult(0).getType(),
                op->getLoc());
  auto value = spellOp(op);
  auto name = declare(op->getResult(0));
  if (failed(type) || failed(value) || failed(name))
    return failure();
  printLineDirective(op);
  // Vector types repeat what the expression says.
  bool isVector = isa<VectorType>(op->getResult(0).getType());
  stream << "const " << (isVector ? std::string("auto") : *type) << " "
         << (memory ? "*" : "") << *name << " = " << value->text << ";\n";
  return success();
}

LogicalResult ModuleTranslation::printBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(printStatement(&op)))
      return failure();
  return success();
}

/// Whether the kernel writes through `pointer`: a selection does so to its
/// workspace.
static bool isWritten(BlockArgument pointer) {
  return llvm::any_of(pointer.getUsers(),
                      llvm::IsaPred<cuda::StoreOp, cuda::SelectOp>);
}

LogicalResult ModuleTranslation::printKernel(Operation *operation) {
  auto func = cast<gpu::GPUFuncOp>(operation);
  StringRef symbol = func.getName();
  if (!isEmittableIdentifier(symbol))
    return func.emitError() << "'" << toCommentText(symbol)
                            << "' cannot be the name of a kernel in CUDA C++: "
                               "expected an identifier that CUDA C++ does not "
                               "reserve";
  if (!kernelNames.insert(symbol).second)
    return func.emitError() << "two kernels have the name '" << symbol << "'";
  if (!func.getBody().hasOneBlock())
    return func.emitError()
           << "kernel '" << symbol << "' has several blocks, expected one";
  declared.clear();
  valueNames.clear();
  // A parameter of this name would hide the kernel.
  valueNames.insert(symbol);
  if (auto header =
          func->getAttrOfType<ArrayAttr>(cuda::CUDADialect::kHeaderAttr))
    for (StringRef line : header.getAsValueRange<StringAttr>())
      stream << "// " << toCommentText(line) << "\n";
  stream << "extern \"C\" __global__ void";
  if (auto cluster =
          func->getAttrOfType<IntegerAttr>(cuda::CUDADialect::kClusterAttr))
    stream << " __cluster_dims__(" << cluster.getInt() << ", 1, 1)";
  if (auto size = func.getKnownBlockSize()) {
    stream << " __launch_bounds__(" << (*size)[0];
    if (auto blocks =
            func->getAttrOfType<IntegerAttr>(cuda::CUDADialect::kMinBlocksAttr))
      stream << ", " << blocks.getInt();
    stream << ")";
  }
  stream << "\n" << symbol << "(";
  Block &body = func.getBody().front();
  std::string separator = "";
  for (BlockArgument arg : body.getArguments()) {
    Type type = arg.getType();
    auto pointer = dyn_cast<MemRefType>(type);
    auto text =
        spellType(pointer ? pointer.getElementType() : type, func.getLoc());
    auto name = declare(arg);
    if (failed(text) || failed(name))
      return failure();
    stream << separator << (pointer && !isWritten(arg) ? "const " : "") << *text
           << (pointer ? " *__restrict__ " : " ") << *name;
    separator = ",\n" + std::string(symbol.size() + 1, ' ');
  }
  stream << ") {\n";
  stream.indent();
  if (failed(printBlock(body)))
    return failure();
  stream.unindent();
  stream << "}\n";
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
  registerGPUCUDATranslation(registry);
  registerSCFCUDATranslation(registry);
  registerMathCUDATranslation(registry);
  registerVectorCUDATranslation(registry);
}
