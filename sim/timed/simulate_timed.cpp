#include "sim/timed/simulate_timed.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedule/limits.hpp"
#include "sim/timed/memory.hpp"
#include "sim/timed/repeated_heads.hpp"
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

// At full clock: the launch, and before it what was counted when each of the `watched` items began.
static std::vector<Prediction> replays(const Request& request, const TimedParameters& parameters,
                                       std::vector<int64_t> watched) {
  constexpr double us_in_ns = 1000;
  LiveAtoms atoms(request, keeps_pairs(request, parameters.step) ? KvAtoms::pairs : KvAtoms::tiles);
  TimedMemory memory(parameters.l2, parameters.sms, atoms, parameters.merging);
  TimedWavefront wavefront(request, parameters, atoms, memory);
  std::vector<Prediction> all;
  const auto count = [&](double ns) {
    Prediction& made = all.emplace_back();
    made.time_us = ns / us_in_ns;
    set_counters(
        made, [&](Tensor tensor) { return memory.counters(tensor); }, request.bulk_loads);
  };
  wavefront.watch(std::move(watched), count);
  count(wavefront.run());
  all.back().tile_visits = wavefront.tile_visits();
  all.back().phases = wavefront.take_phases();
  return all;
}

Prediction simulate_timed(const Request& request, const TimedParameters& parameters) {
  constexpr double us_in_ns = 1000;
  require_limits(request);
  std::optional<Prediction> shown;
  if (const auto heads = repeated_heads(request)) {
    const int64_t step = heads->step * q_tiles(request.problem, request.tiling);
    const auto seen = replays(with_heads(request, heads->replayed), parameters, {step, 2 * step});
    if (is_steady(seen[0], seen[1])) {
      shown = repeated(request, *heads, seen[0], seen[1], seen[2]);
      shown->method = std::to_string(heads->replayed) + " heads stand for all; --exact replays all";
    }
  }
  Prediction prediction =
      shown ? std::move(*shown) : std::move(replays(request, parameters, {}).front());
  const double slower =
      parameters.power.slower_launch(*prediction.time_us * us_in_ns, request.load.launches);
  *prediction.time_us *= slower;
  for (TimeTerms& terms : prediction.phases)
    for (double& ns : terms.ns) ns *= slower;
  add_launch_reads(prediction.total, parameters);
  auto& by_tensor = prediction.by_tensor;
  if (request.problem.pass == Pass::backward) know_reductions(prediction);
  if (keeps_pairs(request, parameters.step))
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
