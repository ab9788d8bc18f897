// How processor time grows with the sequence under a causal mask, model by model, and how fast
// traces are read and analysed: one core each.
#include <sstream>
#include <string>

#include <benchmark/benchmark.h>

#include "scheduler/permutation.hpp"
#include "sim/belady/simulate_opt.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "sim/trace/analyse.hpp"

namespace sawtooth {
namespace {

constexpr int64_t least_keys = int64_t{256} << 10;
constexpr int64_t most_keys = int64_t{1} << 20;
constexpr int64_t trace_rows = 2'000'000;
constexpr int64_t ctas = 48;
constexpr int64_t scan_lines = 65536;  // of each CTA
constexpr int64_t burst_lines = 16;    // of one CTA before the next one's turn

/// One head, D = 128, tiles of 128 rows, 132 static workers, the L2 of an H200.
void causal(benchmark::State& state, sim::Prediction (*simulate)(const sim::Request&)) {
  sim::Request request;
  request.problem = {.seq_q = state.range(0), .seq_kv = state.range(0), .head_dim = 128};
  request.problem.mask.kind = MaskKind::causal;
  request.tiling = {128, 128};
  request.schedule.workers = 132;
  request.l2_bytes = int64_t{60} << 20;
  for (auto _ : state) benchmark::DoNotOptimize(simulate(request));
}

BENCHMARK_CAPTURE(causal, lru, sim::simulate_lru)
    ->RangeMultiplier(2)
    ->Range(least_keys, most_keys)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(causal, sets, sim::simulate_sets)
    ->RangeMultiplier(2)
    ->Range(least_keys, most_keys)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(causal, opt, sim::simulate_opt)
    ->RangeMultiplier(2)
    ->Range(least_keys, most_keys)
    ->Unit(benchmark::kMillisecond);

/// Lines in bursts, CTA after CTA, each from a random start; all scan the same K, or each its own.
std::string line_trace(bool shared) {
  std::string csv = "step,worker,access,tensor,line\n";
  for (int64_t row = 0; row < trace_rows; ++row) {
    const int64_t burst = row / burst_lines, cta = burst % ctas, step = burst / ctas;
    const auto start = static_cast<int64_t>(mix_seed(0, static_cast<uint64_t>(cta)) % 256);
    const int64_t line = (start + step * burst_lines + row % burst_lines) % scan_lines;
    csv += std::to_string(step) + "," + std::to_string(cta) + ",read,k," +
           std::to_string((shared ? 0 : cta * scan_lines) + line) + "\n";
  }
  return csv;
}

void csv_trace(benchmark::State& state, bool shared, bool analysed) {
  std::istringstream in(line_trace(shared));
  for (auto _ : state) {
    in.clear();
    in.seekg(0);
    const auto reader = sim::open_trace(in, "csv", {});
    if (analysed) {
      benchmark::DoNotOptimize(sim::analyse_trace(*reader, int64_t{60} << 20, {}));
    } else {
      for (sim::TraceVisit visit; reader->next(visit);) benchmark::DoNotOptimize(visit);
    }
  }
  state.SetItemsProcessed(state.iterations() * trace_rows);
}

BENCHMARK_CAPTURE(csv_trace, shared_read, true, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(csv_trace, shared_analysed, true, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(csv_trace, private_read, false, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(csv_trace, private_analysed, false, true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sawtooth

BENCHMARK_MAIN();
