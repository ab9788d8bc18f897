// simulate() of the Python package: from options as texts to predicted rows, and scans that are
// Python functions.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "experiments/sawtooth/support/csv.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

/// A scan that is a Python function, asked once for each set of values of what it looks at.
class PythonScan : public sim::OwnScan {
 public:
  /// `function` takes the values of `fields`, members of ScanContext by name, and returns the
  /// positions of all steps. Throws UsageError for a field that does not exist. Create and destroy
  /// with the GIL held.
  PythonScan(nanobind::callable function, const std::vector<std::string>& fields);

  /// Takes the GIL where the answer is not known yet; throws UsageError for what is no permutation
  /// of [0, context.tiles).
  const int32_t* positions(const ScanContext& context) override;

 private:
  nanobind::callable function_;
  std::vector<int64_t (*)(const ScanContext&)> fields_;
  std::mutex mutex_;
  std::map<std::vector<int64_t>, std::vector<int32_t>> known_;  // tiles and fields -> positions
};

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

/// Every point of the sweep, in the program's order. Throws UsageError for a mistake; ends within a
/// step of the simulation when Python has a signal to handle. Call with the GIL held.
std::vector<Predicted> simulate_sweep(const PythonSweep& sweep);

}  // namespace sawtooth::experiments
