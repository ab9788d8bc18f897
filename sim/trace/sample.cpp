#include "sim/trace/sample.hpp"

#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/lru/sampled_counts.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/trace/disjoint.hpp"

namespace sawtooth::sim {

Prediction sample_trace(TraceReader& reader, int64_t l2_bytes, double sample, uint64_t seed) {
  SampledCounts counts(sample, seed);
  std::vector<SampledCounts::Known> known;  // by atom
  Prediction prediction;
  for (TraceVisit visit; reader.next(visit);) {
    const TraceAtoms& atoms = reader.atoms();
    while (known.size() <= visit.atom) {
      const auto number = static_cast<int64_t>(atoms.first_line(known.size()));
      const uint32_t lines = atoms.lines(known.size());
      counts.add_tile(number, lines);
      known.push_back(counts.begin(number, lines));
    }
    require_forwards(visit, atoms);
    const TraceAtom atom = atoms[visit.atom];
    const AtomSize size{
        .lines = atom.lines, .sectors = atom.sectors, .tensor = static_cast<uint8_t>(atom.tensor)};
    counts.count(known[visit.atom], size, atom.tensor, visit.access, visit.times);
    prediction.steps = static_cast<int64_t>(visit.step) + 1;
  }
  require_disjoint(reader);
  counts.require_enough_tiles();
  prediction.histogram = counts.histogram();
  prediction.tile_visits = counts.visits();
  const int64_t capacity_lines = l2_bytes / line_bytes;
  count_all(prediction, capacity_lines);
  prediction.sampling = counts.sampling(capacity_lines);
  return prediction;
}

}  // namespace sawtooth::sim
