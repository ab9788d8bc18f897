#include <string>

#include "scheduler/memory_units.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/trace_text.hpp"

namespace sawtooth::fuzz {
namespace {

using namespace sim;

// Small, so that memory and time are bounded for every input.
constexpr TraceLimits limits{.atoms = 4096};
constexpr int64_t most_line_accesses = 20'000;
constexpr int64_t l2_bytes = 64 * line_bytes;

template <class Function>
void for_each_class(Function function) {
  for (int tensor = 0; tensor < tensor_count; ++tensor)
    for (int access = 0; access < access_count; ++access)
      function(static_cast<Tensor>(tensor), static_cast<Access>(access));
}

// Counts of sectors: what is asked for is what has a distance or is cold.
int64_t mass(const DistanceHistogram& histogram) {
  int64_t sectors = 0;
  for_each_class([&](auto... of) { sectors += histogram.of(of...).sectors(); });
  return sectors;
}

void check(const std::string& text) {
  const tests::Trace trace = tests::read_trace(text, limits);
  // What is defined but never visited need not come back.
  size_t used = 0;
  for (const TraceVisit& visit : trace.visits) used = std::max(used, size_t{visit.atom} + 1);
  const std::string copy = tests::rewritten(text, TraceFormat::binary, false, limits);
  const tests::Trace back = tests::read_trace(copy, limits);
  require(back.visits == trace.visits, "visits survive the binary format");
  require(back.atoms.size() >= used, "atoms survive the binary format");
  const Prediction prediction = tests::analysed(text, l2_bytes, limits);
  int64_t sectors = 0;
  int64_t accesses = 0;
  for (const TraceVisit& visit : trace.visits) {
    sectors += int64_t{trace.atoms[visit.atom].sectors} * visit.times;
    accesses += std::min<int64_t>(int64_t{trace.atoms[visit.atom].lines} * visit.times,
                                  most_line_accesses + 1);
    accesses = std::min(accesses, most_line_accesses + 1);
  }
  require(mass(prediction.histogram) == sectors, "the histogram holds every access");
  if (accesses > most_line_accesses) return;
  const std::string by_lines = tests::rewritten(text, TraceFormat::binary, true, limits);
  const Prediction lines = tests::analysed(by_lines, l2_bytes, limits);
  for_each_class([&](auto... of) {
    require(lines.histogram.of(of...).bins() == prediction.histogram.of(of...).bins(),
            "tiles equal their lines");
  });
}

}  // namespace

void trace(std::span<const char> bytes) {
  try {
    check({bytes.data(), bytes.size()});
  } catch (const TraceError&) {
  }
}

}  // namespace sawtooth::fuzz
