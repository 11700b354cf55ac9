//===- DSV4ScheduleInterfaces.td - Parts of schedules -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_INTERFACES_TD
#define DSV4_SCHEDULE_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DSV4_ScheduleInterface : AttrInterface<"ScheduleInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    One part of a `#dsv4.schedule`: how threads hold rows, or how they do one cooperative op
    together. `launch` is the launch part of the same schedule. The `ScheduleKind` of the part has
    the rest: candidates for a kernel, and the JSON form.
  }];
  let methods = [
    InterfaceMethod<[{
      Checks the part against the launch part.
    }], "::llvm::LogicalResult", "verifyLaunch",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "const ::dsv4::LaunchPart &":$launch), [{}], [{ return ::llvm::success(); }]>,
    InterfaceMethod<[{
      Why the part does not fit the row-wise ops of `kernel`, beginning with the violated clause,
      or an empty string.
    }], "std::string", "explainMisfit",
      (ins "::mlir::Operation *":$kernel, "const ::dsv4::LaunchPart &":$launch)>,
    InterfaceMethod<[{
      How threads hold the rows of the kernel, or nothing if another part maps rows.
    }], "std::optional<::dsv4::RowMapping>", "getRowMapping", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<[{
      What the part adds to the geometry of the launch. If parts differ, the smallest number of
      rows per block counts.
    }], "::dsv4::PartGeometry", "getGeometry", (ins "const ::dsv4::LaunchPart &":$launch)>,
    InterfaceMethod<[{
      The shared memory that the part needs in a block of `kernel`. `parts` are all parts of the
      schedule: what one needs may depend on the geometry of another.
    }], "::dsv4::PartResources", "getResources",
      (ins "::mlir::Operation *":$kernel, "const ::dsv4::LaunchPart &":$launch,
           "::llvm::ArrayRef<::mlir::Attribute>":$parts), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
      The part in the words of a kernel's header comment: "16 lanes per row, vectors of 8 elements".
    }], "std::string", "describe", (ins "const ::dsv4::LaunchPart &":$launch)>
  ];
}

#endif // DSV4_SCHEDULE_INTERFACES_TD
