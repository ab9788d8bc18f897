#include "sim/lru/sampled_lru.hpp"

#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/lru/sampled_counts.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/merged_visits.hpp"

namespace sawtooth::sim {
namespace {

/// The atoms of a schedule, by their numbers among all heads (LiveAtoms::number).
class SampledSchedule {
 public:
  SampledSchedule(const Request& request, LiveAtoms& atoms)
      : counts(request.sample, request.schedule.seed), atoms_(atoms) {
    atoms.record_begun();
    count_tiles();
  }

  void visit(const Visit& visit) {
    atoms_.take_begun([this](const HeadRun& run) { begin(run); });
    counts.count(known_[visit.atom], atoms_.size(visit.atom), atoms_.tensor_of(visit.atom),
                 visit.access, visit.times);
    atoms_.recycle([this](AtomRange atoms) { end(atoms); });
  }

  SampledCounts counts;

 private:
  // Of all heads, whether or not they are in flight at once.
  void count_tiles() {
    const HeadAtoms& heads = atoms_.of_head();
    for (int t = 0; t < tensor_count; ++t) {
      const auto tensor = static_cast<Tensor>(t);
      if (heads.heads(tensor) == 0) continue;
      const auto& sizes = heads.sizes(tensor, 0);
      const int64_t count = heads.heads(tensor) * heads.count(tensor);
      for (int64_t i = 0; i < count; ++i)
        counts.add_tile(atoms_.number(tensor, 0) + i,
                        sizes[static_cast<size_t>(i % heads.count(tensor))].lines);
    }
    counts.require_enough_tiles();
  }

  void begin(const HeadRun& run) {
    if (run.begin + run.sizes.size() > known_.size()) known_.resize(run.begin + run.sizes.size());
    for (size_t i = 0; i < run.sizes.size(); ++i)
      known_[run.begin + i] =
          counts.begin(run.number + static_cast<int64_t>(i), run.sizes[i].lines);
  }

  void end(AtomRange atoms) {
    for (AtomId atom = atoms.begin; atom < atoms.end; ++atom)
      counts.end(known_[atom], atoms_.size(atom).lines);
  }

  LiveAtoms& atoms_;
  std::vector<SampledCounts::Known> known_;  // by number in flight
};

}  // namespace

Prediction simulate_sampled_lru(const Request& request) {
  require_forward(request, "a sample");
  require_one_length(request, "a sample");
  LiveAtoms atoms(request);
  SampledSchedule sampled(request, atoms);
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, sampled);
  prediction.histogram = sampled.counts.histogram();
  prediction.tile_visits = sampled.counts.visits();
  const int64_t capacity_lines = request.l2_bytes / line_bytes;
  count_all(prediction, capacity_lines);
  prediction.sampling = sampled.counts.sampling(capacity_lines);
  return prediction;
}

}  // namespace sawtooth::sim
