//===- DistributePieces.cpp - Pieces of windows to threads ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a team share the channels of a piece, of which as many rows are
// on their way as they have registers for.
//
//===----------------------------------------------------------------------===//

#include "RowDistributor.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dsv4;

/// How many groups of four rows of a piece a lane loads before it uses the
/// first: as many as there are registers for, beside those for the sums,
/// addresses and the arithmetic of a row. More than some do not hide more.
static int64_t countGroups(RowScheduleAttr schedule, int64_t members,
                           Region &member) {
  constexpr int64_t kRegisters = 65536, kOtherRegisters = 52, kMostGroups = 12;
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
  int64_t most = std::clamp<int64_t>(members / 4, 1, kMostGroups);
  return std::clamp<int64_t>(left / (4 * words), 1, most);
}

LogicalResult RowDistributor::emitPoolOnline(cuda::PoolOnlineOp pool) {
  auto type = cast<VectorType>(pool.getPooled().getType());
  int64_t channels = type.getNumElements();
  auto mapped = cuda::PoolOnlineOp::create(
      b, pool.getLoc(), getShareType(type.getElementType(), {channels}),
      firstRow, rowCount, pool.getMembers(), schedule.getRowsPerBlock(),
      schedule.getThreads(), laneCount, schedule.getCluster(),
      countGroups(schedule, pool.getMembers(), pool.getPiece().getMember()));
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
       llvm::zip_equal(piece->getRegions(), own->getRegions()))
    if (failed(row.emitTeamRegion(from, to, channels)))
      return failure();
  shares[{pool.getPooled(), 1}] = mapped.getPooled();
  return success();
}
