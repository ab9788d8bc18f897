// Exact stack distances, all capacities in one pass, on one core: the engine of whole tiles on both
// instruction paths, and in the same run the good line-level engine. lines/s are simulated line
// accesses, events/s visits of tiles (line-level: of lines). Divide lines/s for the ratio.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/simulate.hpp"
#include "sim/stack_distance.hpp"
#include "tests/benchmark/attention_stream.hpp"
#include "tests/benchmark/sets_benchmark.hpp"
#include "tests/support/line_engine.hpp"

namespace sawtooth {
namespace {

using tests::AttentionStream;

constexpr size_t tile_visits_timed = 4'000'000;
constexpr size_t line_visits_timed = 20'000'000;

void report(benchmark::State& state, double events, double lines_per_event) {
  state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["lines/s"] =
      benchmark::Counter(events * lines_per_event, benchmark::Counter::kIsRate);
}

void by_tiles(benchmark::State& state, const AttentionStream& stream, sim::VectorPath path) {
  if (!sim::vector_path_available(path)) {
    state.SkipWithError("this CPU does not have the instructions");
    return;
  }
  const std::vector<sim::AtomId> visits = stream.visits(tile_visits_timed);
  const std::vector<sim::AtomSize> sizes(stream.atoms(),
                                         {stream.tile_lines, 4 * stream.tile_lines});
  int64_t sum = 0;
  for (auto _ : state) {
    sim::StackDistance stack(sizes, path);
    for (const sim::AtomId atom : visits) sum += stack.visit(atom);
  }
  benchmark::DoNotOptimize(sum);
  report(state, double(state.iterations()) * double(visits.size()), stream.tile_lines);
}

void by_lines(benchmark::State& state, const AttentionStream& stream) {
  // The first visits are cold and cheap: time as many again as there are lines.
  const size_t lines = size_t{stream.atoms()} * stream.tile_lines;
  const size_t timed = std::max(line_visits_timed, 2 * lines) / stream.tile_lines;
  const std::vector<sim::AtomId> visits = stream.visits(timed);
  int64_t sum = 0;
  for (auto _ : state) {
    tests::LineEngine engine(static_cast<uint32_t>(lines));
    for (const sim::AtomId atom : visits) {
      for (uint32_t line = 0; line < stream.tile_lines; ++line) {
        sum += engine.access(atom * stream.tile_lines + line);
      }
    }
  }
  benchmark::DoNotOptimize(sum);
  report(state, double(state.iterations()) * double(visits.size()) * stream.tile_lines, 1);
}

void paper_point(benchmark::State& state, ScanId scan, int64_t seq, bool use_period) {
  sim::Request request;
  request.problem = {.batch = 8, .seq_q = seq, .seq_kv = seq};
  request.schedule.workers = 48;
  request.schedule.scan = scan;
  request.l2_bytes = 24 << 20;
  request.use_period = use_period;
  for (auto _ : state) benchmark::DoNotOptimize(sim::simulate_lru(request));
}

void register_stream(const AttentionStream& stream) {
  const std::string name =
      std::to_string(stream.ctas) + "_ctas/" + (stream.is_shared ? "shared/" : "private/") +
      (stream.sawtooth ? "sawtooth/" : "linear/") + std::to_string(stream.scan_lines) +
      "_lines/tiles_of_" + std::to_string(stream.tile_lines);
  benchmark::RegisterBenchmark(("avx512/" + name).c_str(), by_tiles, stream,
                               sim::VectorPath::avx512)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(("scalar/" + name).c_str(), by_tiles, stream,
                               sim::VectorPath::scalar)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(("by_lines/" + name).c_str(), by_lines, stream)
      ->Unit(benchmark::kMillisecond);
}

void register_all() {
  for (const uint32_t tile_lines : {128U, 16U}) {
    for (const uint32_t ctas : {48U, 132U}) {
      for (const bool sawtooth : {false, true}) {
        register_stream({ctas, true, sawtooth, 1U << 16, tile_lines});
        register_stream({ctas, false, sawtooth, 1U << 16, tile_lines});
        register_stream({ctas, true, sawtooth, 1U << 24, tile_lines});
      }
    }
  }
  for (const int64_t seq : {131072, 262144}) {
    for (const ScanId scan : {scan_id<LinearScan>, scan_id<SawtoothScan>}) {
      const std::string name = "paper_point/" + std::to_string(seq) +
                               (scan == scan_id<LinearScan> ? "/linear" : "/sawtooth");
      benchmark::RegisterBenchmark((name + "/period").c_str(), paper_point, scan, seq, true)
          ->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark((name + "/replayed").c_str(), paper_point, scan, seq, false)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace sawtooth

int main(int argc, char** argv) {
  sawtooth::register_all();
  sawtooth::tests::register_sets();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
