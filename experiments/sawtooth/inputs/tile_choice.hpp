// The tile that the kernels of this project prefer for a head dim, where a configuration names
// none: the largest of their tilings that fits a thread block's shared memory on the GPU. A table
// of its own, so that a build without kernels predicts what another one measures; tests/experiments
// holds it against the variants of the build.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/tiling.hpp"

namespace sawtooth::experiments {

struct TileChoice {
  std::string_view family;  // of the kernel
  int64_t head_dim;
  Tiling tiling;
  int64_t shared_bytes;  // of a CTA, with its rings of K and V
};

/// Of one family and head dim the fastest first.
std::span<const TileChoice> tile_choices();

/// The first choice of this family ("" stands for mma) and head dim that fits
/// `shared_memory_bytes` (0: not known, all fit); null when there is none.
const TileChoice* choose_tile(std::string_view family, int64_t head_dim,
                              int64_t shared_memory_bytes);

/// The tiles of a family and head dim with their bytes, for a message; empty when there are none.
std::string known_tiles(std::string_view family, int64_t head_dim);

}  // namespace sawtooth::experiments
