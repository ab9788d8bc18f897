// Pieces: partial results of items that are cut, and of a cascade's items, which the worker that
// comes last merges. No second launch reads them, as it does those of kv-split = N.
#pragma once

#include <cstdint>

#include "scheduler/cascade.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// A piece is `tiles` tiles of `tile_rows` rows of Q each: in a cascade one of each sequence of a
/// stack.
struct PieceShape {
  int64_t count = 0;  // numbers of pieces lie below it
  int64_t tiles = 1;
  int64_t tile_rows = 0;
  int64_t floats_beside_o = 0;  // of a row
};

inline PieceShape piece_shape(const Request& request) {
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  const Schedule& schedule = request.schedule;
  const ItemShares& shares = request.shares;
  if (!shares.cuts() && !request.cascade) {
    const bool cuts = cuts_last_wave(schedule);
    if (request.key_parts.exist)
      return {.count = cuts ? request.key_parts.pieces : 0,
              .tile_rows = tiling.q_rows,
              .floats_beside_o = piece_floats_beside_o};
    return {.count = cuts ? last_wave(problem, tiling, schedule).most_pieces() : 0,
            .tile_rows = tiling.q_rows,
            .floats_beside_o = piece_floats_beside_o};
  }
  PieceShape shape{.count = shares.cuts() ? shares.most_pieces() : 0,
                   .tile_rows = min_of(tiling.q_rows, problem.seq_q),
                   .floats_beside_o = share_piece_floats_beside_o};
  if (!request.cascade) return shape;
  const Cascade cascade(problem, tiling, request.sequences.prefix);
  shape.count += cascade_item_count(problem, tiling, schedule, cascade);
  shape.tiles = cascade.stack();
  return shape;
}

}  // namespace sawtooth::sim
