#include "sim/trace/analyse.hpp"

#include <algorithm>
#include <stdexcept>

#include "scheduler/memory_units.hpp"
#include "sim/lru/distance_batch.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/lru/stack_distance.hpp"

namespace sawtooth::sim {
namespace {

void require_disjoint(const TraceReader& reader) {
  const std::vector<TraceAtom>& atoms = reader.atoms();
  const auto is_line = [](const TraceAtom& atom) { return atom.lines == 1; };
  if (reader.begins_differ() && std::all_of(atoms.begin(), atoms.end(), is_line)) return;
  const auto comes_before = [](const TraceAtom& a, const TraceAtom& b) {
    return a.first_line < b.first_line;
  };
  std::vector<TraceAtom> sorted;
  if (!std::is_sorted(atoms.begin(), atoms.end(), comes_before)) {
    sorted = atoms;
    std::sort(sorted.begin(), sorted.end(), comes_before);
  }
  const std::vector<TraceAtom>& in_order = sorted.empty() ? atoms : sorted;
  for (size_t i = 1; i < in_order.size(); ++i) {
    const TraceAtom& before = in_order[i - 1];
    if (before.first_line + before.lines <= in_order[i].first_line) continue;
    throw TraceError("the tiles at lines " + std::to_string(before.first_line) + " and " +
                     std::to_string(in_order[i].first_line) +
                     " share lines; such a trace must be given by lines");
  }
}

class TraceHistogram {
 public:
  /// `atoms` may grow; a visit's atom is one of them.
  TraceHistogram(const std::vector<TraceAtom>& atoms, DistanceHistogram& histogram,
                 const TraceLimits& limits)
      : atoms_(atoms), histogram_(histogram), limits_(limits), stack_(std::span<AtomSize>()) {}

  void visit(const TraceVisit& visit) {
    for (; was_backwards_.size() <= visit.atom; was_backwards_.push_back(false)) {
      stack_.add(atoms_[was_backwards_.size()].lines);
    }
    batch_.add(visit, stack_, [this](const TraceVisit& at, int64_t others) { count(at, others); });
  }

  /// Call it after the last visit.
  void flush() {
    batch_.flush(stack_, [this](const TraceVisit& at, int64_t others) { count(at, others); });
  }

 private:
  void count(const TraceVisit& visit, int64_t others) {
    const TraceAtom& atom = atoms_[visit.atom];
    DistanceClass& distances = histogram_.of(atom.tensor, visit.access);
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
  StackDistance stack_;
  std::vector<bool> was_backwards_;  // the last visit to each atom
  DistanceBatch<TraceVisit> batch_;
};

}  // namespace

Prediction analyse_trace(TraceReader& reader, int64_t l2_bytes, const TraceLimits& limits) {
  Prediction prediction;
  try {
    TraceHistogram histogram(reader.atoms(), prediction.histogram, limits);
    for (TraceVisit visit; reader.next(visit);) {
      histogram.visit(visit);
      prediction.tile_visits += visit.times;
      prediction.steps = static_cast<int64_t>(visit.step) + 1;
    }
    histogram.flush();
  } catch (const std::invalid_argument& error) {  // more lines than the engine can weigh
    throw TraceError(error.what());
  }
  require_disjoint(reader);
  count_all(prediction, l2_bytes / line_bytes);
  return prediction;
}

bool CopyingReader::next(TraceVisit& visit) {
  if (!reader_.next(visit)) {
    writer_.finish();
    return false;
  }
  for (; defined_ < atoms().size(); ++defined_) writer_.atom(atoms()[defined_]);
  writer_.visit(visit);
  return true;
}

void copy_trace(TraceReader& reader, TraceWriter& writer) {
  CopyingReader copying(reader, writer);
  for (TraceVisit visit; copying.next(visit);) {
  }
}

}  // namespace sawtooth::sim
