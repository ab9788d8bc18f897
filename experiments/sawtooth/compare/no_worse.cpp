#include "experiments/sawtooth/compare/no_worse.hpp"

#include <array>
#include <map>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr auto problem_columns =
    std::to_array<std::string_view>({"gpu", "system", "pass", "batch", "heads", "kv_heads", "seq_q",
                                     "seq_kv", "head_dim", "dtype", "mask", "lse", "state"});
constexpr auto model_columns = std::to_array<std::string_view>({"timing", "l2", "l2_bytes"});

const std::string& cell(const CsvTable& table, size_t row, std::string_view name) {
  const auto column = table.column(name);
  static const std::string none;
  if (!column && may_be_missing(name)) return none;
  if (!column)
    throw UsageError(table.path + ": has no column '" + std::string(name) +
                     "'; it must have those of results.csv");
  return table.rows[row][*column];
}

template <class Columns>
std::string key_of(const CsvTable& table, size_t row, const Columns& columns) {
  CsvRow key;
  for (const std::string_view name : columns) key.push_back(cell(table, row, name));
  return csv_line(key);
}

std::string place(const CsvTable& table, size_t row) {
  return table.path + ":" + std::to_string(table.line_of_row[row]);
}

// "gb10 heads 8 seq 4096 x 4096 causal".
std::string name_of(const CsvTable& table, size_t row) {
  return cell(table, row, "gpu") + ", batch " + cell(table, row, "batch") + ", heads " +
         cell(table, row, "heads") + ", seq " + cell(table, row, "seq_q") + " x " +
         cell(table, row, "seq_kv") + ", head dim " + cell(table, row, "head_dim") + ", mask " +
         cell(table, row, "mask");
}

bool has_result(const CsvTable& table, size_t row) {
  return cell(table, row, "status") == "ok";
}

double number(const CsvTable& table, size_t row, std::string_view counter) {
  try {
    return std::stod(cell(table, row, counter));
  } catch (const std::logic_error&) {
    throw UsageError(place(table, row) + ": " + std::string(counter) + " is no number");
  }
}

class Kept {
 public:
  explicit Kept(const CsvTable& table) : table_(table) {
    for (size_t row = 0; row < table.rows.size(); ++row) {
      if (!has_result(table, row)) continue;
      by_point_[key_of(table, row, join_columns())] = row;
      by_problem_[key_of(table, row, problem_columns)].push_back(row);
    }
  }

  /// The row that `row` of `other` is held against, or none.
  const size_t* partner(const CsvTable& other, size_t row) const {
    const auto same = by_point_.find(key_of(other, row, join_columns()));
    if (same != by_point_.end()) return &same->second;
    const auto problem = by_problem_.find(key_of(other, row, problem_columns));
    if (problem == by_problem_.end()) return nullptr;
    if (problem->second.size() == 1) return &problem->second.front();
    throw UsageError(table_.path + ": has " + std::to_string(problem->second.size()) +
                     " schedules of the problem of " + place(other, row) +
                     ", none of which is its own; allowed: one, or the same");
  }

 private:
  const CsvTable& table_;
  std::map<std::string, size_t> by_point_;
  std::map<std::string, std::vector<size_t>> by_problem_;
};

}  // namespace

NoWorse compare_with_kept(const CsvTable& predicted, const CsvTable& kept,
                          const std::vector<std::string_view>& counters,
                          const Tolerances& tolerances) {
  const Kept before(kept);
  NoWorse result;
  std::vector<bool> seen(kept.rows.size(), false);
  for (size_t row = 0; row < predicted.rows.size(); ++row) {
    if (!has_result(predicted, row)) continue;
    const size_t* partner = before.partner(predicted, row);
    if (partner == nullptr) continue;  // a new problem has nothing to be held against
    if (key_of(predicted, row, model_columns) != key_of(kept, *partner, model_columns))
      throw UsageError(place(predicted, row) + ": timing, l2 or l2_bytes is not that of " +
                       place(kept, *partner) + "; make both with one model");
    seen[*partner] = true;
    ++result.compared;
    for (const std::string_view counter : counters) {
      if (cell(predicted, row, counter).empty() && cell(kept, *partner, counter).empty()) continue;
      const double now = number(predicted, row, counter), then = number(kept, *partner, counter);
      if (now <= then * (1 + tolerances.of(counter).value_or(0))) continue;
      result.worse.push_back(
          name_of(predicted, row) + ": " + std::string(counter) + " rose from " +
          cell(kept, *partner, counter) + " to " + cell(predicted, row, counter) +
          (then > 0 ? std::string(" (x ").append(fixed(now / then, 2)).append(")")
                    : std::string()));
    }
  }
  for (size_t row = 0; row < kept.rows.size(); ++row)
    if (has_result(kept, row) && !seen[row])
      result.missing.push_back(name_of(kept, row) + ": " + place(kept, row) +
                               " has no new prediction");
  return result;
}

}  // namespace sawtooth::experiments
