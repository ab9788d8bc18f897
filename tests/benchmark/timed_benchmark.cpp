// How fast the timed wavefront replays: visits of workers to K or V tiles a second, on one core, on
// two halves with everything on.
#include <benchmark/benchmark.h>

#include "sim/timed/simulate_timed.hpp"

namespace sawtooth {
namespace {

// H200-like: latencies and bandwidths of experiments/profiles/gpus/h200.ini, rounded.
sim::TimedParameters parameters() {
  sim::TimedParameters all;
  all.sms = 132;
  all.l2 = {.lines = {.halves = 2,
                      .capacity_lines = 30 * 8192,
                      .ways = 16,
                      .reserved = 0.026,
                      .scattered = 0.02},
            .near_ns = 154,
            .far_ns = 246,
            .dram_ns = 360,
            .port_bytes_a_ns = 55,
            .l2_bytes_a_ns = 7324,
            .dram_bytes_a_ns = 4131,
            .coalescer_sms = 6};
  all.step.tensor_flop_a_ns = 3500;
  all.step.exp_a_ns = 50;
  all.step.exposed_ns = 450;
  all.step.jitter = 0.017;
  all.step.sm_spread = 0.0008;
  all.step.age_bias = 0.4;
  return all;
}

void replay(benchmark::State& state, MaskKind mask, int64_t ctas_per_sm) {
  sim::Request request;
  request.problem = {.seq_q = 65536, .seq_kv = 65536, .head_dim = 128};
  request.problem.mask.kind = mask;
  request.tiling = {128, 64};
  request.schedule.workers = 132 * ctas_per_sm;
  request.schedule.launch = launch_id<GridLaunch>;
  request.timing = sim::Timing::timed;
  const sim::TimedParameters all = parameters();
  int64_t visits = 0;
  for (auto _ : state) visits += sim::simulate_timed(request, all).tile_visits;
  state.counters["tile_visits/s"] = benchmark::Counter(double(visits), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(replay, in_step, MaskKind::none, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, two_ctas_an_sm, MaskKind::none, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, causal_ascending, MaskKind::causal, 2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sawtooth

BENCHMARK_MAIN();
