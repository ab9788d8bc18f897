// Rows of an earlier run on the same table, for one that goes on with them: an index in memory, the
// rows are read again from the files that had them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

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

}  // namespace sawtooth::experiments
