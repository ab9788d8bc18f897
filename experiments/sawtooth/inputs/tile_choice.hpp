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

/// The first row of this family and of the problem's pass and head dim that fits
/// `shared_memory_bytes` (0: not known, all fit); null when there is none. No name stands for mma,
/// and for mma-fp32 where that has kernels of the pass, head dim and type.
const kernels::VariantRow* choose_tile(std::string_view family, const Problem& problem,
                                       int64_t shared_memory_bytes);

/// The tiles of a family and head dim with their bytes, for a message; empty when there are none.
std::string known_tiles(std::string_view family, const Problem& problem);

}  // namespace sawtooth::experiments
