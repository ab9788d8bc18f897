// A scan that is a Python function, asked once for each set of values of what it looks at.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "sim/request.hpp"

namespace sawtooth::experiments {

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

}  // namespace sawtooth::experiments
