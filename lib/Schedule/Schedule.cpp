//===- Schedule.cpp - Schedules of kernels --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA/Base.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

#include "DSV4ScheduleInterfaces.cpp.inc"

static auto getTypedParts(ScheduleAttr schedule) {
  return schedule.getParts().getAsRange<ScheduleInterface>();
}

/// Its name: "dsv4.rows".
static StringRef getKind(Attribute part) {
  return part.getAbstractAttribute().getName();
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

RowMapping ScheduleAttr::getRowMapping() const {
  for (ScheduleInterface part : getTypedParts(*this))
    if (auto mapping = part.getRowMapping())
      return *mapping;
  return {};
}

int64_t ScheduleAttr::getRowsPerBlock() const {
  int64_t rows = INT64_MAX;
  for (ScheduleInterface part : getTypedParts(*this))
    rows = std::min(rows, part.getGeometry(getLaunch()).rowsPerBlock);
  return rows;
}

int64_t ScheduleAttr::getBlocksPerRow() const {
  int64_t blocks = getCluster();
  for (ScheduleInterface part : getTypedParts(*this))
    blocks *= part.getGeometry(getLaunch()).blocksPerRow;
  return blocks;
}

bool ScheduleAttr::isPersistent() const {
  return llvm::any_of(getTypedParts(*this), [&](ScheduleInterface part) {
    return part.getGeometry(getLaunch()).isPersistent;
  });
}

std::string ScheduleAttr::describe(int64_t sharedBytes) const {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << getThreads() << " threads";
  for (ScheduleInterface part : getTypedParts(*this))
    os << ", " << part.describe(getLaunch());
  if (sharedBytes)
    os << ", " << sharedBytes << " bytes of dynamic shared memory";
  RowMapping mapping = getRowMapping();
  if (mapping.load == LoadPolicy::EvictLast)
    os << ", evict_last loads";
  if (mapping.store == StorePolicy::Streaming)
    os << ", streaming stores";
  if (getPdl())
    os << ", programmatic launch";
  return line;
}

/// Clauses schedule_c3, c4 and c7, and what parts say of the launch part.
static LogicalResult verifyParts(function_ref<InFlightDiagnostic()> emitError,
                                 const LaunchPart &launch, ArrayAttr parts) {
  int64_t maxCluster = 1, heldRows = 0;
  llvm::StringSet<> kinds;
  if (parts.empty())
    return emitError() << "schedule_c4: expected 'parts' with at least one "
                          "part, such as #dsv4.rows<lanes = 8, vector = 8>";
  for (Attribute part : parts) {
    auto typed = dyn_cast<ScheduleInterface>(part);
    if (!typed)
      return emitError() << "schedule_c4: expected 'parts' of a schedule, such "
                            "as #dsv4.rows<lanes = 8, vector = 8>, got "
                         << part;
    if (!kinds.insert(getKind(part)).second)
      return emitError() << "schedule_c4: expected one part of a kind, got two "
                            "#"
                         << getKind(part);
    PartGeometry geometry = typed.getGeometry(launch);
    maxCluster = std::max(maxCluster, geometry.maxCluster);
    if (typed.getRowMapping())
      heldRows = std::max(heldRows, geometry.rowsPerBlock);
  }
  if (launch.cluster < 1 || launch.cluster > maxCluster)
    return emitError() << "schedule_c3: expected 'cluster' "
                       << (maxCluster == 1
                               ? std::string("to be 1, as the parts share no "
                                             "row among blocks of a cluster")
                               : "between 1 and " + std::to_string(maxCluster))
                       << ", got " << launch.cluster;
  for (auto part : parts.getAsRange<ScheduleInterface>()) {
    if (failed(part.verifyLaunch(emitError, launch)))
      return failure();
    int64_t rows = part.getGeometry(launch).rowsPerBlock;
    if (heldRows > 0 && !part.getRowMapping() && rows > heldRows)
      return emitError() << "schedule_c7: #" << getKind(part) << " has " << rows
                         << " rows per block, of which the threads hold "
                         << heldRows << "; expected fewer 'rows' or 'lanes'";
  }
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t threads, int64_t cluster,
                                   int64_t minBlocks, bool pdl,
                                   ArrayAttr parts) {
  if (threads < limits::kWarp || threads > limits::kMaxThreads ||
      threads % limits::kWarp != 0)
    return emitError() << "schedule_c1: expected 'threads' to be a multiple "
                          "of 32 between 32 and 1024, got "
                       << threads;
  if (minBlocks < 0 || minBlocks > limits::kMaxResidentBlocks ||
      minBlocks * threads > limits::kMaxResidentThreads)
    return emitError() << "schedule_c2: expected 'min_blocks' between 0 and 32 "
                          "and at most 2048 threads in them, got "
                       << minBlocks << " of " << threads << " threads";
  return verifyParts(emitError, {threads, cluster, minBlocks, pdl}, parts);
}

//===----------------------------------------------------------------------===//
// Schedules and kernels
//===----------------------------------------------------------------------===//

CooperativeWork dsv4::getCooperativeWork(KernelOp kernel) {
  for (auto op : kernel.getBody().front().getOps<RowwiseOpInterface>())
    if (CooperativeWork work = op.getCooperativeWork())
      return work;
  return {};
}

CooperativeWork dsv4::getCooperativeWork(KernelOp kernel, StringRef kind) {
  for (auto op : kernel.getBody().front().getOps<RowwiseOpInterface>())
    if (CooperativeWork work = op.getCooperativeWork(); work.kind == kind)
      return work;
  return {};
}

SelectionOpInterface dsv4::getSelectingOp(KernelOp kernel) {
  auto ops = kernel.getBody().front().getOps<SelectionOpInterface>();
  return ops.empty() ? SelectionOpInterface() : *ops.begin();
}

SmallVector<Attribute> dsv4::getUsedParts(ScheduleAttr schedule,
                                          KernelOp kernel) {
  SmallVector<Attribute> used;
  Attribute general;
  bool isMapped = false;
  for (ScheduleInterface part : getTypedParts(schedule)) {
    std::optional<RowMapping> mapping = part.getRowMapping();
    bool isNeeded =
        llvm::any_of(kernel.getBody().front().getOps<RowwiseOpInterface>(),
                     [&](RowwiseOpInterface op) {
                       return op.getCooperativeWork().kind == getKind(part);
                     });
    if (isNeeded) {
      used.push_back(part);
      isMapped |= mapping.has_value();
    } else if (mapping && mapping->isGeneral && !general) {
      general = part;
    }
  }
  if (isMapped || !general)
    return used;
  // In the order of the schedule.
  return llvm::filter_to_vector(schedule.getParts(), [&](Attribute part) {
    return part == general || llvm::is_contained(used, part);
  });
}

/// Clause schedule_c5.
static std::string explainParts(ScheduleAttr schedule, KernelOp kernel) {
  for (auto op : kernel.getBody().front().getOps<RowwiseOpInterface>()) {
    CooperativeWork work = op.getCooperativeWork();
    if (work && llvm::none_of(schedule.getParts(), [&](Attribute part) {
          return getKind(part) == work.kind;
        }))
      return llvm::formatv("schedule_c5: '{0}' needs a part #{1}<...>, which "
                           "the schedule does not have",
                           op->getName(), work.kind);
  }
  SmallVector<Attribute> used = getUsedParts(schedule, kernel);
  if (llvm::none_of(used, [](Attribute part) {
        return cast<ScheduleInterface>(part).getRowMapping().has_value();
      }))
    return "schedule_c5: no part of the schedule maps the rows of the kernel "
           "to threads; add #dsv4.rows<...>";
  for (Attribute part : schedule.getParts())
    if (!llvm::is_contained(used, part))
      return llvm::formatv("schedule_c5: no op of the kernel needs the part "
                           "#{0}<...> of the schedule; remove it",
                           getKind(part));
  return "";
}

/// Why a block of `arch` does not have the shared memory that the parts take
/// together, or an empty string.
static std::string explainShared(ScheduleAttr schedule, KernelOp kernel,
                                 StringRef arch) {
  struct Sum {
    int64_t bytes = 0;
    std::string parts;
    void add(StringRef kind, int64_t more) {
      bytes += more;
      if (more)
        parts +=
            llvm::formatv("{0}#{1} {2}", parts.empty() ? "" : ", ", kind, more);
    }
  };
  Sum staticSum, sum;
  for (ScheduleInterface part : getTypedParts(schedule)) {
    PartResources resources = part.getResources(kernel, schedule.getLaunch(),
                                                schedule.getParts().getValue());
    staticSum.add(getKind(part), resources.staticBytes);
    sum.add(getKind(part), resources.staticBytes + resources.dynamicBytes);
  }
  if (staticSum.bytes > limits::kStaticSharedBytes)
    return llvm::formatv("schedule_c6: the parts of the schedule take {0} "
                         "bytes of static shared memory ({1}), and a block has "
                         "{2}; expected fewer rows per block",
                         staticSum.bytes, staticSum.parts,
                         limits::kStaticSharedBytes);
  int64_t max = limits::getMaxSharedBytes(cuda::getArchNumber(arch));
  if (sum.bytes > max)
    return llvm::formatv(
        "schedule_c8: the parts of the schedule take {0} bytes of shared "
        "memory ({1}), and a block of {2} has at most {3}; expected parts that "
        "take less, such as fewer rows or columns per block",
        sum.bytes, sum.parts, arch.empty() ? "any architecture" : arch, max);
  return "";
}

std::string dsv4::explainArch(ScheduleAttr schedule, StringRef arch,
                              int64_t dynamicBytes) {
  unsigned number = cuda::getArchNumber(arch);
  if (schedule.getCluster() > 1 && number < limits::kFirstArchWithClusters)
    return llvm::formatv("schedule_c3: '{0}' has no clusters of blocks; "
                         "expected a 'cluster' of 1",
                         arch);
  if (int64_t max = limits::getMaxSharedBytes(number); dynamicBytes > max)
    return llvm::formatv("schedule_c8: the kernel takes {0} bytes of dynamic "
                         "shared memory, and a block of {1} has at most {2}; "
                         "expected a schedule with fewer rows or columns per "
                         "block",
                         dynamicBytes, arch, max);
  return "";
}

std::string dsv4::explainMisfit(ScheduleAttr schedule, KernelOp kernel,
                                StringRef arch) {
  if (kernel.getBody().front().getOps<RowwiseOpInterface>().empty())
    return "";
  if (std::string why = explainParts(schedule, kernel); !why.empty())
    return why;
  for (ScheduleInterface part : getTypedParts(schedule))
    if (std::string why = part.explainMisfit(kernel, schedule.getLaunch());
        !why.empty())
      return why;
  if (!arch.empty())
    if (std::string why = explainArch(schedule, arch); !why.empty())
      return why;
  return explainShared(schedule, kernel, arch);
}
