#include <vector>

#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"
#include "sim/belady/simulate_opt.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "sim/trace/analyse.hpp"
#include "sim/trace/checks.hpp"

namespace sawtooth::sim {
namespace {

/// The atoms of a reader as the models take them.
class SeenAtoms {
 public:
  /// Those of `atoms` that came since the last call.
  void add(const TraceAtoms& atoms) {
    while (sizes_.size() < atoms.size()) {
      const TraceAtom atom = atoms[sizes_.size()];
      sizes_.push_back({.lines = atom.lines,
                        .sectors = atom.sectors,
                        .tensor = static_cast<uint8_t>(atom.tensor)});
    }
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
                          const SetsParameters& parameters) {
  const SetGeometry geometry = set_geometry(l2_bytes, parameters);
  for (TraceVisit visit; reader.next(visit);) require_forwards(visit, reader.atoms());
  require_disjoint(reader);
  SeenAtoms atoms;
  atoms.add(reader.atoms());
  const std::vector<LineSpan> spans = spans_of(reader.atoms(), geometry.line_bytes);
  SetPartition partition = set_partition(geometry, parameters);
  partition.tell_apart(spans);
  partition.place(0, spans);
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
