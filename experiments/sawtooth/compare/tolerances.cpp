#include "experiments/sawtooth/compare/tolerances.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"

namespace sawtooth::experiments {
namespace {

double parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text = trimmed(text.substr(0, text.size() - 1));
  double share = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, share);
  if (error != std::errc{} || stop != end || !(share >= 0)) {
    throw std::invalid_argument("no share");
  }
  return percent ? share / 100 : share;
}

}  // namespace

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
    if (std::find(counters.begin(), counters.end(), counter) == counters.end()) {
      throw std::invalid_argument("no counter");
    }
    tolerances.by_counter_[counter] =
        parse_share(trimmed(std::string_view(part).substr(equals + 1)));
  }
  return tolerances;
}

std::optional<double> Tolerances::of(const std::string& counter) const {
  const auto own = by_counter_.find(counter);
  return own != by_counter_.end() ? own->second : all_;
}

}  // namespace sawtooth::experiments
