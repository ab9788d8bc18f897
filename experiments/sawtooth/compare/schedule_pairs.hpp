// Pairs of schedules of one problem: which one is better, and by how much.
#pragma once

#include <cstddef>
#include <vector>

namespace sawtooth::experiments {

/// Two schedules of one problem differ when one measures more than this share above the other.
inline constexpr double schedule_difference = 0.10;
/// The size of a change is right when predicted and measured ratio agree within this share.
inline constexpr double size_tolerance = 0.10;

struct SchedulePoint {
  double predicted = 0;
  double measured = 0;
};

struct PairCounts {
  size_t pairs = 0;  // whose measured values differ by more than schedule_difference; of these:
  size_t right_order = 0;  // the smaller one is predicted smaller; equal predictions are wrong
  size_t right_size = 0;   // the predicted ratio is within size_tolerance of the measured one

  PairCounts& operator+=(const PairCounts& more);
};

/// Over all pairs of `points`, in time n log^2 n. Ratios are those of the later point to the
/// earlier one. What was measured as 0 is in no pair.
PairCounts count_pairs(std::vector<SchedulePoint> points);

}  // namespace sawtooth::experiments
