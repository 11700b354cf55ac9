//===- Report.cpp - The result of a run, as a table and as JSON -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Run/Run.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace dsv4;

static const char *describeOrigin(CompileReport::Origin origin) {
  switch (origin) {
  case CompileReport::Origin::Memory:
    return "memory";
  case CompileReport::Origin::Disk:
    return "disk";
  case CompileReport::Origin::Compiled:
    return "none (compiled)";
  }
  return "";
}

static double getBandwidth(const RunResult &result) {
  return result.microseconds > 0
             ? result.bytesMoved / (result.microseconds * 1e-6)
             : 0;
}

std::string dsv4::formatTable(const RunResult &result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto row = [&](llvm::StringRef name, const std::string &value) {
    os << llvm::formatv("{0,-18}{1}\n", name, rt::toOneLine(value));
  };
  row("program", result.info.name + " on " + result.device + " (" +
                     result.info.target + ", " + result.info.arch + ")");
  std::string dims;
  for (const auto &[name, extent] : result.dims)
    dims += (dims.empty() ? "" : ", ") + name + " = " + std::to_string(extent);
  row("dims", dims);
  for (const rt::KernelInfo &kernel : result.info.kernels) {
    row("kernel", kernel.symbol);
    row("  schedule", kernel.schedule);
    if (kernel.registers)
      row("  registers", llvm::formatv("{0}, {1} bytes spilled",
                                       kernel.registers, kernel.spillBytes));
  }
  if (result.workspaceBytes)
    row("workspace", llvm::formatv("{0} bytes", result.workspaceBytes));
  row("cache hit", describeOrigin(result.report.origin));
  const CompileReport &did = result.report;
  if (did.origin == CompileReport::Origin::Compiled)
    row("compile",
        llvm::formatv("passes {0:F2} ms, {1} {2:F1} ms", did.passes,
                      result.info.target == "cuda" ? "NVRTC" : "host compiler",
                      did.backend));
  row("load",
      llvm::formatv("lookup {0:F3} ms, load {1:F3} ms", did.lookup, did.load));
  if (!did.entryPath.empty())
    row("cache entry", did.entryPath);
  if (!result.listingDirectory.empty())
    row("every level", result.listingDirectory);
  if (result.microseconds > 0) {
    row("time", llvm::formatv("{0:F2} us per launch{1}", result.microseconds,
                              result.info.target == "host"
                                  ? " (host timings are not meaningful)"
                                  : ""));
    row("bandwidth",
        llvm::formatv("{0:F1} GB/s; a copy of as many bytes {1:F1} GB/s",
                      getBandwidth(result) * 1e-9,
                      result.copyBytesPerSecond * 1e-9));
  }
  if (result.launches > 1)
    row("launches", result.launchMismatch.empty()
                        ? std::to_string(result.launches) +
                              " with equal results, bit for bit"
                        : "DIFFER: " + result.launchMismatch);
  if (result.checked) {
    std::string contracts;
    for (const auto &[name, contract] : result.contracts)
      contracts +=
          (contracts.empty() ? "" : ", ") + ("'" + name + "': ") + contract;
    if (!contracts.empty())
      contracts = " (" + contracts + ")";
    row("check", result.mismatch.empty() ? "matches the oracle" + contracts
                                         : "DIFFERS: " + result.mismatch);
  }
  return text;
}

std::string dsv4::formatJSON(const RunResult &result) {
  llvm::json::Object dims;
  for (const auto &[name, extent] : result.dims)
    dims[name] = extent;
  llvm::json::Array kernels;
  for (const rt::KernelInfo &kernel : result.info.kernels)
    kernels.push_back(llvm::json::Object{{"symbol", kernel.symbol},
                                         {"schedule", kernel.schedule},
                                         {"threads", kernel.plan.block.count()},
                                         {"registers", kernel.registers},
                                         {"spill_bytes", kernel.spillBytes}});
  llvm::json::Object object{
      {"program", result.info.name},
      {"target", result.info.target},
      {"arch", result.info.arch},
      {"device", result.device},
      {"dims", std::move(dims)},
      {"kernels", std::move(kernels)},
      {"cache", result.report.origin == CompileReport::Origin::Compiled
                    ? "none"
                    : describeOrigin(result.report.origin)},
      {"key", result.report.key},
      {"lookup_ms", result.report.lookup},
      {"passes_ms", result.report.passes},
      {"backend_ms", result.report.backend},
      {"load_ms", result.report.load},
      {"workspace_bytes", result.workspaceBytes},
      {"bytes_moved", result.bytesMoved}};
  if (result.microseconds > 0) {
    object["us"] = result.microseconds;
    object["gb_per_s"] = getBandwidth(result) * 1e-9;
    object["copy_gb_per_s"] = result.copyBytesPerSecond * 1e-9;
  }
  if (result.launches > 1) {
    object["launches"] = result.launches;
    object["launches_equal"] = result.launchMismatch.empty();
    if (!result.launchMismatch.empty())
      object["launch_mismatch"] = result.launchMismatch;
  }
  if (result.checked) {
    object["matches_oracle"] = result.mismatch.empty();
    llvm::json::Object contracts;
    for (const auto &[name, contract] : result.contracts)
      contracts[name] = contract;
    if (!contracts.empty())
      object["contracts"] = std::move(contracts);
    if (!result.mismatch.empty())
      object["mismatch"] = result.mismatch;
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text + "\n";
}
