#include "sim/sets/simulate_sets.hpp"

#include "sim/schedule/merged_visits.hpp"
#include "sim/sets/sets_consumer.hpp"

namespace sawtooth::sim {
Prediction simulate_sets(const Request& request) {
  if (request.sets.policy == SetPolicy::opt) require_forward(request, "l2-policy = opt");
  const SetsParameters& parameters = request.sets;
  const SetGeometry geometry = set_geometry(request.l2_bytes, parameters);
  const AtomTable atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  const SetPartition partition =
      set_partition(line_spans(atoms, geometry.line_bytes), geometry, parameters);
  SetsConsumer consumer(atoms, partition, geometry, parameters);
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, consumer);
  consumer.drain();
  prediction.method = partition.description();
  prediction.tile_visits = consumer.tally().visits();
  set_counters(prediction, [&](Tensor tensor) { return consumer.tally().counters(tensor); });
  if (request.problem.pass == Pass::backward) know_reductions(prediction);
  return prediction;
}

}  // namespace sawtooth::sim
