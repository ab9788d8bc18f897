// simulate() of the Python package: from options as texts to predicted rows.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "experiments/sawtooth/python/python_scan.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

/// One row of results.csv with what stands behind it.
struct Predicted {
  CsvRow cells;  // in the order of result_columns
  CsvRow key_cells;
  sim::Prediction prediction;
  bool has_curve = false;

  /// The CSV that --by-tensor, --miss-curve or --histogram would write for this point alone;
  /// throws UsageError where the L2 model counts at one capacity.
  std::string side_table(const std::string& option) const;
};

struct PythonSweep {
  std::string configuration;  // path of an INI, or empty
  std::vector<std::pair<std::string, std::vector<std::string>>> options;
  std::map<std::string, std::shared_ptr<PythonScan>> scans;  // by the text that stands for them
  std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> order;  // empty: of the options
  size_t threads = 0;                                                 // 0: all cores
};

struct PythonRows {
  std::vector<Predicted> rows;
  std::string note;  // on the models that were chosen; may be empty
};

/// Every point of the sweep, in the program's order. Throws UsageError for a mistake; ends within a
/// step of the simulation when Python has a signal to handle. Call with the GIL held.
PythonRows simulate_sweep(const PythonSweep& sweep);

}  // namespace sawtooth::experiments
