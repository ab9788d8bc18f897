#include "sim/timed/simulate_timed.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/timed/memory.hpp"
#include "sim/timed/units.hpp"
#include "sim/timed/wavefront.hpp"

namespace sawtooth::sim {
namespace {

constexpr std::array<Tensor, unit_group_count> tensor_of_group{
    Tensor::k, Tensor::q, Tensor::o, Tensor::lse, Tensor::partial_o, Tensor::partial_lse};

// K gets half of the pair's counts and V the rest, so that the two sum to the pair.
void split_pair(const Counters& pair, Counters& k, Counters& v) {
  for (const CounterColumn& column : counter_columns) {
    if (!(pair.*column.member)) continue;
    k.*column.member = *(pair.*column.member) / 2;
    v.*column.member = *(pair.*column.member) - *(k.*column.member);
  }
}

}  // namespace

Prediction simulate_timed(const Request& request, const TimedParameters& parameters) {
  constexpr double ns_a_us = 1000;
  const UnitTable units(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  TimedMemory memory(parameters.l2, parameters.sms, units, parameters.merging);
  TimedWavefront wavefront(request, parameters, units, memory);
  Prediction prediction;
  prediction.time_us = wavefront.run() / ns_a_us;
  prediction.tile_visits = wavefront.tile_visits();
  prediction.phases = wavefront.phases();
  const auto by_tensor = [&](Tensor tensor) -> Counters& {
    return prediction.by_tensor[static_cast<size_t>(tensor)];
  };
  for (int g = 0; g < unit_group_count; ++g) {
    const Counters counters = memory.counters(static_cast<UnitGroup>(g));
    if (static_cast<UnitGroup>(g) == UnitGroup::kv) {
      split_pair(counters, by_tensor(Tensor::k), by_tensor(Tensor::v));
    } else {
      by_tensor(tensor_of_group[static_cast<size_t>(g)]) = counters;
    }
    add(prediction.total, counters);
  }
  return prediction;
}

Prediction median_launch(Request request, const GpuProfile& gpu, bool halves) {
  std::vector<Prediction> launches;
  for (request.launch = 0; request.launch < std::max<int64_t>(1, request.launches);
       ++request.launch) {
    launches.push_back(simulate_timed(request, timed_parameters(request, gpu, halves)));
  }
  const auto middle = launches.begin() + static_cast<std::ptrdiff_t>((launches.size() - 1) / 2);
  std::nth_element(launches.begin(), middle, launches.end(),
                   [](const Prediction& a, const Prediction& b) {
                     return a.total.dram_read_sectors < b.total.dram_read_sectors;
                   });
  return std::move(*middle);
}

}  // namespace sawtooth::sim
