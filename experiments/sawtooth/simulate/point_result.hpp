// One point simulated: its rows, and what there is to say about it. It travels between processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/simulate/simulated_points.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct PointResult {
  CsvRow row;
  bool has_result = true;
  std::vector<std::string> side_rows;
  std::string method;

  std::string bytes() const;
  static PointResult of_bytes(const std::string& bytes);
};

/// What a combination of keys or a model forbids, and too little memory, is a row without a result.
PointResult simulate_point(const SimulatedPoint& point, const SideTables& sides,
                           std::atomic<int64_t>& items_begun);

}  // namespace sawtooth::experiments
