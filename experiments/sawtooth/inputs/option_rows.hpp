// The two parts of the table of options, and what their rows share.
#pragma once

#include <cstdint>
#include <span>

#include "experiments/sawtooth/inputs/option_schema.hpp"

namespace sawtooth::experiments {

/// Keys of points: the problem, the schedule, where it runs and the model.
std::span<const OptionSpec> point_options();
/// What commands write and how they go about it.
std::span<const OptionSpec> output_options();

// A tile or a section beyond these bounds is a typing error rather than an experiment.
inline constexpr int64_t most_rows_of_a_tile = int64_t{1} << 20;
inline constexpr int64_t most_small = int64_t{1} << 20;
inline constexpr int64_t most_keys = int64_t{1} << 40;
inline constexpr int64_t most_head_dim = 4096;
// CUDA C++ Programming Guide, "Technical Specifications".
inline constexpr int64_t most_ctas_per_sm = 32;
inline constexpr int64_t most_ring_ranks = 1024;
inline constexpr int64_t most_threads = 4096;
inline constexpr int64_t most_atoms = int64_t{1} << 30;  // as many as the engine weighs
inline constexpr int64_t most_tasks = 4'000'000;  // as many as MaxArraySize of slurm.conf may say
inline constexpr int64_t most_ways = 4096;
inline constexpr int64_t most_launches = 999;
inline constexpr int64_t most_ns = 1'000'000'000;  // a second

inline constexpr CommandSet measuring = command_measure | command_bench;
inline constexpr CommandSet rings = command_simulate | command_ring;
inline constexpr CommandSet sweeps =
    command_simulate | measuring | command_trace | command_search | command_ring;
inline constexpr CommandSet both = sweeps | command_compare;
inline constexpr CommandSet predicts = command_simulate | command_trace;

}  // namespace sawtooth::experiments
