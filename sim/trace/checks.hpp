// What every trace must keep to, whatever its format: bounds that keep all later sums in 64 bits.
#pragma once

#include <string>

#include "scheduler/memory_units.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

inline constexpr uint64_t trace_lines = uint64_t{1} << 57;  // of 128 bytes: 64 bits of address
inline constexpr uint32_t most_lines_of_an_atom = uint32_t{1} << 28;
inline constexpr uint32_t most_times = uint32_t{1} << 20;  // as many workers as a schedule may have
inline constexpr int64_t most_sectors = int64_t{1} << 62;  // of a whole trace

/// What is wrong with an atom, or nothing.
inline std::string fault_of(const TraceAtom& atom) {
  if (atom.lines < 1 || atom.lines > most_lines_of_an_atom)
    return std::to_string(atom.lines) + " lines in one visit; allowed: 1 to " +
           std::to_string(most_lines_of_an_atom);
  if (atom.first_line >= trace_lines || trace_lines - atom.first_line < atom.lines)
    return "line " + std::to_string(atom.first_line) + " is out of range; allowed: below 2^57";
  const int64_t most = int64_t{atom.lines} * sectors_per_line;
  if (atom.sectors > most || atom.sectors <= most - sectors_per_line)
    return std::to_string(atom.sectors) + " sectors in " + std::to_string(atom.lines) +
           " lines; allowed: " + std::to_string(most - sectors_per_line + 1) + " to " +
           std::to_string(most) + ", only the last line may be cut short";
  return {};
}

/// Counts a visit and the sectors it moves.
struct TraceTotals {
  uint64_t visits = 0;
  int64_t sectors = 0;

  /// What is wrong with a visit to `atom`, or nothing.
  std::string add(const TraceVisit& visit, const TraceAtom& atom) {
    if (visit.times < 1 || visit.times > most_times)
      return std::to_string(visit.times) + " times; allowed: 1 to " + std::to_string(most_times);
    const int64_t moved = int64_t{atom.sectors} * visit.times;
    if (moved > most_sectors - sectors) return "more than 2^62 sectors in all";
    sectors += moved;
    ++visits;
    return {};
  }
};

// What models ask of a trace: that no two runs of lines share a line, and, but for the exact LRU,
// that runs are visited forwards.

/// Throws TraceError that names two runs which do. `reader` has been read to its end.
void require_disjoint(const TraceReader& reader);

/// Throws TraceError where `visit` goes backwards over several lines.
void require_forwards(const TraceVisit& visit, const TraceAtoms& atoms);

}  // namespace sawtooth::sim
