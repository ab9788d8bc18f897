// Exact stack distances, all capacities in one pass, on one core: the engine of whole tiles on its
// instruction paths, and in the same run the good line-level engine. All fill the histogram that
// gives the miss curve. lines/s are simulated line accesses, events/s visits of tiles (line-level:
// of lines). experiments/studies/speed/table.py runs this and divides.
#include <algorithm>
#include <bit>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/lru/simulate_lru.hpp"
#include "sim/lru/stack_distance.hpp"
#include "tests/benchmark/attention_stream.hpp"
#include "tests/benchmark/sets_benchmark.hpp"
#include "tests/support/line_engine.hpp"

namespace sawtooth {
namespace {

using tests::AttentionStream;

constexpr size_t tile_visits_timed = 4'000'000;
constexpr size_t visits_a_slot_row = 8;  // times the atoms: the engine renumbers its slots once
constexpr size_t line_visits_timed = 10'000'000;
constexpr size_t visits_a_call = 1024;

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
  const std::vector<sim::AtomId> first_pass = stream.first_pass();
  const std::vector<sim::AtomId> visits =
      stream.visits(std::max(tile_visits_timed, visits_a_slot_row * stream.atoms()));
  const std::vector<sim::AtomSize> sizes(stream.atoms(),
                                         {stream.tile_lines, 4 * stream.tile_lines});
  const int line_bits = std::countr_zero(stream.tile_lines);
  std::vector<uint32_t> histogram(stream.atoms());  // by other tiles; nothing is cold any more
  std::vector<int64_t> distances(visits_a_call);
  for (auto _ : state) {
    state.PauseTiming();
    sim::StackDistance stack(sizes, path);
    for (const sim::AtomId atom : first_pass) stack.visit(atom);
    state.ResumeTiming();
    std::span<const sim::AtomId> left(visits);
    while (!left.empty()) {
      const std::span<const sim::AtomId> call = left.first(std::min(left.size(), visits_a_call));
      stack.visit(call, distances);
      for (size_t i = 0; i < call.size(); ++i) ++histogram[size_t(distances[i] >> line_bits)];
      left = left.subspan(call.size());
    }
    benchmark::DoNotOptimize(histogram.data());
  }
  report(state, double(state.iterations()) * double(visits.size()), stream.tile_lines);
}

void by_lines(benchmark::State& state, const AttentionStream& stream) {
  const std::vector<sim::AtomId> first_pass = stream.first_pass();
  const std::vector<sim::AtomId> visits = stream.visits(line_visits_timed / stream.tile_lines);
  const uint32_t lines = stream.atoms() * stream.tile_lines;
  std::vector<uint32_t> histogram(lines);
  const auto visit = [&](tests::LineEngine& engine, sim::AtomId atom, auto&& count) {
    for (uint32_t line = 0; line < stream.tile_lines; ++line) {
      count(engine.access(atom * stream.tile_lines + line));
    }
  };
  for (auto _ : state) {
    state.PauseTiming();
    tests::LineEngine engine(lines);
    for (const sim::AtomId atom : first_pass) visit(engine, atom, [](int64_t) {});
    state.ResumeTiming();
    for (const sim::AtomId atom : visits) {
      visit(engine, atom, [&](int64_t distance) { ++histogram[size_t(distance)]; });
    }
    benchmark::DoNotOptimize(histogram.data());
  }
  report(state, double(state.iterations()) * double(visits.size()) * stream.tile_lines, 1);
}

// A whole simulate_lru() call: tables, wavefront or rounds, distances, histogram, counters.
void paper_point(benchmark::State& state, ScanId scan, int64_t seq, bool use_period) {
  sim::Request request;
  request.problem = {.batch = 8, .seq_q = seq, .seq_kv = seq};
  request.schedule.workers = 48;
  request.schedule.scan = scan;
  request.l2_bytes = 24 << 20;
  request.use_period = use_period;
  for (auto _ : state) benchmark::DoNotOptimize(sim::simulate_lru(request));
}

template <class Function, class... Arguments>
void register_once(const std::string& name, Function function, Arguments... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), function, arguments...)
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

void register_stream(const AttentionStream& stream) {
  const std::string name =
      std::to_string(stream.ctas) + "_ctas/" + (stream.is_shared ? "shared/" : "private/") +
      (stream.sawtooth ? "sawtooth/" : "linear/") + std::to_string(stream.scan_lines) +
      "_lines/tiles_of_" + std::to_string(stream.tile_lines);
  register_once("lines/" + name, by_lines, stream);
  register_once("scalar/" + name, by_tiles, stream, sim::VectorPath::scalar);
  register_once("avx2/" + name, by_tiles, stream, sim::VectorPath::avx2);
  register_once("avx512/" + name, by_tiles, stream, sim::VectorPath::avx512);
}

/// Whole tiles of 128 lines that together have about `all_lines`.
uint32_t lines_a_cta(uint32_t all_lines, uint32_t ctas) {
  constexpr uint32_t largest_tile = 128;
  return (all_lines / ctas + largest_tile - 1) / largest_tile * largest_tile;
}

void register_all() {
  constexpr uint32_t small = 1U << 16;
  constexpr uint32_t large = 1U << 24;
  for (const uint32_t tile_lines : {128U, 16U}) {
    for (const uint32_t ctas : {48U, 132U}) {
      for (const bool sawtooth : {false, true}) {
        register_stream({ctas, true, sawtooth, small, tile_lines});
        register_stream({ctas, true, sawtooth, large, tile_lines});
        register_stream({ctas, false, sawtooth, small, tile_lines});
        register_stream({ctas, false, sawtooth, lines_a_cta(large, ctas), tile_lines});
      }
    }
  }
  for (const int64_t seq : {131072, 262144}) {
    for (const ScanId scan : {scan_id<LinearScan>, scan_id<SawtoothScan>}) {
      const std::string name = "paper_point/" + std::to_string(seq) +
                               (scan == scan_id<LinearScan> ? "/linear" : "/sawtooth");
      benchmark::RegisterBenchmark((name + "/multiplied").c_str(), paper_point, scan, seq, true)
          ->Unit(benchmark::kMillisecond);
      register_once(name + "/replayed", paper_point, scan, seq, false);
    }
  }
}

/// What /proc/cpuinfo calls this CPU, where there is one.
std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string name = "unknown CPU", family, model;
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
    const std::string value = line.substr(std::min(line.size(), line.find(':') + 2));
    if (line.starts_with("model name")) name = value;
    if (line.starts_with("cpu family")) family = ", family " + value;
    if (line.starts_with("model\t")) model = ", model " + value;
  }
  return name + family + model;
}

}  // namespace
}  // namespace sawtooth

int main(int argc, char** argv) {
  sawtooth::register_all();
  sawtooth::tests::register_sets();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("cpu", sawtooth::cpu_name());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
