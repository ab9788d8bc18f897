#include <cmath>

#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"

namespace sawtooth::cupti {
namespace {

int64_t exact_integer(const MetricValue& value) {
  // 2^53: beyond it a double skips integers.
  constexpr double limit = 9007199254740992.0;
  if (!(std::abs(value.value) < limit) || std::trunc(value.value) != value.value) {
    throw CounterError(Status::failed, "metric '" + value.metric + "' is not a count: value " +
                                           std::to_string(value.value));
  }
  return static_cast<int64_t>(value.value);
}

}  // namespace

std::optional<int64_t> RangeReading::count(std::string_view metric) const {
  for (const MetricValue& value : values) {
    if (value.metric == metric) return exact_integer(value);
  }
  return std::nullopt;
}

std::vector<int64_t> RangeReading::counts_by_pass(std::string_view metric) const {
  std::vector<int64_t> counts;
  for (const MetricValue& value : values) {
    if (value.metric == metric) counts.push_back(exact_integer(value));
  }
  return counts;
}

}  // namespace sawtooth::cupti
