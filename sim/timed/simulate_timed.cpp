#include "sim/timed/simulate_timed.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedule/limits.hpp"
#include "sim/timed/memory.hpp"
#include "sim/timed/step_cost.hpp"

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

// The share of a wave that the last wave of so many heads leaves empty.
double left_over(const Request& request, int64_t heads) {
  const int64_t items = heads * q_tiles(request.problem, request.tiling);
  const int64_t workers = request.schedule.workers;
  return double((workers - items % workers) % workers) / double(workers);
}

// Misses beyond what is compulsory.
int64_t beyond(const Counters& at, Sectors Counters::*misses = &Counters::dram_read_sectors) {
  return (at.*misses).value_or(0) - at.cold_read_sectors.value_or(0);
}

/// The first `heads` heads of the launch, as one sequence's.
Request with_heads(Request request, int64_t heads) {
  request.problem.kv_heads = heads / request.problem.heads_per_kv_head();
  request.problem.heads = heads;
  request.problem.batch = 1;
  return request;
}

/// Whether the step reads as much from DRAM as the one before; else workers still drift apart.
bool is_steady(const Prediction& before, const Prediction& after) {
  constexpr double most = 0.02;
  const int64_t first = beyond(before.total), second = beyond(after.total) - first;
  const int64_t reads =
      after.total.dram_read_sectors.value_or(0) - before.total.dram_read_sectors.value_or(0);
  return double(std::abs(second - first)) <= most * double(reads);
}

/// The whole launch from its first heads, and from what was counted `before` and `after` a step of
/// them: what SMs have received says how much of the work that was.
Prediction repeated(const Request& request, const RepeatedHeads& heads, const Prediction& before,
                    const Prediction& after, Prediction whole) {
  const int64_t all = request.problem.batch * request.problem.heads;
  const auto received = [](const Prediction& at) { return double(*at.total.sm_read_sectors); };
  const double times = received(whole) * double(all - heads.replayed) / double(heads.replayed) /
                       (received(after) - received(before));
  const auto go_on = [&](Counters& counters, const Counters& from, const Counters& to) {
    Counters made = counters;
    const auto added = [&](int64_t end, int64_t begin) {
      return std::llround(times * double(end - begin));
    };
    for (const CounterColumn& column : counter_columns)
      if (Sectors& value = made.*column.member)
        *value += added((to.*column.member).value_or(0), (from.*column.member).value_or(0));
    for (Sectors Counters::*exact :
         {&Counters::sm_read_sectors, &Counters::l2_write_sectors, &Counters::l2_write_miss_sectors,
          &Counters::cold_read_sectors})
      if (counters.*exact) made.*exact = *(counters.*exact) / heads.replayed * all;
    if (counters.dram_write_sectors)  // as many dirty lines stay in L2 behind the launch
      made.dram_write_sectors =
          *made.l2_write_sectors - (*counters.l2_write_sectors - *counters.dram_write_sectors);
    // What is compulsory is known, and what comes on top follows.
    for (Sectors Counters::*misses :
         {&Counters::dram_read_sectors, &Counters::l2_read_miss_sectors})
      if (counters.*misses)
        made.*misses = *made.cold_read_sectors + beyond(counters, misses) +
                       added(beyond(to, misses), beyond(from, misses));
    counters = made;
  };
  whole.total = {};
  for (size_t t = 0; t < whole.by_tensor.size(); ++t) {
    go_on(whole.by_tensor[t], before.by_tensor[t], after.by_tensor[t]);
    add(whole.total, whole.by_tensor[t]);
  }
  whole.tile_visits = whole.tile_visits / heads.replayed * all;
  const double added_us = times * (*after.time_us - *before.time_us);
  double time_us = *whole.time_us + added_us;
  if (request.problem.mask.kind == MaskKind::none) {  // then items end in waves
    const int64_t items = (all - heads.replayed) * q_tiles(request.problem, request.tiling);
    time_us += (left_over(request, all) - left_over(request, heads.replayed)) * added_us *
               double(request.schedule.workers) / double(items);
  }
  for (TimeTerms& terms : whole.phases)
    for (double& ns : terms.ns) ns *= time_us / *whole.time_us;
  whole.time_us = time_us;
  return whole;
}

// At full clock: the launch, and before it what was counted when each of the `watched` items began.
std::vector<Prediction> replays(const Request& request, const TimedParameters& parameters,
                                std::vector<int64_t> watched) {
  LiveAtoms atoms(request, keeps_pairs(request, parameters.step) ? KvAtoms::pairs : KvAtoms::tiles);
  TimedMemory memory(parameters.l2, parameters.sms, atoms, parameters.merging);
  std::vector<Prediction> all;
  const auto count = [&](double ns) {
    Prediction& made = all.emplace_back();
    made.time_us = ns / ns_a_us;
    set_counters(
        made, [&](Tensor tensor) { return memory.counters(tensor); }, request.bulk_loads);
  };
  TimedReplay replay = replay_in_time(request, parameters, atoms, memory,
                                      {.watched = std::move(watched), .seen = count});
  count(replay.end_ns);
  all.back().tile_visits = replay.tile_visits;
  all.back().phases = std::move(replay.phases);
  return all;
}

}  // namespace

void add_launch_reads(Counters& total, const TimedParameters& parameters) {
  for (const auto& [column, sectors] :
       {std::pair{&Counters::dram_read_sectors, parameters.launch_dram_read_sectors},
        std::pair{&Counters::fabric_read_sectors, parameters.launch_fabric_read_sectors}})
    if (total.*column) *(total.*column) += sectors;
}

std::optional<RepeatedHeads> repeated_heads(const Request& request) {
  constexpr int64_t least_waves = 8;                 // of a step
  constexpr int64_t least_steps = int64_t{1} << 20;  // half a second
  const Problem& problem = request.problem;
  const Schedule& schedule = request.schedule;
  const bool by_ticket =
      schedule.launch == launch_id<DynamicLaunch> || schedule.launch == launch_id<GridLaunch>;
  const bool alike = problem.pass == Pass::forward && schedule.loop == Loop::kv_inner &&
                     by_ticket && schedule.prefetch == 0 && schedule.kv_split == 1 &&
                     schedule.order.list == nullptr && request.own_scan == nullptr &&
                     request.sequences.lengths == nullptr && !is_listed(problem.mask) &&
                     !request.running.on && !request.key_parts.exist && request.parts.count == 1 &&
                     (problem.batch == 1 || schedule.order.head_order == HeadOrder::batch_major);
  if (!alike || request.without.has(Mechanism::repeats)) return std::nullopt;
  const int64_t heads = problem.batch * problem.heads, tiles = q_tiles(problem, request.tiling);
  const int64_t unit = std::lcm(problem.heads_per_kv_head(), min_of(schedule.order.section, heads));
  if (heads % unit != 0 || heads * visited_kv_tiles(problem, request.tiling) < least_steps)
    return std::nullopt;
  const int64_t step = unit * ceil_div(least_waves * schedule.workers, unit * tiles);
  const int64_t replayed = 3 * step + heads % step;
  const int64_t o_bytes = replayed * problem.seq_q * problem.o_row_bytes();  // they fill L2
  if (replayed > heads / 2 || o_bytes < request.l2_bytes) return std::nullopt;
  return RepeatedHeads{step, replayed};
}

Prediction simulate_timed(const Request& request, const TimedParameters& parameters) {
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
      parameters.power.slower_launch(*prediction.time_us * ns_a_us, request.load.launches);
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
