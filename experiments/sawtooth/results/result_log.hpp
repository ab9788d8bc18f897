// results.csv while it grows. Rows are appended one by one to PATH.partial, so that an interrupted
// sweep leaves complete rows; finish() writes PATH in the order of the sweep and removes the
// partial file. A later run with resume takes the rows of both files over. What is no regular file
// gets the rows as they come. A second process on the same file is refused.
#pragma once

#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/file_lock.hpp"

namespace sawtooth::experiments {

class ResultLog {
 public:
  /// `path` "-" is standard output. The first `key_columns` cells tell rows apart: those of a
  /// point, or one more where a point has repetitions. Throws UsageError when the file cannot be
  /// written, or with `resume` when a file of that name has other columns than results.csv.
  ResultLog(std::string path, bool resume, size_t key_columns = key_column_count);

  /// Whether a row with these key cells was there before.
  bool has(const CsvRow& key_cells) const;
  /// Creates the partial file; before it nothing is written.
  void start();
  /// Appends the row of the next point; rows come in the order of the sweep.
  void append(const CsvRow& row);
  /// Takes over the old row of the next point.
  void keep(const CsvRow& key_cells);
  /// Writes the whole file; rows of an earlier run that this sweep has not stay, in front.
  void finish();

  bool has_partial_file() const { return replaceable_; }
  /// For ends without a destructor.
  void unlock() { lock_.reset(); }
  std::string partial_path() const { return path_ + ".partial"; }

 private:
  std::string key_of(const CsvRow& cells) const;
  std::ostream& rows();
  void take_over(const std::string& path, bool may_end_early);

  std::string path_;
  std::optional<FileLock> lock_;  // before the old rows are read, until the log ends
  bool replaceable_ = false;      // has a partial file
  size_t key_columns_;
  std::vector<std::string> old_order_;      // keys of old rows, in their order
  std::map<std::string, std::string> old_;  // key -> line
  std::map<std::string, bool> used_;        // old keys that this sweep has
  std::vector<std::string> lines_;          // of this sweep, in its order
  std::ofstream file_;                      // the partial file, or what is no regular file
};

}  // namespace sawtooth::experiments
