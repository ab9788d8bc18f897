// Joins the parts of a sweep. In memory there is an index of the rows, some hundred bytes each;
// rows are read again when they are written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

class MergedTables {
 public:
  /// Adds the rows of a table. Of rows that agree in run_id and repetition one stays; a row with a
  /// result replaces one without. Throws UsageError for other columns than those of results.csv,
  /// and where two rows differ: it names point, column and both files.
  void add(const std::string& path);

  size_t rows() const { return entries_.size(); }
  size_t duplicates() const { return duplicates_; }
  /// Whether the first row was measured.
  bool is_measured() const { return is_measured_; }
  /// Marks the rows of the next point of a sweep; false where there is none with a result.
  bool take(const std::string& run_id);
  /// The header, rows that were not taken, and those of points in the order in which they were.
  void write(std::ostream& out);

 private:
  struct Entry {
    TextKey content;
    uint64_t offset = 0;
    uint32_t length = 0;
    uint32_t file = 0;
    uint32_t next = 0;  // of the same point: index + 1, or 0
    bool has_result = false;
    bool is_taken = false;
  };
  CsvRow read(const Entry& entry);
  std::string text(const Entry& entry);
  void replace(Entry& known, const Entry& now, const CsvRow& cells);

  std::vector<std::string> paths_;
  std::vector<std::ifstream> files_;
  std::vector<Entry> entries_;
  std::unordered_map<uint64_t, uint32_t> first_of_;  // run_id -> index of its first row
  std::vector<uint32_t> order_;                      // first rows of points that were taken
  size_t duplicates_ = 0;
  bool is_measured_ = false;
};

}  // namespace sawtooth::experiments
