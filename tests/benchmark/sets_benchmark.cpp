// One set-associative geometry on one core: 16 ways, LRU, both instruction paths, on the streams of
// the stack-distance rows, so that one run has both. lines/s are simulated line accesses.
#include "tests/benchmark/sets_benchmark.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/sets/recency_sets.hpp"
#include "tests/benchmark/attention_stream.hpp"

namespace sawtooth::tests {
namespace {

constexpr size_t tile_visits_timed = 4'000'000;
constexpr size_t visits_an_atom = 8;  // at least, as in the rows of stack distances
constexpr size_t visits_a_call = 1024;
constexpr int64_t geometry_bytes = int64_t{32} << 20;  // 16384 sets: between GB10 and H100

sim::SetPartition partition_of(const AttentionStream& stream, const sim::SetsParameters& sets) {
  std::vector<sim::LineSpan> spans;
  for (uint64_t atom = 0; atom < stream.atoms(); ++atom) {
    spans.push_back({atom * stream.tile_lines, stream.tile_lines, 4 * stream.tile_lines});
  }
  const sim::SetGeometry geometry = sim::set_geometry(geometry_bytes, sets);
  return sim::SetPartition(spans, sim::SetHash(sets, geometry.sets), sets.line_bytes, false, "");
}

void one_geometry(benchmark::State& state, const AttentionStream& stream, sim::HashKind hash,
                  sim::VectorPath path) {
  if (!sim::vector_path_available(path)) {
    state.SkipWithError("this CPU does not have the instructions");
    return;
  }
  sim::SetsParameters sets;
  sets.hash = hash;
  const sim::SetPartition partition = partition_of(stream, sets);
  const std::vector<sim::AtomId> first_pass = stream.first_pass();
  const std::vector<sim::AtomId> visits =
      stream.visits(std::max(tile_visits_timed, visits_an_atom * stream.atoms()));
  std::vector<uint32_t> missed(std::max(visits_a_call, first_pass.size()));
  int64_t sum = 0;
  for (auto _ : state) {
    state.PauseTiming();
    sim::RecencySets engine(partition, static_cast<uint32_t>(sets.ways), true, path);
    engine.visit(first_pass, std::span(missed).first(first_pass.size()));
    state.ResumeTiming();
    std::span<const sim::AtomId> left(visits);
    while (!left.empty()) {
      const std::span<const sim::AtomId> call = left.first(std::min(left.size(), visits_a_call));
      engine.visit(call, std::span(missed).first(call.size()));
      for (size_t i = 0; i < call.size(); ++i) sum += missed[i];
      left = left.subspan(call.size());
    }
  }
  benchmark::DoNotOptimize(sum);
  const double events = double(state.iterations()) * double(visits.size());
  state.SetLabel(partition.description());
  state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["lines/s"] =
      benchmark::Counter(events * stream.tile_lines, benchmark::Counter::kIsRate);
}

void register_stream(const AttentionStream& stream) {
  const std::string name =
      std::to_string(stream.ctas) + "_ctas/" + (stream.is_shared ? "shared/" : "private/") +
      (stream.sawtooth ? "sawtooth/" : "linear/") + std::to_string(stream.scan_lines) +
      "_lines/tiles_of_" + std::to_string(stream.tile_lines);
  struct Row {
    const char* prefix;
    sim::HashKind hash;
    sim::VectorPath path;
  };
  for (const Row& row :
       {Row{"sets_xor_avx512/", sim::HashKind::exclusive_or, sim::VectorPath::avx512},
        Row{"sets_xor_scalar/", sim::HashKind::exclusive_or, sim::VectorPath::scalar},
        Row{"sets_balanced_avx512/", sim::HashKind::balanced, sim::VectorPath::avx512}}) {
    benchmark::RegisterBenchmark((row.prefix + name).c_str(), one_geometry, stream, row.hash,
                                 row.path)
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

void register_sets() {
  for (const uint32_t tile_lines : {128U, 16U}) {
    for (const uint32_t ctas : {48U, 132U}) {
      for (const bool sawtooth : {false, true}) {
        register_stream({ctas, true, sawtooth, 1U << 16, tile_lines});
        register_stream({ctas, false, sawtooth, 1U << 16, tile_lines});
        register_stream({ctas, true, sawtooth, 1U << 24, tile_lines});
      }
    }
  }
}

}  // namespace sawtooth::tests
