// What `teach` learns from: durations of one kernel's launches, rows of results.csv.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct TaughtRow {
  Point point;  // with costs of kernels/mma
  double time_ns = 0;
  int line = 0;
  bool linear = true;
  bool inside = false;  // a half of L2 (or L2 of one part) keeps K and V of a head
  bool warm = false;    // the launch before left K and V in L2
};

struct TaughtRows {
  std::string path;
  std::string kernel;  // column `kernel`; may be empty
  std::vector<TaughtRow> rows;
};

/// Rows with a time, but for predicted ones. Columns that are missing or empty have their defaults;
/// head_dim, tile_q, tile_kv, launch, workers, ctas_per_sm, scan, time_us and seq_q with seq_kv are
/// needed, and gpu unless `gpu` names it. Throws UsageError that names what is missing, what is
/// beside one kernel of one shape, and rows that are not for learning: other scans than linear, but
/// for one sawtooth row inside L2; fewer than 3 linear rows; none inside or none beyond L2.
TaughtRows taught_rows(const CsvTable& table, const std::string& gpu, Catalog& catalog);

}  // namespace sawtooth::experiments
