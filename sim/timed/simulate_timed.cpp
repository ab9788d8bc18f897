#include "sim/timed/simulate_timed.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/schedule/limits.hpp"
#include "sim/timed/memory.hpp"
#include "sim/timed/wavefront.hpp"

namespace sawtooth::sim {
namespace {

// V gets half of the pair's counts, which K has, so that the two sum to the pair.
void split_pair(Counters& k, Counters& v) {
  for (const CounterColumn& column : counter_columns) {
    Sectors& pair = k.*column.member;
    if (!pair) continue;
    v.*column.member = *pair - *pair / 2;
    pair = *pair / 2;
  }
}

}  // namespace

void add_launch_reads(Counters& total, const TimedParameters& parameters) {
  for (const auto& [column, sectors] :
       {std::pair{&Counters::dram_read_sectors, parameters.launch_dram_read_sectors},
        std::pair{&Counters::fabric_read_sectors, parameters.launch_fabric_read_sectors}})
    if (total.*column) *(total.*column) += sectors;
}

Prediction simulate_timed(const Request& request, const TimedParameters& parameters) {
  constexpr double us_in_ns = 1000;
  require_limits(request);
  const bool backward = request.problem.pass == Pass::backward;
  const bool pairs = keeps_pairs(request, parameters.step);
  LiveAtoms atoms(request, pairs ? KvAtoms::pairs : KvAtoms::tiles);
  TimedMemory memory(parameters.l2, parameters.sms, atoms, parameters.merging);
  TimedWavefront wavefront(request, parameters, atoms, memory);
  Prediction prediction;
  const double full_clock_ns = wavefront.run();
  const double slower = parameters.power.slower_launch(full_clock_ns, request.load.launches);
  prediction.time_us = full_clock_ns * slower / us_in_ns;
  prediction.tile_visits = wavefront.tile_visits();
  prediction.phases = wavefront.take_phases();
  for (TimeTerms& terms : prediction.phases)
    for (double& ns : terms.ns) ns *= slower;
  set_counters(
      prediction, [&](Tensor tensor) { return memory.counters(tensor); }, request.bulk_loads);
  add_launch_reads(prediction.total, parameters);
  auto& by_tensor = prediction.by_tensor;
  if (backward) know_reductions(prediction);
  if (pairs)
    split_pair(by_tensor[static_cast<size_t>(Tensor::k)],
               by_tensor[static_cast<size_t>(Tensor::v)]);
  return prediction;
}

Prediction median_launch(const Request& request, const Gpu& gpu, bool halves) {
  std::vector<Prediction> launches(static_cast<size_t>(std::max<int64_t>(1, request.launches)));
  Request one = request;
  for (one.launch = 0; one.launch < std::ssize(launches); ++one.launch)
    launches[static_cast<size_t>(one.launch)] =
        simulate_timed(one, timed_parameters(one, gpu, halves));
  std::vector<SimulatedLaunch> all;
  for (const Prediction& launch : launches) all.push_back({launch.total, *launch.time_us});
  const auto middle = launches.begin() + static_cast<std::ptrdiff_t>((launches.size() - 1) / 2);
  std::nth_element(launches.begin(), middle, launches.end(),
                   [](const Prediction& a, const Prediction& b) {
                     return a.total.dram_read_sectors < b.total.dram_read_sectors;
                   });
  middle->launches = std::move(all);
  return std::move(*middle);
}

}  // namespace sawtooth::sim
