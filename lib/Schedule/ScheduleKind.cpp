//===- ScheduleKind.cpp - The registry of schedule kinds ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"

using namespace mlir;
using namespace dsv4;

// A window's part is made for the lanes that hold its rows.
ArrayRef<const ScheduleKind *> dsv4::getBuiltinKinds() {
  static const ScheduleKind *const kinds[] = {&getRowsKind(), &getWindowKind(),
                                              &getSelectKind(), &getScoreKind(),
                                              &getRouterKind()};
  return kinds;
}

namespace {
struct DSV4Kinds : ScheduleKindInterface {
  using ScheduleKindInterface::ScheduleKindInterface;
  ArrayRef<const ScheduleKind *> getKinds() const override {
    return getBuiltinKinds();
  }
};
} // namespace

void dsv4::registerScheduleKinds(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, DSV4Dialect *dialect) {
    dialect->addInterfaces<DSV4Kinds>();
  });
}

SmallVector<const ScheduleKindInterface *>
dsv4::getScheduleInterfaces(MLIRContext *context) {
  SmallVector<const ScheduleKindInterface *> interfaces;
  // In the order of names, whatever the order in which dialects were loaded.
  std::vector<Dialect *> dialects = context->getLoadedDialects();
  llvm::sort(dialects, [](Dialect *a, Dialect *b) {
    return a->getNamespace() < b->getNamespace();
  });
  for (Dialect *dialect : dialects)
    if (auto *brought =
            dialect->getRegisteredInterface<ScheduleKindInterface>())
      interfaces.push_back(brought);
  return interfaces;
}

SmallVector<const ScheduleKind *> dsv4::getScheduleKinds(MLIRContext *context) {
  SmallVector<const ScheduleKind *> kinds;
  for (const ScheduleKindInterface *brought : getScheduleInterfaces(context))
    llvm::append_range(kinds, brought->getKinds());
  return kinds;
}

void dsv4::readPolicies(TableObject &object, LoadPolicy &load,
                        StorePolicy &store) {
  object.read<LoadPolicy>("load", load, symbolizeLoadPolicy,
                          "expected 'default' or 'evict_last'");
  object.read<StorePolicy>("store", store, symbolizeStorePolicy,
                           "expected 'default' or 'streaming'");
}
