// Random small traces, and how tests write and read them in memory.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/trace/analyse.hpp"
#include "sim/trace/trace.hpp"
#include "tests/support/generators.hpp"

namespace sawtooth::tests {

struct Trace {
  std::vector<sim::TraceAtom> atoms;  // in the order of their first visits
  std::vector<sim::TraceVisit> visits;
};

/// Up to 12 atoms of up to 9 lines with gaps between them, and up to 60 visits in both directions.
inline Trace any_trace() {
  Trace trace;
  uint64_t line = static_cast<uint64_t>(between(0, 1000));
  const int64_t atoms = between(1, 12);
  std::vector<sim::TraceAtom> all;
  for (int64_t a = 0; a < atoms; ++a) {
    const auto lines = static_cast<uint32_t>(between(1, 9));
    const auto sectors = static_cast<uint32_t>(lines * sectors_per_line - between(0, 3));
    all.push_back({line, lines, sectors, static_cast<sim::Tensor>(between(0, 7))});
    line += lines + static_cast<uint64_t>(between(0, 3));
  }
  std::vector<int64_t> number(all.size(), -1);
  uint64_t step = 0;
  const int64_t visits = between(0, 60);
  for (int64_t v = 0; v < visits; ++v) {
    const auto which = static_cast<size_t>(between(0, atoms - 1));
    if (number[which] < 0) {
      number[which] = static_cast<int64_t>(trace.atoms.size());
      trace.atoms.push_back(all[which]);
    }
    step += static_cast<uint64_t>(between(0, 2));
    trace.visits.push_back({.atom = static_cast<sim::AtomId>(number[which]),
                            .access = static_cast<sim::Access>(between(0, 2)),
                            .backwards = between(0, 1) == 1,
                            .times = static_cast<uint32_t>(between(1, 3)),
                            .worker = static_cast<uint32_t>(between(0, 200)),
                            .step = step});
  }
  return trace;
}

inline void write_to(sim::TraceWriter& writer, const Trace& trace) {
  size_t defined = 0;
  for (const sim::TraceVisit& visit : trace.visits) {
    for (; defined <= visit.atom; ++defined) writer.atom(trace.atoms[defined]);
    writer.visit(visit);
  }
  writer.finish();
}

inline std::string text_of(sim::TraceFormat format, const Trace& trace,
                           const std::string& description = "") {
  std::ostringstream out;
  write_to(*sim::trace_writer(format, out, description), trace);
  return out.str();
}

/// All of a trace; throws TraceError as its reader does.
inline Trace read_trace(const std::string& text, const sim::TraceLimits& limits = {}) {
  std::istringstream in(text);
  const auto reader = sim::open_trace(in, "t", limits);
  Trace trace;
  for (sim::TraceVisit visit; reader->next(visit);) trace.visits.push_back(visit);
  for (size_t i = 0; i < reader->atoms().size(); ++i) trace.atoms.push_back(reader->atoms()[i]);
  return trace;
}

inline sim::Prediction analysed(const std::string& text, int64_t l2_bytes,
                                const sim::TraceLimits& limits = {}) {
  std::istringstream in(text);
  return sim::analyse_trace(*sim::open_trace(in, "t", limits), l2_bytes, limits);
}

}  // namespace sawtooth::tests
