// Bounds of what a call may ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "kernels/attention/attention.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

/// Under `balanced`, so that the state of all launches has one size; no GPU holds as many CTAs of
/// the kernels that merge pieces.
inline constexpr int64_t most_balanced_workers = 512;

/// Then there is nothing to do.
constexpr bool has_no_query(const Problem& problem) {
  return problem.batch == 0 || problem.heads == 0 || problem.seq_q == 0;
}

/// Whether the product of `factors`, none of them negative, is at most `limit`.
constexpr bool product_within(int64_t limit, std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (product > 0 && factor > limit / product) return false;
    product *= factor;
  }
  return true;
}

// The workspace of a call and what else its preparation shares between the passes.

inline constexpr std::size_t workspace_alignment = 16;

constexpr std::size_t aligned(std::size_t bytes, std::size_t to = workspace_alignment) {
  return (bytes + to - 1) / to * to;
}

/// Numbers that the pieces of a last wave can have.
constexpr int64_t most_pieces(int64_t workers) {
  return 2 * workers;
}

// These hold for pieces of the last wave (kernels/hopper/pieces.cuh).
inline constexpr int64_t most_q_rows = 256;     // of a tile, and room for a larger one
inline constexpr int64_t piece_warp_rows = 16;  // of a wgmma accumulator

// The state that launches find and leave as zeros: the ticket, in a line of its own, and an arrival
// counter for each 16 rows (a warp) of every piece, of the largest tile.
inline constexpr std::size_t arrivals_offset = 128;
inline constexpr std::size_t state_size =
    arrivals_offset +
    std::size_t(most_pieces(most_balanced_workers) * most_q_rows / piece_warp_rows) *
        sizeof(unsigned);

/// K/V heads of all sequences of a decode call with a prefix: each has an arrival counter.
inline constexpr int64_t most_cascade_heads =
    int64_t((state_size - arrivals_offset) / sizeof(unsigned));

inline Outcome check_workspace(const void* workspace, std::size_t bytes, std::size_t needed) {
  if (workspace == nullptr) return {Status::null_pointer, "workspace is a null pointer"};
  if (reinterpret_cast<uintptr_t>(workspace) % workspace_alignment != 0)
    return {Status::misaligned, "workspace is not aligned to 16 bytes"};
  if (bytes < needed)
    return {Status::workspace_too_small,
            "workspace has " + std::to_string(bytes) + " bytes; needed: " + std::to_string(needed)};
  return {};
}

/// What createpolicy.fractional.L2::evict_... with fraction 1 yields: ptxas folds it to these
/// constants for sm_80, sm_90 and sm_120 alike.
constexpr uint64_t policy_of(Eviction eviction) {
  if (eviction == Eviction::normal) return 0x10F0000000000000ull;
  return eviction == Eviction::first ? 0x12F0000000000000ull : 0x14F0000000000000ull;
}

constexpr Strides or_contiguous(const Strides& strides, int64_t heads, int64_t length,
                                int64_t head_dim) {
  return strides == Strides{} ? contiguous_strides(heads, length, head_dim) : strides;
}

}  // namespace sawtooth::kernels
