// What a search prints: the ranked table, and the best schedules as a configuration.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "experiments/sawtooth/search/gaps.hpp"
#include "experiments/sawtooth/search/staged_search.hpp"

namespace sawtooth::experiments {

/// Columns of a ranked row behind those of results.csv (docs/reference/columns.md).
inline constexpr auto search_columns = std::to_array<std::string_view>({
    "rank",
    "evaluated_by",
    "why",
    "pareto",
    "dram_bound_sectors",
    "dram_gap",
    "opt_read_sectors",
    "time_bound_us",
    "time_gap",
    "measured_rank",
    "measured_time_us",
    "measured_dram_read_sectors",
});

/// What was measured of a candidate; see measured_proof.hpp.
struct Measured {
  int rank = 0;
  double time_us = 0;
  std::optional<double> dram_read_sectors;
};
using MeasuredByCandidate = std::map<const Candidate*, Measured>;

std::string search_header();
/// The rows of a shape, ranked ones first, then the usual schedule where it is outside.
std::string search_rows(const SearchedShape& searched, const SpaceBounds& bounds,
                        const MeasuredByCandidate& measured);

/// A table for people: the `most` best of a shape and the usual schedule.
std::string search_summary(const SearchedShape& searched, const SpaceBounds& bounds, size_t most);

/// Sections with the keys of problem, schedule and place, one a point; simulate, measure and bench
/// read it.
std::string configuration_of(const std::vector<const Candidate*>& candidates);

}  // namespace sawtooth::experiments
