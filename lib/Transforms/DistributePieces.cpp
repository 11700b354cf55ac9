//===- DistributePieces.cpp - Pieces of windows to threads ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a team share the channels of a piece, of which as many rows are
// on their way as memory needs to be busy: in shared memory, or, where lanes of
// a warp do not have their channels side by side, in registers.
//
//===----------------------------------------------------------------------===//

#include "RowDistributor.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dsv4;

/// The most groups of four rows of a piece that are on their way at a time.
static constexpr int64_t kMostGroups = 12;

/// How many groups of four rows of a piece a lane loads before it uses the
/// first: as many as there are registers for, beside those for the sums,
/// addresses and the arithmetic of a row. More than some do not hide more.
static int64_t countGroups(RowScheduleAttr schedule, int64_t members,
                           Region &member) {
  constexpr int64_t kRegisters = 65536, kOtherRegisters = 52;
  auto yielded = member.front().getTerminator()->getOperandTypes();
  TeamWork work{1, cast<VectorType>(yielded.front()).getNumElements()};
  int64_t threads = schedule.getThreads(), team = schedule.getTeam();
  int64_t held = team * work.getSteps(threads * schedule.getCluster(), team);
  int64_t words = 0;
  for (Type type : yielded)
    words += llvm::divideCeil(
        held * cast<VectorType>(type).getElementTypeBitWidth(), 32);
  // Where the schedule does not say, as many threads as others are made for.
  int64_t resident = schedule.getBlocks() ? schedule.getBlocks() * threads
                                          : std::max<int64_t>(threads, 512);
  int64_t left =
      std::min<int64_t>(kRegisters / resident, 255) - kOtherRegisters;
  constexpr int64_t kRows = cuda::PoolOnlineOp::kGroupRows;
  int64_t most = std::clamp<int64_t>(members / kRows, 1, kMostGroups);
  return std::clamp<int64_t>(left / (kRows * words), 1, most);
}

/// How many groups the threads of a block have in shared memory, 0 where rows
/// cannot go through it or none would be on its way. With 72 KiB of them on
/// their way memory is busy, and two blocks have room. Some architectures give
/// a block no more than 99 KiB, of which the pooled rows are a part.
static int64_t countStagedGroups(RowScheduleAttr schedule,
                                 cuda::PoolOnlineOp pool) {
  constexpr int64_t kWanted = 72 << 10, kMost = 96 << 10;
  auto row = pool.getPiece().getMember().front().getTerminator()->getOperands();
  int64_t channels =
      cast<VectorType>(pool.getPooled().getType()).getNumElements();
  int64_t threads = schedule.getThreads(), team = schedule.getTeam(),
          cluster = schedule.getCluster();
  // Lanes of a warp have a piece of one row each, side by side.
  auto isAligned = [](Value value) {
    auto load = value.getDefiningOp<vector::LoadOp>();
    return load && load.getAlignment().value_or(1) % 16 == 0 &&
           load.getMemRefType().getElementType() ==
               load.getVectorType().getElementType();
  };
  if (channels % (32 * team * cluster) != 0 ||
      TeamWork{1, channels}.getSteps(threads * cluster, team) != 1 ||
      schedule.getLoad() != LoadPolicy::Default ||
      !llvm::all_of(row, isAligned))
    return 0;
  int64_t bits = 0;
  for (Type type : row.getTypes())
    bits += team * cast<VectorType>(type).getElementTypeBitWidth();
  int64_t pooled = schedule.getRowsPerBlock() * 4 * channels;
  int64_t blocks = std::max<int64_t>(schedule.getBlocks(), 1);
  int64_t bytes = std::min({kWanted, 2 * kWanted / blocks, kMost - pooled});
  int64_t groups = std::min(
      {bytes / cuda::PoolOnlineOp::getGroupBytes(threads, bits),
       static_cast<int64_t>(pool.getMembers()) / cuda::PoolOnlineOp::kGroupRows,
       kMostGroups});
  return groups > 1 ? groups : 0;
}

LogicalResult RowDistributor::emitPoolOnline(cuda::PoolOnlineOp pool) {
  auto type = cast<VectorType>(pool.getPooled().getType());
  int64_t channels = type.getNumElements();
  int64_t staged = countStagedGroups(schedule, pool);
  int64_t groups = staged ? staged
                          : countGroups(schedule, pool.getMembers(),
                                        pool.getPiece().getMember());
  auto mapped = cuda::PoolOnlineOp::create(
      b, pool.getLoc(), getShareType(type.getElementType(), {channels}),
      firstRow, rowCount, pool.getMembers(), schedule.getRowsPerBlock(),
      schedule.getThreads(), laneCount, schedule.getCluster(), groups);
  RowDistributor row(*this);
  row.holdsRow = {};
  BlockArgument entry = pool.getBody().getArgument(0);
  Block *body = &mapped.getBody().emplaceBlock();
  row.b.setInsertionPointToStart(body);
  row.mapping.map(entry, body->addArgument(entry.getType(), entry.getLoc()));
  row.cloneScalars(&pool.getBody().front());
  cuda::PoolPieceOp piece = pool.getPiece();
  auto at = [&](Value value) { return row.mapping.lookupOrDefault(value); };
  auto own = cuda::PoolPieceOp::create(
      row.b, piece.getLoc(), at(piece.getCount()), at(piece.getKnown()),
      at(piece.getKept()), at(piece.getEnds()));
  for (auto [from, to] :
       llvm::zip_equal(piece->getRegions(), own->getRegions())) {
    row.stages = staged && &from == &piece.getMember();
    if (failed(row.emitTeamRegion(from, to, channels)))
      return failure();
  }
  shares[{pool.getPooled(), 1}] = mapped.getPooled();
  return success();
}
