#include "sim/trace/analyse.hpp"

#include <algorithm>
#include <stdexcept>

#include "scheduler/memory_units.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/lru/stack_distance.hpp"

namespace sawtooth::sim {
namespace {

void require_disjoint(std::vector<TraceAtom> atoms) {
  std::sort(atoms.begin(), atoms.end(),
            [](const TraceAtom& a, const TraceAtom& b) { return a.first_line < b.first_line; });
  for (size_t i = 1; i < atoms.size(); ++i) {
    const TraceAtom& before = atoms[i - 1];
    if (before.first_line + before.lines <= atoms[i].first_line) continue;
    throw TraceError("the tiles at lines " + std::to_string(before.first_line) + " and " +
                     std::to_string(atoms[i].first_line) +
                     " share lines; such a trace must be given by lines");
  }
}

std::vector<AtomSize> sizes_of(const std::vector<TraceAtom>& atoms) {
  std::vector<AtomSize> sizes;
  sizes.reserve(atoms.size());
  for (const TraceAtom& atom : atoms) sizes.push_back({atom.lines, atom.sectors});
  return sizes;
}

class TraceHistogram {
 public:
  TraceHistogram(const std::vector<TraceAtom>& atoms, DistanceHistogram& histogram,
                 const TraceLimits& limits)
      : atoms_(atoms),
        histogram_(histogram),
        limits_(limits),
        distances_(sizes_of(atoms)),
        was_backwards_(atoms.size(), false) {}

  void visit(const TraceVisit& visit) {
    const TraceAtom& atom = atoms_[visit.atom];
    DistanceClass& distances = histogram_.of(atom.tensor, visit.access);
    const int64_t others = distances_.visit(visit.atom);
    const bool turned = was_backwards_[visit.atom] != visit.backwards;
    if (others == StackDistance::cold) {
      distances.add_cold(atom.sectors);
    } else if (turned) {
      add_turned(distances, atom, others, visit.backwards);
    } else {
      distances.add(others + atom.lines - 1, atom.sectors);
    }
    was_backwards_[visit.atom] = visit.backwards;
    if (visit.times > 1) distances.add(atom.lines - 1, int64_t{atom.sectors} * (visit.times - 1));
    require_few_bins(distances);
  }

 private:
  // Line by line, since each has a distance of its own: line i is the i-th of the visit before when
  // that went forwards.
  void add_turned(DistanceClass& distances, const TraceAtom& atom, int64_t others,
                  bool backwards) const {
    int64_t sectors = atom.sectors;
    for (uint32_t i = 0; i < atom.lines; ++i) {
      const int64_t own = std::min(sectors, sectors_per_line);
      const uint32_t place_before = backwards ? i : atom.lines - 1 - i;
      distances.add(line_distance(others, atom.lines, place_before, true), own);
      sectors -= own;
      require_few_bins(distances);
    }
  }

  void require_few_bins(const DistanceClass& distances) const {
    if (distances.bin_count() <= limits_.atoms) return;
    throw TraceError("more than " + std::to_string(limits_.atoms) +
                     " different distances; --most-atoms raises the limit");
  }

  const std::vector<TraceAtom>& atoms_;
  DistanceHistogram& histogram_;
  TraceLimits limits_;
  StackDistance distances_;
  std::vector<bool> was_backwards_;
};

}  // namespace

Prediction analyse_trace(const OpenTrace& open, int64_t l2_bytes, const TraceLimits& limits) {
  std::vector<TraceAtom> atoms;
  TraceVisit visit;
  {
    const auto reader = open();
    while (reader->next(visit)) {
    }
    atoms = reader->atoms();
  }
  require_disjoint(atoms);
  Prediction prediction;
  try {
    TraceHistogram histogram(atoms, prediction.histogram, limits);
    const auto reader = open();
    while (reader->next(visit)) {
      if (visit.atom >= atoms.size()) throw TraceError("the trace changed while it was read");
      histogram.visit(visit);
      prediction.tile_visits += visit.times;
      prediction.steps = static_cast<int64_t>(visit.step) + 1;
    }
  } catch (const std::invalid_argument& error) {  // more lines than the engine can weigh
    throw TraceError(error.what());
  }
  count_all(prediction, l2_bytes / line_bytes);
  return prediction;
}

void copy_trace(TraceReader& reader, TraceWriter& writer) {
  TraceVisit visit;
  size_t defined = 0;
  while (reader.next(visit)) {
    const std::vector<TraceAtom>& atoms = reader.atoms();
    for (; defined < atoms.size(); ++defined) writer.atom(atoms[defined]);
    writer.visit(visit);
  }
  writer.finish();
}

}  // namespace sawtooth::sim
