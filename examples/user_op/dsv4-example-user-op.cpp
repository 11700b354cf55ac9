//===- dsv4-example-user-op.cpp - dsv4-opt with a dialect of a user -------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows the dialect `user` besides those of dsv4, and has all of dsv4's passes.
// With --cuda it prints the kernels that the pipeline makes as CUDA C++:
//
//   dsv4-example-user-op --cuda examples/user_op/user_op.mlir
//
//===----------------------------------------------------------------------===//

#include "UserOps.h"

#include "dsv4/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

/// Lowers the program in `file` and prints its kernels.
static LogicalResult printKernels(const DialectRegistry &registry,
                                  StringRef file) {
  MLIRContext context(registry);
  auto module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return failure();
  PassManager manager(&context);
  dsv4::buildLowerToCUDAPipeline(manager, dsv4::LowerToCUDAOptions());
  if (failed(manager.run(*module)))
    return failure();
  return dsv4::translateToCUDA(*module, llvm::outs());
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  dsv4::registerAllDialects(registry);
  registry.insert<user::UserDialect>();
  if (argc == 3 && StringRef(argv[1]) == "--cuda")
    return asMainReturnCode(printKernels(registry, argv[2]));
  dsv4::registerAllPasses();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "dsv4 with a user's op\n", registry));
}
