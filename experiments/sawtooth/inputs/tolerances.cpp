#include "experiments/sawtooth/inputs/tolerances.hpp"

#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/support/text.hpp"
#include "sim/counters.hpp"

namespace sawtooth::experiments {
std::vector<std::string_view> comparable_columns() {
  std::vector<std::string_view> columns;
  for (const sim::CounterColumn& counter : sim::counter_columns) columns.push_back(counter.name);
  columns.push_back("time_us");
  columns.push_back("tflops");
  return columns;
}

Tolerances Tolerances::parse(std::string_view text) {
  Tolerances tolerances;
  const auto counters = comparable_columns();
  for (const std::string& part : split_list(text)) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      if (tolerances.all_) throw std::invalid_argument("two shares for all counters");
      tolerances.all_ = parse_share(part);
      continue;
    }
    const std::string counter(trimmed(std::string_view(part).substr(0, equals)));
    if (std::find(counters.begin(), counters.end(), counter) == counters.end())
      throw std::invalid_argument("no counter");
    tolerances.by_counter_[counter] =
        parse_share(trimmed(std::string_view(part).substr(equals + 1)));
  }
  return tolerances;
}

std::optional<double> Tolerances::of(std::string_view counter) const {
  const auto own = by_counter_.find(counter);
  return own != by_counter_.end() ? own->second : all_;
}

}  // namespace sawtooth::experiments
