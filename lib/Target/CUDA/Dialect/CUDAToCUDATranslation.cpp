//===- CUDAToCUDATranslation.cpp - Spellings of cuda ops ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCall.h"

using namespace mlir;
using namespace dsv4;

namespace {

/// Ops of the dialect are calls, except these few.
class CUDATranslation : public CUDATranslationDialectInterface {
public:
  using CUDATranslationDialectInterface::CUDATranslationDialectInterface;

  FailureOr<Spelling> spell(Operation *op,
                            ModuleTranslation &text) const override {
    // base[offset]
    if (auto load = dyn_cast<cuda::LoadOp>(op); load && load.isSubscript()) {
      auto element = spellElement({load.getBase(), load.getOffset()}, text);
      if (failed(element))
        return failure();
      return Spelling{*element, Precedence::Postfix};
    }
    if (auto bytes = dyn_cast<cuda::BytesOp>(op)) {
      auto base = text.spellWithin(bytes.getBase(), Precedence::Unary);
      if (bytes.getOffset())
        base = spellElement({bytes.getBase(), bytes.getOffset()}, text);
      if (failed(base))
        return failure();
      bool isBytes = bytes.getBase().getType().getElementType().isInteger(8);
      return Spelling{(isBytes ? "" : "(const unsigned char *)") +
                          std::string(bytes.getOffset() ? "&" : "") + *base,
                      Precedence::Unary};
    }
    if (auto constant = dyn_cast<cuda::ConstantOp>(op)) {
      auto value = static_cast<int64_t>(constant.getValue());
      bool isWide = value != static_cast<int32_t>(value);
      return Spelling{std::to_string(value) + (isWide ? "ll" : "")};
    }
    if (auto call = dyn_cast<cuda::DeviceCallOpInterface>(op))
      return spellDeviceCall(call, text);
    return CUDATranslationDialectInterface::spell(op, text);
  }

  LogicalResult print(Operation *op, ModuleTranslation &text) const override {
    // base[offset] = value
    if (auto store = dyn_cast<cuda::StoreOp>(op);
        store && store.isSubscript()) {
      auto element = spellElement({store.getBase(), store.getOffset()}, text);
      // Memory of 32 bits has no sign.
      bool isModular = store.getValue().getType().isInteger(32);
      auto value = text.spell(store.getValue(), isModular);
      if (failed(element) || failed(value))
        return failure();
      text.os() << *element << " = " << value->text << ";\n";
      return success();
    }
    auto call = dyn_cast<cuda::DeviceCallOpInterface>(op);
    if (!call)
      return CUDATranslationDialectInterface::print(op, text);
    auto spelled = spellDeviceCall(call, text);
    if (failed(spelled))
      return failure();
    text.os() << spelled->text << ";\n";
    return success();
  }

  StringRef getHeader(Operation *op) const override {
    auto call = dyn_cast<cuda::DeviceCallOpInterface>(op);
    return call ? call.getHeader() : "";
  }
};

} // namespace

void dsv4::registerCUDACUDATranslation(DialectRegistry &registry) {
  registry.insert<cuda::CUDADialect>();
  registry.addExtension(+[](MLIRContext *, cuda::CUDADialect *dialect) {
    dialect->addInterfaces<CUDATranslation>();
  });
}
