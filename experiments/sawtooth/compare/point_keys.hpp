// What points join by: the cells of join_columns(). Each key, and each text in it, is held once,
// however many rows, points and errors have it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/words.hpp"

namespace sawtooth::experiments {

constexpr bool is_join_column(const ResultColumn& column) {
  return joins(column.kind) || column.kind == ColumnKind::kernel;
}
inline constexpr size_t join_column_count =
    static_cast<size_t>(std::ranges::count_if(result_columns, is_join_column));

/// Gpu, kernel, pass, all of problem and schedule, and state, in the order of results.csv.
constexpr std::array<std::string_view, join_column_count> join_columns() {
  std::array<std::string_view, join_column_count> names;
  size_t end = 0;
  for (const ResultColumn& column : result_columns)
    if (is_join_column(column)) names[end++] = column.name;
  return names;
}
/// The place of a column in join_columns(), and so in a key.
constexpr size_t join_column(std::string_view name) {
  const auto columns = join_columns();
  return static_cast<size_t>(std::ranges::find(columns, name) - columns.begin());
}
/// Whether a column is of the schedule; the others are what two schedules of one problem share.
constexpr bool is_schedule_column(size_t place) {
  return (place >= join_column("tile_q") && place <= join_column("lse")) ||
         place == join_column("dq") || place == join_column("pack_gqa") ||
         place == join_column("sequence_order") || place == join_column("cascade");
}

class PointKeys {
 public:
  using Cells = std::array<uint32_t, join_column_count>;  // numbers of words()

  Words& words() { return words_; }
  const Words& words() const { return words_; }

  /// The same number for the same cells.
  uint32_t number(const Cells& cells);
  const Cells& cells(uint32_t key) const { return *keys_[key]; }
  /// The same number for keys that differ in their schedules alone.
  uint32_t problem(uint32_t key) const { return problem_of_[key]; }
  /// In the order of the cells of problems, as texts.
  bool is_before(uint32_t problem, uint32_t other) const;

 private:
  struct Hash {
    size_t operator()(const Cells& cells) const;
  };
  Words words_;
  std::unordered_map<Cells, uint32_t, Hash> numbers_, problems_;
  std::vector<const Cells*> keys_, problem_cells_;  // by number, in these
  std::vector<uint32_t> problem_of_;                // of a key
};

/// One of the keys of a PointKeys, which has to outlive it.
class PointKey {
 public:
  PointKey() = default;
  PointKey(const PointKeys& keys, uint32_t number) : keys_(&keys), number_(number) {}

  const std::string& operator[](size_t column) const {
    return keys_->words().text(keys_->cells(number_)[column]);
  }
  CsvRow row() const;
  uint32_t number() const { return number_; }
  uint32_t problem() const { return keys_->problem(number_); }
  const PointKeys& keys() const { return *keys_; }

 private:
  const PointKeys* keys_ = nullptr;
  uint32_t number_ = 0;
};

}  // namespace sawtooth::experiments
