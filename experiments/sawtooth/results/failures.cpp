#include "experiments/sawtooth/results/failures.hpp"

#include <algorithm>
#include <iostream>

#include "experiments/sawtooth/results/columns.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t most_reasons = 100;

// "gpu gb10 batch 1 ...": the key columns that are not empty.
std::string point_text(const CsvRow& cells) {
  std::string text;
  for (size_t i = 0; i < key_column_count; ++i) {
    if (cells[i].empty() || result_columns[i].kind == ColumnKind::label) continue;
    text.append(text.empty() ? "" : " ").append(result_columns[i].name).append(" ");
    text.append(cells[i]);
  }
  return text;
}

}  // namespace

void Failures::add(const CsvRow& row) {
  const std::string& message = row[result_column("message")];
  auto reason = std::ranges::find(reasons_, message, &Reason::message);
  if (reason == reasons_.end() && reasons_.size() == most_reasons) {
    ++others_;
    return;
  }
  if (reason == reasons_.end())
    reason = reasons_.insert(reason, Reason{message, point_text(row), 0});
  ++reason->points;
}

void Failures::print() const {
  for (const Reason& reason : reasons_)
    std::cerr << "sawtooth: " << reason.message << " (" << reason.points
              << (reason.points == 1 ? " point: " : " points, the first: ") << reason.first_point
              << ")\n";
  if (others_ > 0) std::cerr << "sawtooth: other reasons (" << others_ << " points)\n";
}

}  // namespace sawtooth::experiments
