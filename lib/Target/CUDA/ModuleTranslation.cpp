//===- ModuleTranslation.cpp - The printer -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "dsv4/Dialect/CUDA.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
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

FailureOr<Spelling> ModuleTranslation::spellOp(Operation *op) {
  const auto *dialect = interfaceOf(op);
  if (!dialect)
    return failure();
  return dialect->spell(op, *this);
}

/// The name of a kernel parameter.
static FailureOr<Spelling> spellParameter(BlockArgument arg) {
  StringRef name = getEmittedName(arg.getLoc());
  if (name.empty())
    return emitError(arg.getLoc())
           << "kernel parameter " << arg.getArgNumber()
           << " has no name: run cuda-prepare-for-emission, and keep locations "
              "with --mlir-print-debuginfo";
  return Spelling{name.str()};
}

FailureOr<Spelling> ModuleTranslation::spell(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return spellParameter(arg);
  Operation *op = value.getDefiningOp();
  if (StringRef name = getEmittedName(op->getLoc()); !name.empty())
    return Spelling{name.str()};
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
  stream << "#line " << source.getLine() << " \"";
  llvm::printEscapedString(source.getFilename().getValue(), stream);
  stream << "\"\n";
}

LogicalResult ModuleTranslation::printStatement(Operation *op) {
  // What holds statements prints itself.
  if (op->getNumResults() == 0 || isa<cuda::PoolOp, cuda::PoolOnlineOp>(op)) {
    printLineDirective(op);
    const auto *dialect = interfaceOf(op);
    return success(dialect && succeeded(dialect->print(op, *this)));
  }
  StringRef name = getEmittedName(op->getLoc());
  if (name.empty())
    return success();
  auto memory = dyn_cast<MemRefType>(op->getResult(0).getType());
  auto type =
      spellType(memory ? memory.getElementType() : op->getResult(0).getType(),
                op->getLoc());
  auto value = spellOp(op);
  if (failed(type) || failed(value))
    return failure();
  printLineDirective(op);
  // Vector types repeat what the expression says.
  bool isVector = isa<VectorType>(op->getResult(0).getType());
  stream << "const " << (isVector ? std::string("auto") : *type) << " "
         << (memory ? "*" : "") << name << " = " << value->text << ";\n";
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
  if (auto header =
          func->getAttrOfType<ArrayAttr>(cuda::CUDADialect::kHeaderAttr))
    for (Attribute line : header) {
      // A comment is one line, whatever names are in it.
      stream << "// ";
      for (char c : cast<StringAttr>(line).getValue())
        stream << (llvm::isPrint(c) && c != '\\' ? c : '?');
      stream << "\n";
    }
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
  stream << "\n" << func.getName() << "(";
  Block &body = func.getBody().front();
  std::string separator = "";
  for (BlockArgument arg : body.getArguments()) {
    Type type = arg.getType();
    auto pointer = dyn_cast<MemRefType>(type);
    auto text =
        spellType(pointer ? pointer.getElementType() : type, func.getLoc());
    auto name = spellParameter(arg);
    if (failed(text) || failed(name))
      return failure();
    stream << separator << (pointer && !isWritten(arg) ? "const " : "") << *text
           << (pointer ? " *__restrict__ " : " ") << name->text;
    separator = ",\n" + std::string(func.getName().size() + 1, ' ');
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
