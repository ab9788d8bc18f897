#include <sstream>

#include "scheduler/memory_units.hpp"
#include "sim/trace/analyse.hpp"
#include "sim/trace/readers.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/targets.hpp"

namespace sawtooth::fuzz {
namespace {

using namespace sim;

// Small, so that memory and time are bounded for every input.
constexpr TraceLimits limits{.atoms = 4096};
constexpr int64_t most_line_accesses = 20'000;

struct Trace {
  std::vector<TraceAtom> atoms;
  std::vector<TraceVisit> visits;
};

Trace read(const std::string& text) {
  std::istringstream in(text);
  const auto reader = open_trace(in, "input", limits);
  Trace trace;
  for (TraceVisit visit; reader->next(visit);) {
    require(visit.atom < reader->atoms().size(), "a visit's atom is defined");
    trace.visits.push_back(visit);
  }
  for (size_t i = 0; i < reader->atoms().size(); ++i) trace.atoms.push_back(reader->atoms()[i]);
  return trace;
}

std::string written(const std::string& text, TraceFormat format, bool by_lines) {
  std::istringstream in(text);
  const auto reader = open_trace(in, "input", limits);
  std::ostringstream out;
  const auto writer = trace_writer(format, out, "");
  LineSplitter splitter(*writer);
  copy_trace(*reader, by_lines ? static_cast<TraceWriter&>(splitter) : *writer);
  return out.str();
}

Prediction analysed(const std::string& text) {
  std::istringstream in(text);
  return analyse_trace(*open_trace(in, "input", limits), 64 * line_bytes, limits);
}

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
  const Trace trace = read(text);
  // What is defined but never visited need not come back.
  size_t used = 0;
  for (const TraceVisit& visit : trace.visits) used = std::max(used, size_t{visit.atom} + 1);
  const Trace back = read(written(text, TraceFormat::binary, false));
  require(back.visits == trace.visits, "visits survive the binary format");
  require(back.atoms.size() >= used, "atoms survive the binary format");
  const Prediction prediction = analysed(text);
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
  const Prediction lines = analysed(written(text, TraceFormat::binary, true));
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
