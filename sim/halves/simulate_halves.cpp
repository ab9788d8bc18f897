#include "sim/halves/simulate_halves.hpp"

#include "sim/halves/half_visits.hpp"
#include "sim/schedule/held_heads.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {

namespace {

struct LiveConsumer {
  HalvesInStep& l2;
  HeldHeads<HalvesInStep> heads;

  void visit(const HalfVisit& visit) {
    heads.begin();
    l2.visit(visit);
  }
  void settle() { heads.settle(); }
};

}  // namespace

Prediction simulate_halves(const Request& request, const HalvesParameters& parameters,
                           const CoalescerParameters& coalescer) {
  LiveAtoms atoms(request);
  HalvesInStep l2(parameters, atoms, coalescer);
  LiveConsumer consumer{l2, {atoms, l2}};
  HalfVisits<LiveConsumer> visits(consumer, atoms.sizes(), parameters, request.merge_lockstep);
  LockstepWavefront wavefront(request, atoms, visits);
  wavefront.run();
  visits.flush();
  Prediction prediction;
  prediction.steps = wavefront.steps();
  prediction.tile_visits = l2.visits();
  set_counters(prediction, [&](Tensor tensor) {
    const Counters counters = l2.counters(static_cast<int>(tensor));
    return request.bulk_loads ? counted_in_bulk(counters) : counters;
  });
  if (request.problem.pass == Pass::backward) know_reductions(prediction);
  return prediction;
}

}  // namespace sawtooth::sim
