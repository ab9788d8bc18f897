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
  /// The log is PATH's side file points_path(PATH); "-" and no path keep none.
  Evaluations(const Settings& outputs, const std::string& path);

  /// Rows in the order of `candidates`, on several threads; their bytes do not depend on how many.
  std::vector<CsvRow> of(const std::vector<const Candidate*>& candidates, const std::string& what);

  /// Begins the log. Throws UsageError where an old row of a candidate was made from other files.
  void start(const std::vector<Shape>& shapes);
  int64_t made() const { return made_; }
  int64_t taken_over() const { return taken_over_; }
  void finish();

  /// The table's path without .csv, for files beside it.
  static std::string stem_of_table(const std::string& path);
  static std::string points_path(const std::string& path);

 private:
  size_t threads_;
  bool quiet_;
  ResultLog log_;
  std::map<std::string, CsvRow> known_;  // of this run, by row_key
  int64_t made_ = 0, taken_over_ = 0;
};

}  // namespace sawtooth::experiments
