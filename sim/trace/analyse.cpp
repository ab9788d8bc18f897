#include "sim/trace/analyse.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"
#include "sim/belady/simulate_opt.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/lru/stack_distance.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

/// As the models take it.
AtomSize size_of(const TraceAtom& atom) {
  return {
      .lines = atom.lines, .sectors = atom.sectors, .tensor = static_cast<uint8_t>(atom.tensor)};
}

class TraceHistogram {
 public:
  /// `atoms` may grow; a visit's atom is one of them.
  TraceHistogram(const TraceAtoms& atoms, DistanceHistogram& histogram, WriteBacks* write_backs,
                 const TraceLimits& limits)
      : atoms_(atoms),
        histogram_(histogram),
        write_backs_(write_backs),
        limits_(limits),
        stack_(std::span<AtomSize>()) {}

  void visit(const TraceVisit& visit) {
    for (; known_ <= visit.atom; ++known_) stack_.add(atoms_.lines(known_));
    batch_.add(visit, stack_, [this](const TraceVisit& at, int64_t others) { count(at, others); });
  }

  /// Call it after the last visit.
  void flush() {
    batch_.flush(stack_, [this](const TraceVisit& at, int64_t others) { count(at, others); });
    if (write_backs_ == nullptr) return;
    std::vector<AtomSize> sizes;
    for (size_t atom = 0; atom < known_; ++atom) sizes.push_back(size_of(atoms_[atom]));
    write_backs_->finish(stack_.recency_order(), sizes);
  }

 private:
  void count_write_backs(const TraceVisit& visit, const TraceAtom& atom, int64_t others) {
    if (visit.backwards)
      throw TraceError("write-backs are counted of visits forwards alone; give single lines");
    const int64_t lines = others == StackDistance::cold ? others : others + atom.lines - 1;
    write_backs_->visit({visit.atom, visit.access, visit.times}, size_of(atom), lines);
  }

  void count(const TraceVisit& visit, int64_t others) {
    DistanceClass& distances = histogram_.of(atoms_.tensor(visit.atom), visit.access);
    const size_t before = distances.bin_count();
    if (write_backs_ == nullptr && atoms_.all_are_lines())
      distances.add_visits(others, 1, sectors_per_line, visit.times);  // which cannot turn
    else
      count_run(distances, visit, others);
    bins_ += distances.bin_count() - before;
    require_few_bins(bins_);
  }

  // Not inlined: what it keeps in registers would slow down the loop over lines.
  [[gnu::noinline]] void count_run(DistanceClass& distances, const TraceVisit& visit,
                                   int64_t others) {
    const TraceAtom atom = atoms_[visit.atom];
    const bool turned = atom.lines > 1 && turns(visit) && others != StackDistance::cold;
    if (turned) add_turned(distances, atom, others, visit.backwards);
    const int64_t again = turned ? visit.times - int64_t{1} : visit.times;
    if (again > 0) distances.add_visits(turned ? 0 : others, atom.lines, atom.sectors, again);
    if (write_backs_ != nullptr) count_write_backs(visit, atom, others);
  }

  // Whether the visit before went the other way, which is forwards before the first.
  bool turns(const TraceVisit& visit) {
    if (was_backwards_.size() <= visit.atom) was_backwards_.resize(atoms_.size(), false);
    const bool turned = was_backwards_[visit.atom] != visit.backwards;
    was_backwards_[visit.atom] = visit.backwards;
    return turned;
  }

  // Line by line, since each has a distance of its own: line i is the i-th of the visit before when
  // that went forwards.
  void add_turned(DistanceClass& distances, const TraceAtom& atom, int64_t others, bool backwards) {
    require_few_bins(bins_ + atom.lines);
    int64_t sectors = atom.sectors;
    for (uint32_t i = 0; i < atom.lines; ++i) {
      const int64_t own = std::min(sectors, sectors_per_line);
      const uint32_t place_before = backwards ? i : atom.lines - 1 - i;
      distances.add(line_distance(others, atom.lines, place_before, true), own);
      sectors -= own;
    }
  }

  void require_few_bins(size_t bins) const {
    if (bins <= limits_.atoms) return;
    throw TraceError("more than " + std::to_string(limits_.atoms) +
                     " different distances; --most-atoms raises the limit");
  }

