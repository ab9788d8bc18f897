#include "sim/trace/checks.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sawtooth::sim {

void require_disjoint(const TraceReader& reader) {
  const TraceAtoms& atoms = reader.atoms();
  if (reader.begins_differ() && atoms.all_are_lines()) return;
  std::vector<AtomId> in_order(atoms.size());
  std::iota(in_order.begin(), in_order.end(), AtomId{0});
  const auto comes_before = [&](AtomId a, AtomId b) {
    return atoms.first_line(a) < atoms.first_line(b);
  };
  if (!std::is_sorted(in_order.begin(), in_order.end(), comes_before))
    std::sort(in_order.begin(), in_order.end(), comes_before);
  for (size_t i = 1; i < in_order.size(); ++i) {
    const TraceAtom before = atoms[in_order[i - 1]];
    const uint64_t next_line = atoms.first_line(in_order[i]);
    if (before.first_line + before.lines <= next_line) continue;
    throw TraceError("the tiles at lines " + std::to_string(before.first_line) + " and " +
                     std::to_string(next_line) +
                     " share lines; such a trace must be given by lines");
  }
}

void require_forwards(const TraceVisit& visit, const TraceAtoms& atoms) {
  if (!visit.backwards || atoms.lines(visit.atom) == 1) return;
  throw TraceError("the " + std::to_string(atoms.lines(visit.atom)) + " lines from line " +
                   std::to_string(atoms.first_line(visit.atom)) +
                   " on are visited backwards, which l2 = lru alone follows; write the trace by "
                   "lines first (--unit lines)");
}

}  // namespace sawtooth::sim
