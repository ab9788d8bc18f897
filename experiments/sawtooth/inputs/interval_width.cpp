#include "experiments/sawtooth/inputs/interval_width.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

double IntervalWidth::half_width(const std::vector<double>& launches) const {
  if (launches.size() < 2) return of_one_launch;
  const auto count = static_cast<double>(launches.size());
  double mean = 0, squares = 0;
  for (const double value : launches) mean += std::log(value) / count;
  for (const double value : launches) squares += std::pow(std::log(value) - mean, 2);
  return factor * std::hypot(std::sqrt(squares / (count - 1)), floor);
}

IntervalWidth parse_interval_width(const std::string& path, const Parameter& parameter) {
  constexpr std::array<double, 3> most{10, 10, 100};  // exp(10) is 22,000
  const std::string place = path + ":" + std::to_string(parameter.line) + ": " + parameter.key;
  if (std::ranges::find(interval_columns, parameter.key) == interval_columns.end()) {
    std::string names;
    for (const std::string_view name : interval_columns)
      names.append(names.empty() ? "" : ", ").append(name);
    throw UsageError(place + ": unknown; allowed: " + names);
  }
  std::array<double, 3> numbers{};
  const auto parts = split_list(parameter.value);
  const auto refuse = [&] {
    throw UsageError(
        place + ": '" + parameter.value +
        "' is not allowed; allowed: three numbers, from 0 to 10, 0 to 10 and 0 to 100");
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
  return {parameter.key, numbers[0], numbers[1], numbers[2]};
}

}  // namespace sawtooth::experiments
