#include "experiments/sawtooth/simulate/dry_run.hpp"

#include <algorithm>
#include <iostream>

#include "experiments/sawtooth/results/failures.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/simulate/point_cost.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

std::string duration(double seconds) {
  constexpr double minute = 60, hour = 3600, day = 86400;
  if (seconds < minute) return fixed(seconds, seconds < 1 ? 3 : 1) + " s";
  if (seconds < hour) return fixed(seconds / minute, 1) + " min";
  if (seconds < day) return fixed(seconds / hour, 1) + " h";
  return fixed(seconds / day, 1) + " days";
}

}  // namespace

int dry_run(SimulatedSweep& sweep, const Settings& outputs) {
  constexpr double mebibyte = 1 << 20;
  // Reading the old rows writes nothing.
  const ResultLog log(value_or(outputs, "csv", "-"), old_rows(outputs));
  SimulatedPoints points(sweep);
  Failures refused;
  int64_t there = 0, cannot_run = 0;
  double sum_s = 0, longest_s = 0, most_bytes = 0;
  while (const auto point = points.next()) {
    if (!point->point.refusal.empty()) {
      ++cannot_run;
      refused.add(row_without_result(point->key_cells, status_refused, point->point.refusal));
      continue;
    }
    if (log.has(point->key_cells)) {
      ++there;
      continue;
    }
    const PointCost cost = expected_cost(point->point);
    sum_s += cost.seconds;
    longest_s = std::max(longest_s, cost.seconds);
    most_bytes = std::max(most_bytes, cost.bytes);
  }
  const auto all = static_cast<int64_t>(points.count());
  std::cout << "points: " << all << "\n";
  if (cannot_run > 0) std::cout << "  of them cannot be run: " << cannot_run << "\n";
  if (log.has_old_rows()) std::cout << "  of them have a row: " << there << "\n";
  std::cout << "expected time, to a factor of about 3: " << duration(sum_s)
            << " of one core, the longest point " << duration(longest_s)
            << "\nexpected memory: up to " << fixed(most_bytes / mebibyte, 0)
            << " MiB for each point that is simulated at once\n";
  refused.print();
  return cannot_run == 0 ? exit_fine : exit_check_failed;
}

}  // namespace sawtooth::experiments
