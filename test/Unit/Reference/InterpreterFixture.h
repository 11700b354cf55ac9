//===- InterpreterFixture.h - Functions for the oracle to run ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_REFERENCE_INTERPRETERFIXTURE_H
#define DSV4_TEST_UNIT_REFERENCE_INTERPRETERFIXTURE_H

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Reference/Interpreter.h"
#include "dsv4/Testing/RandomInputs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstring>

namespace dsv4::reference {

/// A function and memory for its bindings.
class InterpreterFixture : public ::testing::Test {
protected:
  InterpreterFixture() {
    context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::tensor::TensorDialect, DSV4Dialect>();
    context.allowUnregisteredDialects();
  }

  /// Makes the function that the test calls: `arguments`, then a body.
  void parse(const std::string &arguments, const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}", &context);
    ASSERT_TRUE(module);
    func = *module->getOps<mlir::func::FuncOp>().begin();
    inputs = {};
  }

  /// Adds the next binding: `count` bytes of one value, or elements.
  void bytes(std::vector<int64_t> shape, size_t count, int value = 0) {
    inputs.shapes.push_back(std::move(shape));
    inputs.bytes.emplace_back(count, char(value));
  }
  template <typename T>
  void bind(std::vector<int64_t> shape, const std::vector<T> &elements) {
    bytes(std::move(shape), elements.size() * sizeof(T));
    if (!elements.empty())
      std::memcpy(inputs.bytes.back().data(), elements.data(),
                  inputs.bytes.back().size());
  }
  /// Writes `value` into binding `index`.
  template <typename T>
  void poke(unsigned index, size_t byte, T value, size_t times = 1) {
    for (size_t i = 0; i < times; ++i)
      std::memcpy(&inputs.bytes[index].at(byte + i * sizeof(T)), &value,
                  sizeof(T));
  }
  template <typename T>
  std::vector<T> read(unsigned index) const {
    std::vector<T> result(inputs.bytes[index].size() / sizeof(T));
    if (!result.empty())
      std::memcpy(result.data(), inputs.bytes[index].data(),
                  result.size() * sizeof(T));
    return result;
  }

  void run() {
    ASSERT_TRUE(func) << "the text above does not parse";
    rt::Status status = interpret(func, inputs.buffers());
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::string error() {
    if (!func)
      return "the text above does not parse";
    rt::Status status = interpret(func, inputs.buffers());
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    return status.message();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  InputSet inputs;
};

} // namespace dsv4::reference

#endif // DSV4_TEST_UNIT_REFERENCE_INTERPRETERFIXTURE_H
