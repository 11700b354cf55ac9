//===- dsv4-opt.cpp - Runs passes on IR -------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/InitAll.h"
#include "dsv4/Support/Diagnostics.h"
#include "dsv4/Support/Files.h"
#include "dsv4/Support/ParseProgram.h"
#include "dsv4/Support/Version.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

static llvm::cl::opt<bool> allowBytecode(
    "allow-bytecode",
    llvm::cl::desc("Take MLIR bytecode, too. MLIR's reader may crash on bytes "
                   "that its writer did not make, so they must be your own"));

static int fail(llvm::StringRef message) {
  llvm::WithColor::error(llvm::errs(), "dsv4-opt") << message << "\n";
  return 1;
}

/// Whether MLIR can be given `text`.
static dsv4::rt::Status checkInput(llvm::StringRef text, llvm::StringRef name) {
  if (mlir::isBytecode(llvm::MemoryBufferRef(text, name))) {
    if (allowBytecode)
      return dsv4::rt::Status();
    return dsv4::rt::Status(dsv4::rt::Code::InvalidArgument,
                            name.str() + ": MLIR bytecode, expected text; for "
                                         "bytecode of your own give "
                                         "--allow-bytecode");
  }
  return dsv4::checkProgramText(text, name, dsv4::kMaxToolBytes);
}

int main(int argc, char **argv) {
  dsv4::hideOpsInDiagnostics();
  dsv4::setVersionPrinter("dsv4-opt");
  mlir::DialectRegistry registry;
  dsv4::registerAllDialects(registry);
  dsv4::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "dsv4 optimizer driver\n", registry);
  llvm::InitLLVM init(argc, argv);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));
  // As MlirOptMain does it for a file, with a look at the text in between: what
  // nests deeply ends the stack of MLIR's parser. The input is a copy, which
  // stays as it is when the output is the same file.
  auto text = dsv4::readFile(input, dsv4::kMaxToolBytes);
  if (!text)
    return fail(text.status().message());
  const std::string name = input == "-" ? "<stdin>" : input;
  if (dsv4::rt::Status good = checkInput(*text, name); !good)
    return fail(good.message());
  std::string result;
  llvm::raw_string_ostream os(result);
  bool good = succeeded(mlir::MlirOptMain(
      os, llvm::MemoryBuffer::getMemBufferCopy(*text, name), registry, config));
  dsv4::rt::Status written;
  if (output == "-")
    written = dsv4::writeStandardOutput(result);
  else if (good)
    written = dsv4::writeFile(output, {result});
  if (!written)
    return fail(written.message());
  return good ? 0 : 1;
}
