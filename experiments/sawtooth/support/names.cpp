#include "experiments/sawtooth/support/names.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace sawtooth::experiments {
namespace {

constexpr size_t longest = 64;  // longer than any name of the program; the cost is its square

// Optimal string alignment (Damerau 1964): insert, delete, replace, exchange neighbours. `enough`
// where there are as many or more. `b` is at most `longest`.
size_t changes_between(std::string_view a, std::string_view b, size_t enough) {
  std::array<size_t, longest + 1> rows[3];  // of the alignment of a's first i - 2, i - 1 and i
  size_t fewest_before = 0;
  for (size_t i = 0; i <= a.size(); ++i) {
    const auto &two_before = rows[(i + 1) % 3], &before = rows[(i + 2) % 3];
    auto& row = rows[i % 3];
    row[0] = i;
    size_t fewest = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      if (i == 0) {
        row[j] = j;
        continue;
      }
      const size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, before[j] + 1, row[j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], two_before[j - 2] + 1);
      fewest = std::min(fewest, row[j]);
    }
    // Later rows follow from these two.
    if (std::min(fewest, fewest_before) >= enough) return enough;
    fewest_before = fewest;
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view found_name(std::string_view text, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (name == text || lowered(name) == lowered(text)) return name;
  }
  return {};
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> names) {
  if (text.empty() || text.size() > longest) return {};
  std::string_view best;
  size_t fewest = std::numeric_limits<size_t>::max();
  const std::string wanted = lowered(text);
  for (const std::string_view name : names) {
    const size_t least = std::max(text.size(), name.size()) - std::min(text.size(), name.size());
    if (least >= fewest) continue;
    const size_t changes = changes_between(lowered(name), wanted, fewest);
    if (changes >= fewest) continue;
    best = name;
    fewest = changes;
  }
  if (best.empty() || fewest * 3 > std::max(text.size(), best.size())) return {};
  return "; did you mean " + std::string(best) + "?";
}

std::vector<std::string_view> views_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace sawtooth::experiments
