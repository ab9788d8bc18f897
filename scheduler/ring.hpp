// Ring attention (Liu, Zaharia and Abbeel, arXiv 2310.01889): each of N ranks keeps its rows of Q
// and meets the K and V of every rank, one rank's a step. Which rows meet which keys is decided
// here; who moves K and V, and how, is not.
//
// plain: rank r holds the r-th of N equal parts of the sequence. zigzag: it holds chunks r and
// 2N - 1 - r of 2N, one after the other, so that under a causal mask all ranks have the same work.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth {

enum class RingLayout : uint8_t { plain, zigzag };

/// One attention call of a rank in a step: rows of its Q and keys of the rank whose K and V it has,
/// both numbered as they lie there. `finishes`: some of these rows meet no later keys.
struct RingCall {
  Range q_rows;
  Range kv_rows;
  MaskKind mask = MaskKind::none;
  bool begins = false;  // the rows' first
  bool finishes = false;
};

/// A backward pass returns the part of dK and dV of a rank's keys that `rank` computed in a step.
/// `begins`: its first, of all keys. `finishes`: some of these keys get no later part.
struct RingReturn {
  int64_t rank = 0;
  Range kv_rows;
  bool begins = false;
  bool finishes = false;
};

struct Ring {
  int64_t ranks = 1;
  RingLayout layout = RingLayout::zigzag;
  MaskKind mask = MaskKind::none;  // none or causal
  int64_t seq = 0;                 // of all ranks, a multiple of chunks()

  /// Equal parts of the sequence that lie together at a rank.
  SAWTOOTH_HD constexpr int64_t chunks() const {
    return layout == RingLayout::zigzag ? 2 * ranks : ranks;
  }
  SAWTOOTH_HD constexpr int64_t chunk_rows() const { return seq / chunks(); }
  SAWTOOTH_HD constexpr int64_t rank_rows() const { return seq / ranks; }

  /// Row of the sequence that row `row` of rank `rank` is.
  SAWTOOTH_HD constexpr int64_t sequence_row(int64_t rank, int64_t row) const {
    const bool second = row >= chunk_rows();
    const int64_t chunk = second ? chunks() - 1 - rank : rank;
    return chunk * chunk_rows() + row - (second ? chunk_rows() : 0);
  }

  /// Whose K and V rank `rank` has in step `step`, 0 its own.
  SAWTOOTH_HD constexpr int64_t source(int64_t rank, int64_t step) const {
    return (rank - step + ranks) % ranks;
  }

  /// Steps whose K and V begin to move beside the call of step `step`. Two buffers take turns, and
  /// a move waits for the call that last read its buffer: two begin beside the first call.
  SAWTOOTH_HD constexpr Range moves_beside(int64_t step) const {
    constexpr int64_t waits = 3;  // the first move that does
    return {step == 0 ? 1 : max_of(step + 1, waits), min_of(ranks, max_of(step + 2, waits))};
  }

  /// What rank `rank` does in step `step`; false: nothing, as no row sees these keys.
  SAWTOOTH_HD constexpr bool call_of(int64_t rank, int64_t step, RingCall& call) const {
    const int64_t from = source(rank, step);
    const bool causal = mask == MaskKind::causal;
    call = {.q_rows = {0, rank_rows()}, .kv_rows = {0, rank_rows()}, .begins = step == 0};
    if (step == 0) call.mask = mask;
    if (!causal) {
      call.finishes = step == ranks - 1;
      return true;
    }
    const bool is_behind = from > rank;  // of this rank's first rows
    if (layout == RingLayout::plain) {
      call.finishes = step == rank;
      return !is_behind;
    }
    // Every row sees the first chunk of an earlier rank and none the second; the second chunk of
    // rows sees both of a later rank, the first none.
    if (is_behind) call.q_rows.begin = chunk_rows();
    if (step > 0 && !is_behind) call.kv_rows.end = chunk_rows();
    call.finishes = step == rank || step == ranks - 1;
    return true;
  }

  /// The part of dK and dV that comes to rank `owner` behind step `step`, in step 0 from itself;
  /// false: none.
  SAWTOOTH_HD constexpr bool return_of(int64_t owner, int64_t step, RingReturn& part) const {
    part = {.rank = (owner + step) % ranks, .kv_rows = {}, .begins = step == 0};
    RingCall call;
    if (!call_of(part.rank, step, call)) return false;
    part.kv_rows = call.kv_rows;
    part.finishes = true;
    for (int64_t later = step + 1; later < ranks; ++later)
      if (call_of((owner + later) % ranks, later, call) &&
          call.kv_rows.end >= part.kv_rows.end)  // all begin with the first key
        part.finishes = false;
    return true;
  }
};

}  // namespace sawtooth
