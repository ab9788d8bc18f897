#include "sim/timed/repeated_heads.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>

namespace sawtooth::sim {
namespace {

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

}  // namespace

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

Request with_heads(Request request, int64_t heads) {
  request.problem.kv_heads = heads / request.problem.heads_per_kv_head();
  request.problem.heads = heads;
  request.problem.batch = 1;
  return request;
}

bool is_steady(const Prediction& before, const Prediction& after) {
  constexpr double most = 0.02;
  const int64_t first = beyond(before.total), second = beyond(after.total) - first;
  const int64_t reads =
      after.total.dram_read_sectors.value_or(0) - before.total.dram_read_sectors.value_or(0);
  return double(std::abs(second - first)) <= most * double(reads);
}

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

}  // namespace sawtooth::sim
