// Rows of candidates, each predicted once and kept in a log that a search can go on from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/search/space.hpp"

namespace sawtooth::experiments {

class Evaluations {
 public:
  /// The log of PATH.csv is PATH.points.csv; "-" and no path keep none.
  Evaluations(const Settings& outputs, const std::string& path);

  /// Rows in the order of `candidates`, on several threads; their bytes do not depend on how many.
  std::vector<CsvRow> of(const std::vector<const Candidate*>& candidates, const std::string& what);

  /// Begins the log. Throws UsageError where an old row of a candidate was made from other files.
  void start(const std::vector<Shape>& shapes);
  void finish();

 private:
  size_t threads_;
  bool quiet_;
  ResultLog log_;
  std::map<std::string, CsvRow> known_;  // of this run, by row_key
};

}  // namespace sawtooth::experiments
