// results.csv while it grows. Rows are appended to PATH.partial as they are finished, so that an
// interrupted sweep leaves complete rows; PATH is written beside it in the order of the sweep, and
// appears with finish(), which removes the partial file. A later run with resume takes the rows of
// both files over, if they were made from the same files by the same model; one without refuses to
// replace a partial file that has rows. What is no regular file gets the rows in the order of the
// sweep. A second process on the same file is refused. Of old rows there is an index in memory,
// of new ones nothing.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "experiments/sawtooth/inputs/settings.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/output_file.hpp"

namespace sawtooth::experiments {

/// What becomes of rows that are there already.
enum class OldRows : uint8_t { replace_finished, overwrite, resume };

/// By the options resume and overwrite; throws UsageError for both.
OldRows old_rows(const Settings& outputs);

/// Rows at a table's beginning that a combination of keys forbids wait for another one.
class HeldBack {
 public:
  /// Lines that may be written now: none, or those that waited and this one.
  std::vector<std::string> pass(const std::string& line, bool refused);
  bool holds() const { return holds_; }
  bool empty() const { return lines_.empty(); }
  /// Gives up waiting.
  std::vector<std::string> release();

 private:
  bool holds_ = true;
  std::vector<std::string> lines_;
};

class ResultLog {
 public:
  /// `path` "-" is standard output. The first `key_columns` cells tell rows apart: those of a
  /// point, or one more where a point has repetitions. Throws UsageError when the file cannot be
  /// written, when there is a partial file with rows that nothing says what to do with, or to
  /// resume when a file of that name has other columns than results.csv.
  ResultLog(std::string path, OldRows old, size_t key_columns = key_column_count);

  /// Before start(), where there are old rows: the key cells of every row of the sweep, in its
  /// order, and then throws UsageError when an old row of one of them was made from other contents
  /// of files or by another model than a new one would be.
  bool has_old_rows() const { return !old_.empty(); }
  void expect(const CsvRow& key_cells);
  void refuse_changes() const;
  void refuse_changes(const std::vector<CsvRow>& sweep);
  /// Whether a row of these key cells was there before and has its results.
  bool has(const CsvRow& key_cells) const;
  /// That row.
  CsvRow old_row(const CsvRow& key_cells) const { return read(*find_old(key_cells)); }
  /// Of a sweep that is a part of another one refused rows are written even where all are refused.
  void keep_refused();
  /// Creates the files; before it nothing is written.
  void start();
  /// Appends a row to the partial file, in any order. append() then adds it to the table.
  void append_finished(const CsvRow& row);
  /// Appends the row of the next point in the order of the sweep. Those that a combination of keys
  /// forbids are held back until there is another one.
  void append(const CsvRow& row, bool is_in_partial_file = false);
  /// Takes over the old row of the next point.
  void keep(const CsvRow& key_cells);
  /// Completes the file; old rows of points that this sweep has not stand in front, those of points
  /// that it has not come to at the end. Throws Refusal, and leaves nothing new, where all rows of
  /// the sweep were refused.
  void finish();
  /// For those who show rows: from now on sweep_rows() has those that are appended.
  void remember_rows() { remembers_ = true; }
  const std::vector<CsvRow>& sweep_rows() const { return rows_; }
  /// How many rows of the sweep have no result.
  int64_t failures() const { return failures_; }

  bool has_partial_file() const { return replaceable_; }
  /// For ends without a destructor.
  void unlock();
  std::string partial_path() const { return path_ + ".partial"; }

 private:
  struct OldRow {
    uint64_t offset = 0;
    uint32_t length = 0;
    uint32_t source = 0;  // index of old_files_
    bool has_result = false;
    bool expected = false;  // of a point of this sweep
    bool used = false;      // and that point has its row
  };
  // A row of the sweep that may be a changed old one.
  struct Suspect {
    uint64_t name = 0;
    const std::string* inputs = nullptr;
  };
  TextKey key_of(const CsvRow& cells) const { return TextKey(row_key(cells, key_columns_)); }
  uint64_t name_of(const CsvRow& cells) const;
  const OldRow* find_old(const CsvRow& key_cells) const;
  void mark_used(const CsvRow& key_cells);
  CsvRow read(const OldRow& row) const;
  [[noreturn]] void refuse_change(const OldRow& old, const std::string& changes) const;
  void take_over(const std::string& path, bool may_end_early);
  void refuse_unfinished() const;
  void write_partial(const std::string& line);
  void write_in_order(const std::string& line);

  std::string path_;
  std::optional<FileLock> lock_;  // before the old rows are read, until the log ends
  bool replaceable_ = false;      // has a partial file
  bool had_partial_ = false;      // whose rows were taken over
  size_t key_columns_;
  std::vector<std::string> old_paths_;
  mutable std::vector<std::ifstream> old_files_;  // open, as start() replaces what they were
  std::vector<OldRow> old_;                       // in their order
  std::unordered_map<TextKey, uint32_t, TextKey::Hash> old_by_key_;
  std::unordered_multimap<uint64_t, uint32_t> old_by_name_;  // of those that have results
  std::vector<Suspect> suspects_;
  std::set<std::string> inputs_;  // of suspects
  HeldBack held_partial_, held_in_order_;
  bool remembers_ = false;
  std::vector<CsvRow> rows_;
  std::string first_refusal_;
  int64_t failures_ = 0;
  std::ofstream partial_;            // or what is no regular file
  std::optional<OutputFile> table_;  // in the order of the sweep
};

}  // namespace sawtooth::experiments
