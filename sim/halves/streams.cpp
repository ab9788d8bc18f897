#include "sim/halves/streams.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "scheduler/permutation.hpp"
#include "sim/halves/halves_in_step.hpp"

namespace sawtooth::sim {
namespace {

// An SM reads 16 KiB at a stretch (kernels/stream/stream.hpp).
constexpr int64_t chunk_bytes = 16384;
constexpr int64_t lines_per_chunk = chunk_bytes / line_bytes;

// Evenly spread over the SMs in an order that `salt` selects, with standard deviation `deviation`:
// a uniform distribution of full width sqrt(12) deviations.
double skew(int64_t sm, int64_t sms, double deviation, uint64_t salt) {
  const double place = (double(permuted(sm, sms, salt)) + 0.5) / double(sms) - 0.5;
  return std::sqrt(12.0) * deviation * place;
}

// Passes are counted apart, as tensors are.
constexpr Tensor of_pass[] = {Tensor::q, Tensor::k};

enum : uint64_t { steady_salt = 1, first_salt, second_salt, crossing_salt };

// SMs sit at the two halves in turn; the hardware numbers the SMs of its GPCs in turn too.
int half_of(int64_t sm) {
  return static_cast<int>(sm % 2);
}

int64_t second_reader(int64_t sm, const Stream& stream, const StreamRun& run) {
  if (stream.map != StreamMap::shift) return sm;
  const int64_t pairs = run.sms / 2;
  const bool crosses =
      double(permuted(sm / 2, pairs, crossing_salt)) < run.crossing * double(pairs);
  return crosses ? sm ^ 1 : (sm + 2) % run.sms;
}

struct Read {
  double when = 0;
  AtomId chunk = 0;
  int64_t sm = 0;
};

std::vector<Read> pass_reads(int64_t chunks, const Stream& stream, const StreamRun& run,
                             bool second) {
  std::vector<Read> reads(static_cast<size_t>(chunks));
  for (int64_t i = 0; i < chunks; ++i) {
    int64_t sm = i % run.sms;
    if (second) sm = second_reader(sm, stream, run);
    double when = double(second && stream.reversed ? chunks - 1 - i : i) * chunk_bytes;
    if (stream.map != StreamMap::all)
      when += skew(sm, run.sms, run.steady_skew_bytes, steady_salt) +
              skew(sm, run.sms, run.fresh_skew_bytes, second ? second_salt : first_salt);
    reads[static_cast<size_t>(i)] = {when, static_cast<AtomId>(i), sm};
  }
  std::stable_sort(reads.begin(), reads.end(),
                   [](const Read& a, const Read& b) { return a.when < b.when; });
  return reads;
}

}  // namespace

StreamCounters simulate_stream(const Stream& stream, const StreamRun& run,
                               const HalvesParameters& parameters) {
  const int64_t chunks = stream.bytes / chunk_bytes;
  if (chunks < 1) throw std::invalid_argument("stream: bytes must be at least 16384");
  if (run.sms < 2 || run.sms % 2 != 0)
    throw std::invalid_argument("stream: sms must be an even number, 2 or more");
  const AtomSize size{.lines = lines_per_chunk, .sectors = lines_per_chunk * sectors_per_line};
  HalvesInStep l2(parameters);
  l2.begin({.sizes = std::vector<AtomSize>(static_cast<size_t>(chunks), size)});
  const auto half_of_all = static_cast<uint32_t>(run.sms / 2);
  for (int pass = 0; pass < 2; ++pass) {
    l2.count_under(of_pass[pass]);
    for (const Read& read : pass_reads(chunks, stream, run, pass == 1)) {
      HalfVisit visit{.atom = read.chunk, .access = Access::read, .times = {}};
      if (stream.map == StreamMap::all)
        visit.times = {half_of_all, half_of_all};
      else
        visit.times[static_cast<size_t>(half_of(read.sm))] = 1;
      l2.visit(visit);
    }
  }
  return {l2.counters(of_pass[0]), l2.counters(of_pass[1])};
}

}  // namespace sawtooth::sim
