//===- Launch.cpp - Launch plans in IR --------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA/ElementOps.h"
#include "dsv4/Dialect/DSV4.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace dsv4;

static DenseI32ArrayAttr toAttr(Builder &b, const rt::Dim3 &extents) {
  return b.getDenseI32ArrayAttr({static_cast<int32_t>(extents.x),
                                 static_cast<int32_t>(extents.y),
                                 static_cast<int32_t>(extents.z)});
}

void LaunchOp::build(OpBuilder &b, OperationState &state, SymbolRefAttr kernel,
                     const rt::LaunchPlan &plan, const rt::PlanNames &names) {
  auto texts = [&](const auto &values) {
    SmallVector<Attribute> attributes;
    for (const auto &value : values)
      attributes.push_back(b.getStringAttr(value.print(names)));
    return b.getArrayAttr(attributes);
  };
  // What says nothing is left out.
  auto orNone = [&](const std::string &text, StringRef nothing) {
    return text == nothing ? StringAttr() : b.getStringAttr(text);
  };
  build(b, state, kernel, orNone(plan.condition.print(names), ""),
        texts(plan.grid), toAttr(b, plan.block),
        plan.cluster == rt::Dim3() ? DenseI32ArrayAttr()
                                   : toAttr(b, plan.cluster),
        orNone(plan.sharedBytes.print(names), "0"),
        orNone(plan.workspaceBytes.print(names), "0"),
        orNone(plan.requirements.print(names), ""), plan.programmaticLaunch,
        texts(plan.parameters));
}

namespace {
/// Reads the parts of a plan; the first failure sticks.
class PlanReader {
public:
  explicit PlanReader(const rt::PlanNames &names) : names(names) {}

  template <typename T>
  void read(StringRef text, T &out, StringRef what) {
    if (!status)
      return;
    auto parsed = T::parse(std::string_view(text.data(), text.size()), names);
    if (parsed)
      out = parsed.take();
    else
      fail(what, parsed.status().message());
  }

  template <typename T>
  void read(std::optional<StringRef> text, T &out, StringRef what) {
    if (text)
      read(*text, out, what);
  }

  void read(ArrayRef<int32_t> extents, rt::Dim3 &out, StringRef what) {
    if (!status)
      return;
    if (extents.size() != 3 ||
        llvm::any_of(extents, [](int32_t extent) { return extent < 1; }))
      return fail(what, "expected three positive extents");
    out = rt::Dim3(extents[0], extents[1], extents[2]);
  }

  void fail(StringRef what, const std::string &why) {
    status = rt::Status(rt::Code::InvalidArgument, what.str() + ": " + why);
  }

  rt::Status status;

private:
  const rt::PlanNames &names;
};
} // namespace

rt::Result<rt::LaunchPlan> LaunchOp::getPlan(const rt::PlanNames &names) {
  rt::LaunchPlan plan;
  PlanReader reader(names);
  reader.read(getCondition(), plan.condition, "if");
  reader.read(getRequirements(), plan.requirements, "requires");
  if (getGrid().size() != plan.grid.size())
    reader.fail("grid", "expected three extents");
  else
    for (auto [text, extent] :
         llvm::zip_equal(getGrid().getAsValueRange<StringAttr>(), plan.grid))
      reader.read(text, extent, "grid");
  reader.read(getBlock(), plan.block, "block");
  if (std::optional<ArrayRef<int32_t>> cluster = getCluster())
    reader.read(*cluster, plan.cluster, "cluster");
  reader.read(getShared(), plan.sharedBytes, "shared");
  reader.read(getWorkspace(), plan.workspaceBytes, "workspace");
  plan.programmaticLaunch = getPdl();
  for (StringRef text : getParameters().getAsValueRange<StringAttr>()) {
    rt::Parameter parameter;
    reader.read(text, parameter, "parameters");
    plan.parameters.push_back(std::move(parameter));
  }
  if (!reader.status)
    return reader.status;
  return plan;
}

/// The names of the function that `op` is in.
static std::optional<rt::PlanNames> getNames(LaunchOp op) {
  auto func = dyn_cast<FunctionOpInterface>(op->getParentOp());
  if (!func)
    return std::nullopt;
  return getPlanNames(func);
}

LogicalResult LaunchOp::verify() {
  std::optional<rt::PlanNames> names = getNames(*this);
  if (!names)
    return emitOpError()
           << "launch_c1: expected to be in a function, which has "
              "the arguments";
  rt::Result<rt::LaunchPlan> plan = getPlan(*names);
  if (!plan)
    return emitOpError() << "launch_c1: " << plan.status().message();
  if (rt::Status status =
          plan->validate(names->extents.size(), names->bindings.size());
      !status)
    return emitOpError() << "launch_c2: " << status.message();
  return success();
}

/// What the type of a kernel's parameter should be, or "" if it is that.
static StringRef explainType(const rt::Parameter &parameter, Type type) {
  switch (parameter.kind) {
  case rt::Parameter::Kind::Buffer:
    return isa<MemRefType>(type) ? "" : "a memref";
  case rt::Parameter::Kind::Workspace: {
    auto memory = dyn_cast<MemRefType>(type);
    return memory && memory.getElementType().isInteger(8) ? ""
                                                          : "a memref of i8";
  }
  case rt::Parameter::Kind::Int32:
    return type.isInteger(32) ? "" : "i32";
  case rt::Parameter::Kind::Int64:
    return type.isInteger(64) ? "" : "i64";
  case rt::Parameter::Kind::Scalar:
    return type.isInteger(32) || type.isInteger(64) || type.isF32()
               ? ""
               : "i32, i64 or f32";
  case rt::Parameter::Kind::TensorMap:
    return "";
  }
  return "";
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      symbols.lookupNearestSymbolFrom(*this, getKernel()));
  // By name: the dialect gpu is not needed for anything else here.
  if (!callee || callee->getName().getStringRef() != "gpu.func" ||
      !callee->hasAttr("gpu.kernel"))
    return emitOpError() << "launch_c3: " << getKernel()
                         << " is not a gpu.func with 'kernel'";
  std::optional<rt::PlanNames> names = getNames(*this);
  rt::Result<rt::LaunchPlan> plan = getPlan(*names);
  if (plan->parameters.size() != callee.getNumArguments())
    return emitOpError() << "launch_c3: the kernel has "
                         << callee.getNumArguments()
                         << " parameters, but the plan has "
                         << plan->parameters.size();
  for (auto [i, parameter, type] :
       llvm::enumerate(plan->parameters, callee.getArgumentTypes()))
    if (StringRef expected = explainType(parameter, type); !expected.empty())
      return emitOpError() << "launch_c3: parameter " << i << " is '"
                           << parameter.print(*names)
                           << "', which is passed as " << expected
                           << ", but the kernel takes " << type;
  auto block = callee->getAttrOfType<DenseI32ArrayAttr>("known_block_size");
  if (block && block.asArrayRef() != getBlock())
    return emitOpError() << "launch_c4: expected the block that the kernel is "
                            "compiled for, "
                         << block;
  auto cluster =
      callee->getAttrOfType<IntegerAttr>(cuda::CUDADialect::kClusterAttr);
  if (int64_t blocks = cluster ? cluster.getInt() : 1;
      !(plan->cluster == rt::Dim3(static_cast<uint32_t>(blocks))))
    return emitOpError() << "launch_c4: expected the cluster that the kernel "
                            "is compiled for, "
                         << blocks << " blocks along x";
  return success();
}
