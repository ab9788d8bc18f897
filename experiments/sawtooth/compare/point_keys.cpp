#include "experiments/sawtooth/compare/point_keys.hpp"

namespace sawtooth::experiments {

size_t PointKeys::Hash::operator()(const Cells& cells) const {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio
  uint64_t state = 0;
  for (const uint32_t cell : cells) state = (state ^ cell) * odd + (state >> 32);
  return state;
}

uint32_t PointKeys::number(const Cells& cells) {
  const auto [known, is_new] = numbers_.try_emplace(cells, static_cast<uint32_t>(keys_.size()));
  if (!is_new) return known->second;
  keys_.push_back(&known->first);
  Cells problem = cells;
  for (size_t i = 0; i < problem.size(); ++i)
    if (is_schedule_column(i)) problem[i] = Words::empty;
  const auto [place, is_new_problem] =
      problems_.try_emplace(problem, static_cast<uint32_t>(problem_cells_.size()));
  if (is_new_problem) problem_cells_.push_back(&place->first);
  problem_of_.push_back(place->second);
  return known->second;
}

bool PointKeys::is_before(uint32_t problem, uint32_t other) const {
  const Cells& a = *problem_cells_[problem];
  const Cells& b = *problem_cells_[other];
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return words_.text(a[i]) < words_.text(b[i]);
  return false;
}

CsvRow PointKey::row() const {
  CsvRow row;
  for (size_t i = 0; i < join_column_count; ++i) row.push_back((*this)[i]);
  return row;
}

}  // namespace sawtooth::experiments
