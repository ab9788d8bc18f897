#include "sim/halves/simulate_halves.hpp"

#include "sim/halves/half_visits.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {

Prediction simulate_halves(const Request& request, const HalvesParameters& parameters,
                           const CoalescerParameters& coalescer) {
  const AtomTable atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  HalvesInStep l2(parameters, atoms.sizes(), atoms.tensors(), tensor_count, coalescer);
  HalfVisits<HalvesInStep> visits(l2, atoms.sizes(), parameters, request.merge_lockstep);
  LockstepWavefront wavefront(request, atoms, visits);
  wavefront.run();
  visits.flush();
  Prediction prediction;
  prediction.steps = wavefront.steps();
  prediction.tile_visits = l2.visits();
  set_counters(prediction, [&](Tensor tensor) { return l2.counters(static_cast<int>(tensor)); });
  return prediction;
}

}  // namespace sawtooth::sim
