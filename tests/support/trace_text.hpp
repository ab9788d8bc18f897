// How tests write and read traces in memory.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/trace/analyse.hpp"
#include "sim/trace/readers.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::tests {

struct Trace {
  std::vector<sim::TraceAtom> atoms;  // in the order of their first visits
  std::vector<sim::TraceVisit> visits;
};

inline void write_to(sim::TraceWriter& writer, const Trace& trace) {
  size_t defined = 0;
  for (const sim::TraceVisit& visit : trace.visits) {
    for (; defined <= visit.atom; ++defined) writer.atom(trace.atoms[defined]);
    writer.visit(visit);
  }
  writer.finish();
}

/// What `write` gives to a writer, whole or line by line.
template <class Write>
std::string written(sim::TraceFormat format, bool by_lines, Write write,
                    const std::string& description = "") {
  std::ostringstream out;
  const auto writer = sim::trace_writer(format, out, description);
  sim::LineSplitter splitter(*writer);
  write(by_lines ? static_cast<sim::TraceWriter&>(splitter) : *writer);
  return out.str();
}

inline std::string text_of(sim::TraceFormat format, const Trace& trace,
                           const std::string& description = "", bool by_lines = false) {
  return written(
      format, by_lines, [&](sim::TraceWriter& writer) { write_to(writer, trace); }, description);
}

inline std::string schedule_text(const sim::Request& request, sim::TraceFormat format,
                                 bool by_lines) {
  return written(format, by_lines,
                 [&](sim::TraceWriter& writer) { sim::write_schedule(request, writer); });
}

/// A trace that stands in `text`, in another form.
inline std::string rewritten(const std::string& text, sim::TraceFormat format, bool by_lines,
                             const sim::TraceLimits& limits = {},
                             const std::string& description = "") {
  std::istringstream in(text);
  const auto reader = sim::open_trace(in, "t", limits);
  return written(
      format, by_lines, [&](sim::TraceWriter& writer) { sim::copy_trace(*reader, writer); },
      description);
}

/// All of a trace; throws TraceError as its reader does, and std::logic_error where it gives a
/// visit to an atom that it has not defined.
inline Trace read_trace(const std::string& text, const sim::TraceLimits& limits = {}) {
  std::istringstream in(text);
  const auto reader = sim::open_trace(in, "t", limits);
  Trace trace;
  for (sim::TraceVisit visit; reader->next(visit);) {
    if (visit.atom >= reader->atoms().size()) throw std::logic_error("an atom is not defined");
    trace.visits.push_back(visit);
  }
  for (size_t i = 0; i < reader->atoms().size(); ++i) trace.atoms.push_back(reader->atoms()[i]);
  return trace;
}

inline sim::Prediction analysed(const std::string& text, int64_t l2_bytes,
                                const sim::TraceLimits& limits = {}) {
  std::istringstream in(text);
  return sim::analyse_trace(*sim::open_trace(in, "t", limits), l2_bytes, limits);
}

}  // namespace sawtooth::tests
