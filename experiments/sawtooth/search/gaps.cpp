#include "experiments/sawtooth/search/gaps.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include "sim/belady/simulate_opt.hpp"
#include "sim/bounds/read_bounds.hpp"
#include "sim/bounds/time_bounds.hpp"

namespace sawtooth::experiments {
namespace {

template <class Value>
void lower(std::optional<Value>& least, Value value) {
  least = least ? std::min(*least, value) : value;
}

}  // namespace

SpaceBounds bounds_of(const Shape& shape) {
  SpaceBounds bounds;
  // Order, section and scan change neither.
  std::set<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int32_t, Loop>> known;
  for (const Candidate& candidate : shape.candidates) {
    if (!candidate.point.refusal.empty()) continue;
    const sim::Request& request = candidate.point.request;
    const Schedule& schedule = request.schedule;
    const bool is_new =
        known
            .emplace(request.tiling.q_rows, request.tiling.kv_rows, schedule.workers,
                     schedule.kv_split, schedule.prefetch, schedule.launch.index, schedule.loop)
            .second;
    if (!is_new) continue;
    lower(bounds.dram_read_sectors,
          sim::read_bounds(request.problem, request.tiling, schedule, request.l2_bytes).all_orders);
    try {
      if (request.timing == sim::Timing::timed)
        lower(bounds.time_us, sim::time_bounds(request, candidate.point.gpu).all_orders);
    } catch (const std::invalid_argument&) {  // the profile lacks what the model of time takes
    }
  }
  return bounds;
}

std::optional<int64_t> optimal_replacement_reads(const Candidate& candidate) {
  try {
    sim::Request request = candidate.point.request;
    request.timing = sim::Timing::lockstep;
    return sim::simulate_opt(request).total.dram_read_sectors;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace sawtooth::experiments
