#include "sim/sets/simulate_sets.hpp"

#include <algorithm>

#include "sim/schedule/access_tally.hpp"
#include "sim/schedule/merged_visits.hpp"
#include "sim/sets/set_engine.hpp"

namespace sawtooth::sim {
namespace {

std::vector<Priority> priorities_of(const AtomTable& atoms, const SetsParameters& parameters) {
  const auto& of_tensor = parameters.priorities;
  const bool all_normal = std::all_of(of_tensor.begin(), of_tensor.end(), [](Priority priority) {
    return priority == Priority::normal;
  });
  std::vector<Priority> priorities;
  if (all_normal) return priorities;
  for (size_t a = 0; a < atoms.sizes().size(); ++a) {
    const Tensor tensor = atoms.tensor_of(static_cast<AtomId>(a));
    priorities.push_back(of_tensor[static_cast<size_t>(tensor)]);
  }
  return priorities;
}

std::string why_by_lines(const SetsParameters& parameters) {
  if (parameters.by_lines) return "it was asked for";
  if (parameters.policy == SetPolicy::random) return "every set draws random victims of its own";
  return "";
}

// Gathers visits into batches, feeds them to the engine, and counts by tensor and access.
class SetsConsumer {
 public:
  SetsConsumer(const AtomTable& atoms, const SetPartition& partition, const SetGeometry& geometry,
               const SetsParameters& parameters)
      : partition_(partition),
        engine_(make_set_engine(partition, geometry, parameters, priorities_of(atoms, parameters))),
        tally_(atoms) {}

  void visit(const Visit& visit) {
    tally_.accessed(visit);
    const uint32_t distinct = partition_.one_line_a_set(visit.atom) ? 1 : visit.times;
    for (uint32_t i = 0; i < distinct; ++i) {
      waiting_.push_back(visit.atom);
      accesses_.push_back(visit.access);
    }
    if (waiting_.size() >= batch_visits) drain();
  }

  /// Call it after the last visit.
  void drain() {
    missed_.resize(waiting_.size());
    engine_->visit(waiting_, missed_);
    for (size_t i = 0; i < waiting_.size(); ++i)
      tally_.missed(waiting_[i], accesses_[i], missed_[i]);
    waiting_.clear();
    accesses_.clear();
  }

  const AccessTally<AtomTable>& tally() const { return tally_; }

 private:
  static constexpr size_t batch_visits = 1024;  // keeps a batch and its results in the L1 cache

  const SetPartition& partition_;
  std::unique_ptr<SetEngine> engine_;
  AccessTally<AtomTable> tally_;
  std::vector<AtomId> waiting_;
  std::vector<Access> accesses_;
  std::vector<uint32_t> missed_;
};

}  // namespace

Prediction simulate_sets(const Request& request) {
  const SetsParameters& parameters = request.sets;
  const SetGeometry geometry = set_geometry(request.l2_bytes, parameters);
  const AtomTable atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  const std::string why = why_by_lines(parameters);
  const SetPartition partition(line_spans(atoms, geometry.line_bytes),
                               SetHash(parameters, geometry.sets), geometry.line_bytes,
                               !why.empty(), why);
  SetsConsumer consumer(atoms, partition, geometry, parameters);
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, consumer);
  consumer.drain();
  prediction.method = partition.description();
  prediction.tile_visits = consumer.tally().visits();
  set_counters(prediction, [&](Tensor tensor) { return consumer.tally().counters(tensor); });
  return prediction;
}

}  // namespace sawtooth::sim
