#include "experiments/sawtooth/calibrate/stream_table.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t sectors_per_mib = (int64_t{1} << 20) / 32;

class Reader {
 public:
  explicit Reader(const std::string& path) : table_(read_csv(path)) {}

  size_t rows() const { return table_.rows.size(); }

  /// Empty when the table has no such column.
  std::string text(size_t row, std::string_view column) const {
    const auto place = table_.column(column);
    return place ? table_.rows[row][*place] : "";
  }

  /// Older tables hold means, which need not be whole.
  std::optional<int64_t> count(size_t row, std::string_view column) const {
    const std::string cell = text(row, column);
    if (cell.empty()) return std::nullopt;
    return whole(row, column, cell);
  }

  std::vector<int64_t> counts(size_t row, std::string_view column) const {
    std::vector<int64_t> values;
    std::string cell = text(row, column);
    while (!cell.empty()) {
      const size_t end = std::min(cell.find(';'), cell.size());
      values.push_back(whole(row, column, cell.substr(0, end)));
      cell.erase(0, end + 1);
    }
    return values;
  }

  template <class Names>
  size_t index(size_t row, std::string_view column, const Names& names) const {
    const std::string name = text(row, column);
    const auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names)) fail(row, column, name);
    return static_cast<size_t>(found - std::begin(names));
  }

 private:
  int64_t whole(size_t row, std::string_view column, const std::string& cell) const {
    try {
      size_t used = 0;
      const double value = std::stod(cell, &used);
      if (used == cell.size() && value >= 0) return std::llround(value);
    } catch (const std::exception&) {
      // The message below says what is wrong.
    }
    fail(row, column, cell);
  }

  [[noreturn]] void fail(size_t row, std::string_view column, const std::string& cell) const {
    throw UsageError(table_.path + ":" + std::to_string(table_.line_of_row[row]) + ": " +
                     std::string(column) + " is '" + cell + "', which stream tables do not have");
  }

  CsvTable table_;
};

/// A table without one of these columns has been cut to calibration streams.
bool of_a_calibration(const Reader& table, size_t row) {
  const auto is = [&](std::string_view column, std::string_view value) {
    const std::string text = table.text(row, column);
    return text.empty() || text == value;
  };
  return is("set", "full") && is("mode", "user_split") && is("flush", "both") &&
         table.text(row, "kind") != "empty";
}

}  // namespace

std::vector<StreamRow> read_stream_csv(const std::string& path) {
  const Reader table(path);
  std::vector<StreamRow> rows;
  for (size_t i = 0; i < table.rows(); ++i) {
    if (!of_a_calibration(table, i)) continue;
    StreamRow row;
    row.point = {
        static_cast<kernels::StreamAccess>(table.index(i, "kind", kernels::stream_access_names)),
        static_cast<StreamShape>(table.index(i, "map", stream_shape_names)),
        table.text(i, "pattern") == "sawtooth", table.count(i, "n_mib").value_or(0)};
    row.range = table.text(i, "range");
    row.repetition = static_cast<int>(table.count(i, "repetition").value_or(0));
    row.expected_sectors = table.count(i, "expected").value_or(0);
    row.buffer_sectors = row.point.mib * sectors_per_mib;
    row.replay_passes = table.count(i, "replay_passes").value_or(0);
    for (const StreamColumn& column : stream_columns()) {
      row.counts[static_cast<size_t>(column.counter)] = table.count(i, column.name);
    }
    row.dram_read_by_pass = table.counts(i, "dram_read_by_pass");
    row.sm_read_by_pass = table.counts(i, "l1_xbar_by_pass");
    rows.push_back(std::move(row));
  }
  if (rows.empty()) throw UsageError(path + ": no rows of calibration streams");
  return rows;
}

}  // namespace sawtooth::experiments
