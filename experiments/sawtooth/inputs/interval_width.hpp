// How wide the interval of a predicted figure is, from what a model was wrong by on lists of
// points: [intervals] of a GPU's profile, a column a line.
//
//   dram_read_sectors = 0.05, 0.04, 0.1, 0.6, 0.005, 9.9; measured; ...
//
// The measured value lies in predicted x exp(-h) to predicted x exp(h) in 90 % of points. Where one
// launch was simulated h is one of the first four numbers, by the kind of the point, for durations
// by a kind of their own. Where several were, it is the sixth number times hypot(s, fifth number),
// with s the standard deviation of the logarithm over these launches: points at which dies and
// pages differ are those at which the model errs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/profile_file.hpp"

namespace sawtooth::experiments {

/// Columns of results.csv that no model of time knows exactly. Each, X, has X_low and X_high.
inline constexpr auto interval_columns = std::to_array<std::string_view>(
    {"l2_read_sectors", "l2_read_miss_sectors", "fabric_read_sectors", "fabric_read_miss_sectors",
     "dram_read_sectors", "dram_write_sectors", "time_us"});

/// By what decides how far CTAs drift apart, and what that costs.
enum class PointKind : uint8_t {
  within,    // predicted DRAM reads up to 1.5 x compulsory: L2 holds what is read again
  in_step,   // beyond; no mask, and a wave reads one head
  apart,     // beyond; a mask, or heads that share a wave
  drifting,  // beyond; a mask, and the shortest items first
};
inline constexpr auto point_kind_names =
    std::to_array<std::string_view>({"within", "in_step", "apart", "drifting"});
inline constexpr size_t point_kinds = point_kind_names.size();

/// Durations differ in kind by how long the predicted one is: brief (what a launch is beside its
/// items counts), usual, sustained (the clock may fall), limited (at the GPU's power limit it has
/// begun to).
/// Where usual, sustained and limited begin. A launch's 2 to 6 us are 1 to 3 % of the first; the
/// others are where durations of development lists begin to differ from launch to launch, and the
/// power-delay-ms of an H200.
inline constexpr std::array<double, 3> duration_kind_begins_us{200, 10'000, 30'000};

struct IntervalWidth {
  std::string column;                               // one of interval_columns
  std::array<double, point_kinds> of_one_launch{};  // by PointKind, of time_us by how long it is
  double floor = 0;                                 // of the spread over launches
  double factor = 0;

  /// h, of what the simulated launches say; at least one, each above 0. `kind` is that of a
  /// counter's point.
  double half_width(const std::vector<double>& launches, PointKind kind) const {
    return launches.size() < 2 ? of_one_launch[static_cast<size_t>(kind)] : of_several(launches);
  }
  /// h of a duration: several launches on one card know nothing of how cards differ.
  double half_width_of_time(const std::vector<double>& launches_us, double time_us) const;
  /// The half width follows from two or more launches.
  double of_several(const std::vector<double>& launches) const;
};

/// Throws UsageError with `path`, line and what is allowed.
IntervalWidth parse_interval_width(const std::string& path, const Parameter& parameter);

}  // namespace sawtooth::experiments