  const TraceAtoms& atoms_;
  DistanceHistogram& histogram_;
  WriteBacks* write_backs_;
  TraceLimits limits_;
  StackDistance stack_;
  size_t known_ = 0;                 // atoms, to stack_
  size_t bins_ = 0;                  // of all of histogram_
  std::vector<bool> was_backwards_;  // the last visit to each atom of several lines
  DistanceBatch<TraceVisit> batch_;
};

}  // namespace

Prediction analyse_trace(TraceReader& reader, int64_t l2_bytes, const TraceLimits& limits,
                         Pass pass) {
  const bool backward = pass == Pass::backward;
  Prediction prediction;
  if (backward) prediction.write_backs.emplace();
  try {
    TraceHistogram histogram(reader.atoms(), prediction.histogram,
                             backward ? &*prediction.write_backs : nullptr, limits);
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
  if (backward) know_reductions(prediction);
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

namespace {

/// The atoms of a reader as the models take them.
class SeenAtoms {
 public:
  /// Those of `atoms` that came since the last call.
  void add(const TraceAtoms& atoms) {
    while (sizes_.size() < atoms.size()) sizes_.push_back(size_of(atoms[sizes_.size()]));
  }
  AtomSize size(AtomId atom) const { return sizes_[atom]; }
  const std::vector<AtomSize>& sizes() const { return sizes_; }
  Tensor tensor_of(AtomId atom) const { return static_cast<Tensor>(sizes_[atom].tensor); }

 private:
  std::vector<AtomSize> sizes_;
};

std::vector<LineSpan> spans_of(const TraceAtoms& atoms, int64_t cache_line_bytes) {
  std::vector<LineSpan> spans;
  spans.reserve(atoms.size());
  for (size_t i = 0; i < atoms.size(); ++i) {
    const TraceAtom atom = atoms[i];
    const int64_t lines = ceil_div(int64_t{atom.sectors} * sector_bytes, cache_line_bytes);
    spans.push_back({atom.first_line * static_cast<uint64_t>(line_bytes / cache_line_bytes),
                     static_cast<uint32_t>(lines), atom.sectors});
  }
  return spans;
}

/// Replays the rest of `reader`; `seen` gets its atoms before the consumer does.
template <class Consumer>
Prediction replay(TraceReader& reader, SeenAtoms& seen, Consumer& consumer) {
  Prediction prediction;
  for (TraceVisit visit; reader.next(visit);) {
    require_forwards(visit, reader.atoms());
    seen.add(reader.atoms());
    consumer.visit({visit.atom, visit.access, visit.times});
    prediction.steps = static_cast<int64_t>(visit.step) + 1;
  }
  return prediction;
}

}  // namespace

Prediction replay_on_sets(TraceReader& reader, const OpenTrace& again, int64_t l2_bytes,
                          const SetsParameters& parameters, const TraceLimits& limits) {
  const SetGeometry geometry = set_geometry(l2_bytes, parameters);
  for (TraceVisit visit; reader.next(visit);) require_forwards(visit, reader.atoms());
  require_disjoint(reader);
  SeenAtoms atoms;
  atoms.add(reader.atoms());
  const std::vector<LineSpan> spans = spans_of(reader.atoms(), geometry.line_bytes);
  SetPartition partition = set_partition(geometry, parameters);
  partition.tell_apart(spans);
  for (size_t atom = 0; atom < spans.size(); ++atom) {
    partition.place(static_cast<AtomId>(atom), std::span(spans).subspan(atom, 1));
    if (partition.parts().size() > limits.atoms) throw TraceError(too_many_atoms(limits));
  }
  SetsConsumer consumer(atoms, partition, geometry, parameters);
  Prediction prediction = replay(*again(), atoms, consumer);
  consumer.drain();
  prediction.method = partition.description();
  prediction.tile_visits = consumer.tally().visits();
  set_counters(prediction, [&](Tensor tensor) { return consumer.tally().counters(tensor); });
  return prediction;
}

Prediction replay_by_optimum(TraceReader& reader, int64_t l2_bytes) {
  SeenAtoms atoms;
  OptConsumer consumer(atoms, l2_bytes / line_bytes);
  Prediction prediction = replay(reader, atoms, consumer);
  require_disjoint(reader);
  prediction.tile_visits = consumer.tally().visits();
  set_counters(prediction, [&](Tensor tensor) { return consumer.tally().counters(tensor); });
  return prediction;
}

}  // namespace sawtooth::sim
