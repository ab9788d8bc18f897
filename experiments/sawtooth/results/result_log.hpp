// results.csv while it grows. Rows are appended one by one to PATH.partial, so that an interrupted
// sweep leaves complete rows; finish() writes PATH in the order of the sweep and removes the
// partial file. A later run with resume takes the rows of both files over, if they were made from
// the same files by the same model; one without refuses to replace a partial file that has rows.
// What is no regular file gets the rows as they come. A second process on the same file is refused.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/settings.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/file_lock.hpp"

namespace sawtooth::experiments {

/// What becomes of rows that are there already.
enum class OldRows : uint8_t { replace_finished, overwrite, resume };

/// By the options resume and overwrite; throws UsageError for both.
OldRows old_rows(const Settings& outputs);

class ResultLog {
 public:
  /// `path` "-" is standard output. The first `key_columns` cells tell rows apart: those of a
  /// point, or one more where a point has repetitions. Throws UsageError when the file cannot be
  /// written, when there is a partial file with rows that nothing says what to do with, or to
  /// resume when a file of that name has other columns than results.csv.
  ResultLog(std::string path, OldRows old, size_t key_columns = key_column_count);

  /// Throws UsageError when an old row of a point of `sweep` was made from other contents of files
  /// or by another model than a new one would be. `sweep` has the key cells of all rows.
  void refuse_changes(const std::vector<CsvRow>& sweep) const;
  /// Whether a row of these key cells was there before and has its results.
  bool has(const CsvRow& key_cells) const;
  /// That row.
  const CsvRow& old_row(const CsvRow& key_cells) const { return old_.at(key_of(key_cells)).cells; }
  /// Whether this sweep has its row already.
  bool is_done(const CsvRow& key_cells) const { return used_.contains(key_of(key_cells)); }
  /// Creates the partial file; before it nothing is written.
  void start();
  /// Appends the row of the next point; rows come in the order of the sweep. Those that a
  /// combination of keys forbids are held back until there is another one.
  void append(const CsvRow& row);
  /// Takes over the old row of the next point.
  void keep(const CsvRow& key_cells);
  /// Writes the whole file; rows of an earlier run that this sweep has not stay, in front. Throws
  /// Refusal, and leaves nothing new, where all rows of the sweep were refused.
  void finish();
  /// The rows of the sweep so far.
  std::vector<CsvRow> sweep_rows() const;
  /// How many rows of the sweep have no result.
  int64_t failures() const { return failures_; }

  bool has_partial_file() const { return replaceable_; }
  /// For ends without a destructor.
  void unlock() { lock_.reset(); }
  std::string partial_path() const { return path_ + ".partial"; }

 private:
  struct OldRow {
    CsvRow cells;
    std::string line;
  };
  std::string key_of(const CsvRow& cells) const { return row_key(cells, key_columns_); }
  std::string name_of(const CsvRow& cells) const;
  std::ostream& rows();
  void take_over(const std::string& path, bool may_end_early);
  void refuse_unfinished() const;
  void write_row(const std::string& line);
  void write_held();
  void discard();

  std::string path_;
  std::optional<FileLock> lock_;  // before the old rows are read, until the log ends
  bool replaceable_ = false;      // has a partial file
  bool had_partial_ = false;      // whose rows were taken over
  size_t key_columns_;
  std::vector<std::string> old_order_;  // keys of old rows, in their order
  std::map<std::string, OldRow> old_;
  std::map<std::string, bool> used_;  // old keys that this sweep has
  std::vector<std::string> lines_;    // of this sweep, in its order
  std::vector<std::string> held_;     // of these, not written yet
  bool holds_ = true;                 // until there is a row that was not refused
  std::string first_refusal_;
  int64_t failures_ = 0;
  std::ofstream file_;  // the partial file, or what is no regular file
};

}  // namespace sawtooth::experiments
