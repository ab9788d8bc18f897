// The ladder's results: one row a level, as a table for people and as CSV.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "experiments/studies/ladder/counters.hpp"
#include "kernels/ladder/ladder.hpp"

namespace sawtooth::experiments::ladder {

struct Row {
  kernels::ladder::Level level;
  kernels::ladder::Footprint footprint;
  double output_error = 0;
  double allowed_error = 0;
  double time_us = 0;  // median
  double fastest_us = 0;
  double slowest_us = 0;
  double tflops = 0;
  Values counters{};
  std::string status = "ok";  // or why counters are empty
};

void print_table(std::ostream& out, const Problem& problem, const std::vector<Row>& rows);

/// One row a level; empty cells were not measured.
void write_csv(std::ostream& out, const std::string& gpu, const Problem& problem,
               const std::vector<Row>& rows);

}  // namespace sawtooth::experiments::ladder
