// What a search prints: the ranked table, and the best schedules as a configuration.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/search/staged_search.hpp"

namespace sawtooth::experiments {

/// Columns of a ranked row behind those of results.csv (docs/reference/columns.md).
inline constexpr auto search_columns =
    std::to_array<std::string_view>({"rank", "evaluated_by", "why", "pareto", "dram_bound_sectors",
                                     "dram_gap", "opt_read_sectors", "time_bound_us", "time_gap"});

/// How far a schedule is from what no schedule can beat: the least of all configurations (tiling,
/// workers, kv-split, cut last wave) of a space; empty where a model lacks what it takes.
struct SpaceBounds {
  std::optional<int64_t> dram_read_sectors;
  std::optional<double> time_us;
};
SpaceBounds bounds_of(const Shape& shape);

/// DRAM reads of the candidate's own order in lockstep under Belady's replacement.
std::optional<int64_t> optimal_replacement_reads(const Candidate& candidate);

std::string search_header();
/// The rows of a shape, ranked ones first, then the usual schedule where it is outside.
std::string search_rows(const SearchedShape& searched, const SpaceBounds& bounds);

/// A table for people: the `most` best of a shape, its front of time and DRAM reads and the usual
/// schedule, with what these have in common.
std::string search_summary(const SearchedShape& searched, const SpaceBounds& bounds, size_t most);

/// Sections with the keys of problem, schedule and place, one a point; simulate, measure and bench
/// read it.
std::string configuration_of(const std::vector<const Candidate*>& candidates);

}  // namespace sawtooth::experiments
