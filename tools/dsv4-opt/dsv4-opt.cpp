//===- dsv4-opt.cpp - Runs passes on IR -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/InitAll.h"
#include "dsv4/Support/ParseProgram.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dsv4::registerAllDialects(registry);
  dsv4::registerAllPasses();
  // As MlirOptMain does it for a file, with a look at the text in between: what
  // nests deeply ends the stack of MLIR's parser.
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "dsv4 optimizer driver\n", registry);
  llvm::InitLLVM init(argc, argv);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));
  auto fail = [](llvm::StringRef message) {
    llvm::WithColor::error(llvm::errs(), "dsv4-opt") << message << "\n";
    return 1;
  };
  std::string error;
  auto file = mlir::openInputFile(input, &error);
  if (!file)
    return fail(error);
  if (auto good = dsv4::checkParserLimits(file->getBuffer(), input); !good)
    return fail(good.message());
  auto out = mlir::openOutputFile(output, &error);
  if (!out)
    return fail(error);
  if (failed(mlir::MlirOptMain(out->os(), std::move(file), registry, config)))
    return 1;
  out->keep();
  return 0;
}
