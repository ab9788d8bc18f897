// results.csv while it grows. Rows are appended to PATH.partial as they are finished, so that an
// interrupted sweep leaves complete rows; PATH is written beside it in the order of the sweep, and
// appears with finish(), which removes the partial file. A later run with resume takes the rows of
// both files over, if they were made from the same files by the same model; one without refuses to
// replace a partial file that has rows. What is no regular file gets the rows in the order of the
// sweep. A second process on the same file is refused. Of old rows there is an index in memory,
// of new ones nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/files.hpp"

namespace sawtooth::experiments {

// Rows of an earlier run on the same table, for one that goes on with them: an index in memory, the
// rows are read again from the files that had them.

/// Throws UsageError for a header that is not that of results.csv: `place`, the column that
/// differs, and what is `allowed`.
void require_result_columns(const CsvRow& header, const std::string& place,
                            const std::string& allowed);

class OldTable {
 public:
  struct Row : CsvPlace {
    bool has_result = false;
    bool expected = false;  // of a point of this sweep
    bool used = false;      // and that point has its row
  };

  /// The first `key_columns` cells tell rows apart. `path` is the table's, for messages.
  OldTable(std::string path, size_t key_columns)
      : path_(std::move(path)), key_columns_(key_columns) {}

  /// The last row of a key with a result stays; false where the file is not there. Throws
  /// UsageError for other columns.
  bool add(const std::string& file, bool may_end_early);
  bool empty() const { return rows_.empty(); }
  const std::vector<Row>& rows() const { return rows_; }
  Row* find(const CsvRow& key_cells);
  const Row* find(const CsvRow& key_cells) const {
    return const_cast<OldTable*>(this)->find(key_cells);
  }
  CsvRow read(const Row& row) const { return records_.read(row); }

  /// The sweep has a row of these key cells. Throws UsageError where the old one was made by
  /// another model.
  void expect(const CsvRow& key_cells);
  /// When all have been expected: throws UsageError where an old row was made from other contents
  /// of files than the one that would take its place.
  void refuse_changes() const;

 private:
  // A row of the sweep that may be a changed old one.
  struct Suspect {
    uint64_t name = 0;
    std::string inputs, version;
  };
  uint64_t name_of(const CsvRow& cells) const;
  [[noreturn]] void refuse(const CsvRow& old, const std::string& inputs,
                           const std::string& version) const;

  std::string path_;
  size_t key_columns_;
  CsvRecords records_;     // open, as the table replaces what they were
  std::vector<Row> rows_;  // in their order
  std::unordered_map<TextKey, uint32_t, TextKey::Hash> by_key_;
  std::unordered_multimap<uint64_t, uint32_t> by_name_;  // of those that have results
  std::vector<Suspect> suspects_;
};

/// What becomes of rows that are there already.
enum class OldRows : uint8_t { replace_finished, overwrite, resume };

/// By the options resume and overwrite; throws UsageError for both.
OldRows old_rows(const Settings& outputs);

class ResultLog {
 public:
  /// `path` "-" is standard output. The first `key_columns` cells tell rows apart: those of a
  /// point, or one more where a point has repetitions. Throws UsageError when the file cannot be
  /// written, when there is a partial file with rows that nothing says what to do with, or when a
  /// file of that name has other columns than results.csv and is not to be overwritten.
  ResultLog(std::string path, OldRows old, size_t key_columns = key_column_count);

  /// Before start(), where there are old rows: the key cells of every row of the sweep, in its
  /// order, and then throws UsageError when an old row of one of them was made from other contents
  /// of files or by another model than a new one would be.
  bool has_old_rows() const { return old_ && !old_->empty(); }
  void expect(const CsvRow& key_cells) {
    if (old_) old_->expect(key_cells);
  }
  void refuse_changes() const {
    if (old_) old_->refuse_changes();
  }
  void refuse_changes(const std::vector<CsvRow>& sweep);
  /// Whether a row of these key cells was there before and has its results.
  bool has(const CsvRow& key_cells) const;
  /// That row.
  CsvRow old_row(const CsvRow& key_cells) const { return old_->read(*old_->find(key_cells)); }
  /// A sweep that is a part of another one writes refused rows even where all are refused.
  void keep_refused() { release_held(); }
  /// Creates the files; before it nothing is written.
  void start();
  /// Appends a row to the partial file, in any order; one that a combination of keys forbids is not
  /// worth keeping there. append() then adds it to the table.
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
  std::string partial_path() const { return path_ + partial_ending; }

 private:
  void unlock();
  void mark_used(const CsvRow& key_cells);
  void refuse_partial_file(OldRows old) const;
  // A table of results is replaced, and said to be; nothing else is.
  void refuse_other_files() const;
  void write(const std::string& line);
  // Refused rows at the table's beginning wait for another one; gives up waiting.
  void release_held();

  static constexpr const char* partial_ending = ".partial";

  std::string path_;
  bool replaceable_ = false;  // has a partial file
  bool had_partial_ = false;  // whose rows were taken over
  size_t key_columns_;
  std::optional<OldTable> old_;
  bool holds_ = true;
  std::vector<std::string> held_;
  bool remembers_ = false;
  std::vector<CsvRow> rows_;
  std::string first_refusal_;
  int64_t failures_ = 0;
  // In the order of the sweep; open, and so locked, before the old rows are read.
  std::optional<OutputFile> table_;
  std::optional<OutputFile> partial_;
};

/// Parts of a sweep for several machines. A point's part follows from its run_id alone, so that it
/// is the same in a list that has more points or another order.
struct Shard {
  uint64_t number = 1;  // from 1 to `count`
  uint64_t count = 1;

  bool has(std::string_view run_id) const;
};

/// What the option shard says, all of the sweep without it; throws UsageError.
Shard shard_of(const Settings& outputs);

// Rows as a table for people: what varies, and what came out of it.

/// Whether rows go to people: no --csv says where, and standard output is a terminal.
bool for_people(const Settings& outputs);

/// Where rows go as CSV: a path, "-", or nowhere while they go to people.
std::string csv_path(const Settings& outputs);

/// Lines of `rows` (cells of results.csv): the key columns that differ, DRAM reads in multiples of
/// the compulsory ones (in sectors where these are not known) with their interval, time, TFLOP/s,
/// the model and how it was judged on the GPU. Repetitions of a point share a line: their medians
/// and the range of their times. Columns that are empty in all rows are left out. `labels`, one a
/// point, stand first.
std::string short_table(const std::vector<CsvRow>& rows,
                        const std::vector<std::string>& labels = {});

}  // namespace sawtooth::experiments
