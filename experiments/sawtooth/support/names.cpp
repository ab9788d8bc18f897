#include "experiments/sawtooth/support/names.hpp"

#include <algorithm>
#include <limits>

namespace sawtooth::experiments {
namespace {

constexpr size_t longest = 64;  // longer than any name of the program

// Optimal string alignment (Damerau 1964): insert, delete, replace, exchange neighbours.
size_t changes_between(std::string_view a, std::string_view b) {
  // changes[i][j] is for the first i letters of a and the first j of b.
  std::vector<std::vector<size_t>> changes(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& fewest = changes[i][j];
      fewest = i + j;
      if (i == 0 || j == 0) continue;
      const size_t replaced = changes[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      fewest = std::min({replaced, changes[i - 1][j] + 1, changes[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        fewest = std::min(fewest, changes[i - 2][j - 2] + 1);
    }
  }
  return changes[a.size()][b.size()];
}

}  // namespace

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view found_name(std::string_view text, std::span<const std::string_view> names) {
  for (const std::string_view name : names)
    if (name == text || lowered(name) == lowered(text)) return name;
  return {};
}

std::vector<std::string> family_named(std::string_view text,
                                      std::span<const std::string_view> names) {
  std::vector<std::string> family;
  const std::string begin = lowered(text) + "-";
  for (const std::string_view name : names)
    if (lowered(name).starts_with(begin)) family.emplace_back(name);
  return family;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> names) {
  if (text.empty() || text.size() > longest) return {};
  std::string_view best;
  size_t fewest = std::numeric_limits<size_t>::max();
  for (const std::string_view name : names) {
    const size_t changes = changes_between(lowered(name), lowered(text));
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
