#include "experiments/sawtooth/support/names.hpp"

#include <algorithm>

namespace sawtooth::experiments {
namespace {

// Optimal string alignment (Damerau 1964): insert, delete, replace, exchange neighbours.
size_t changes_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({replaced, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
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
  constexpr size_t longest = 64;  // longer than any name of the program; the cost is its square
  if (text.empty() || text.size() > longest) return {};
  std::string_view best;
  size_t fewest = 0;
  const std::string wanted = lowered(text);
  for (const std::string_view name : names) {
    const size_t least = std::max(text.size(), name.size()) - std::min(text.size(), name.size());
    if (!best.empty() && least >= fewest) continue;
    const size_t changes = changes_between(wanted, lowered(name));
    if (!best.empty() && changes >= fewest) continue;
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
