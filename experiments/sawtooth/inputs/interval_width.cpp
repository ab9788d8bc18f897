#include "experiments/sawtooth/inputs/interval_width.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

double IntervalWidth::of_several(const std::vector<double>& launches) const {
  const auto count = static_cast<double>(launches.size());
  double mean = 0, squares = 0;
  for (const double value : launches) mean += std::log(value) / count;
  for (const double value : launches) squares += std::pow(std::log(value) - mean, 2);
  return factor * std::hypot(std::sqrt(squares / (count - 1)), floor);
}

IntervalWidth parse_interval_width(const std::string& path, const Parameter& parameter) {
  constexpr std::array<double, point_kinds + 2> most{10, 10, 10, 10, 10, 100};
  const std::string place = path + ":" + std::to_string(parameter.line) + ": " + parameter.key;
  if (std::ranges::find(interval_columns, parameter.key) == interval_columns.end()) {
    std::string names;
    for (const std::string_view name : interval_columns)
      names.append(names.empty() ? "" : ", ").append(name);
    throw UsageError(place + ": unknown; allowed: " + names);
  }
  std::array<double, point_kinds + 2> numbers{};
  const auto parts = split_list(parameter.value);
  const auto refuse = [&] {
    throw UsageError(
        place + ": '" + parameter.value +
        "' is not allowed; allowed: six numbers, five from 0 to 10 and one from 0 to 100");
  };
  if (parts.size() != numbers.size()) refuse();
  for (size_t i = 0; i < numbers.size(); ++i) {
    try {
      numbers[i] = parse_share(parts[i]);
    } catch (const std::invalid_argument&) {
      refuse();
    }
    if (!(numbers[i] <= most[i])) refuse();
  }
  IntervalWidth width{.column = parameter.key, .floor = numbers[4], .factor = numbers[5]};
  std::copy_n(numbers.begin(), point_kinds, width.of_one_launch.begin());
  return width;
}

}  // namespace sawtooth::experiments
