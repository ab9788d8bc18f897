// What an SM does with several CTAs of kernels/mma: how many it holds by their registers, and
// whether two of them keep step. A launch may ask for more (ctas-per-sm): the rest of its CTAs
// begin when others end. A table of its own, so that a build without kernels predicts what another
// one measures; tests/experiments holds it against the variants of the build.
#pragma once

#include <array>
#include <cstdint>

#include "scheduler/tiling.hpp"

namespace sawtooth::experiments {

struct ResidentCtas {
  int64_t head_dim;
  Tiling tiling;
  int64_t ctas;
  bool keep_step = false;  // the older one gains nothing
};

// Registers a thread by registers.py in kernels/mma, 65536 of them an SM. 128x64 at D = 64 has 222
// (224 as they are allotted) for 128 threads: two CTAs, and a third does not fit. Step records of a
// launch of 396 CTAs show both: the last 132 begin when the first 264 end, and the two of an SM
// stay a fifth of a step apart for all of their 3072 steps.
inline constexpr auto resident_ctas_table = std::to_array<ResidentCtas>({
    {32, {128, 128}, 2},
    {32, {64, 64}, 4},
    {64, {128, 128}, 2},
    {64, {128, 64}, 2, true},
    {64, {64, 64}, 3},
    {64, {80, 80}, 2},
    {96, {128, 64}, 1},
    {96, {64, 64}, 2},
    {128, {128, 128}, 1},
    {128, {128, 64}, 2},
    {128, {64, 64}, 2},
    {256, {128, 64}, 1},
    {256, {64, 64}, 1},
});

/// Null: not known.
constexpr const ResidentCtas* resident_ctas(int64_t head_dim, const Tiling& tiling) {
  for (const ResidentCtas& row : resident_ctas_table)
    if (row.head_dim == head_dim && row.tiling.q_rows == tiling.q_rows &&
        row.tiling.kv_rows == tiling.kv_rows)
      return &row;
  return nullptr;
}

}  // namespace sawtooth::experiments
