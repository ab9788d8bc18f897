// A share of the tiles of a trace stands for all, as sim/lru/sampled_lru.hpp says.
#pragma once

#include <cstdint>

#include "sim/prediction.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

/// Estimates what analyse_trace counts from a share `sample` of the atoms, chosen by `seed` and
/// their first lines; `sampling` of the result holds 95 % intervals. Throws TraceError for a broken
/// trace, for atoms that overlap and for a run of lines that is visited backwards, and
/// std::invalid_argument when too few atoms would be followed.
Prediction sample_trace(TraceReader& reader, int64_t l2_bytes, double sample, uint64_t seed);

}  // namespace sawtooth::sim
