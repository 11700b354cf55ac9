//===- Names.cpp - Names in the emitted text ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values carry their names in their locations.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA/ElementOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

StringRef dsv4::getEmittedName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().getValue();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = getEmittedName(part); !name.empty())
        return name;
  return "";
}

Location dsv4::stripNames(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return stripNames(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return FusedLoc::get(loc.getContext(),
                         llvm::map_to_vector(fused.getLocations(), stripNames));
  return loc;
}
