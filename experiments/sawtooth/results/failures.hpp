// Points of a sweep that have no result, for the end of a command: a line a reason, with its first
// point, of the first hundred reasons.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

class Failures {
 public:
  /// A row of results.csv whose status is not ok.
  void add(const CsvRow& row);
  bool empty() const { return reasons_.empty(); }
  /// To standard error.
  void print() const;

 private:
  struct Reason {
    std::string message;
    std::string first_point;
    int64_t points = 0;
  };
  std::vector<Reason> reasons_;  // the first ones
  int64_t others_ = 0;           // points with other reasons
};

}  // namespace sawtooth::experiments
