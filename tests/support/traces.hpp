// Random small traces.
#pragma once

#include "scheduler/memory_units.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/trace_text.hpp"

namespace sawtooth::tests {

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

}  // namespace sawtooth::tests
