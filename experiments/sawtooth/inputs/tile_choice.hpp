// The tile that the kernels of this project prefer for a head dim, where a configuration names
// none: the first of their tilings (kernels/attention/variants.inc) that fits a thread block's
// shared memory on the GPU. The list has all kernels, so that a build without them predicts what
// another one measures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/attention/variant_list.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

/// The first row of this pass, family ("" stands for mma) and head dim that fits
/// `shared_memory_bytes` (0: not known, all fit); null when there is none.
const kernels::VariantRow* choose_tile(std::string_view family, int64_t head_dim,
                                       int64_t shared_memory_bytes, Pass pass);

/// The tiles of a family and head dim with their bytes, for a message; empty when there are none.
std::string known_tiles(std::string_view family, int64_t head_dim, Pass pass);

}  // namespace sawtooth::experiments
