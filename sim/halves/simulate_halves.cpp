#include "sim/halves/simulate_halves.hpp"

#include "scheduler/memory_units.hpp"
#include "sim/halves/halves_in_step.hpp"
#include "sim/schedule/live_atoms.hpp"
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

HalvesModel halves_model(const Request& request, const Gpu& gpu) {
  HalvesModel model;
  HalvesParameters& l2 = model.l2;
  l2.halves = gpu.l2_halves.value_or(1) == 2 ? 2 : 1;
  l2.capacity_lines = request.l2_bytes / line_bytes / l2.halves;
  if (l2.halves == 1) return model;
  if (gpu.l2_ways && gpu.l2_reserved_share) {
    l2.ways = static_cast<int>(*gpu.l2_ways);
    l2.dirty_ways = static_cast<int>(gpu.l2_dirty_ways.value_or(0));
    l2.reserved = *gpu.l2_reserved_share;
    l2.scattered = gpu.l2_scattered_share.value_or(0);
  }
  l2.far_first_waiting = gpu.far_first_waiting_share.value_or(l2.far_first_waiting);
  l2.far_first_running = gpu.far_first_running_share.value_or(l2.far_first_running);
  l2.running_share = gpu.l2_running_share.value_or(l2.running_share);
  if (gpu.coalescer_waiting_share && gpu.coalescer_running_share)
    model.coalescer = {.sms = gpu.sms,
                       .waiting_share = *gpu.coalescer_waiting_share,
                       .running_share = *gpu.coalescer_running_share};
  return model;
}

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
  set_counters(
      prediction, [&](Tensor tensor) { return l2.counters(static_cast<int>(tensor)); },
      request.bulk_loads);
  if (request.problem.pass == Pass::backward) know_reductions(prediction);
  return prediction;
}

}  // namespace sawtooth::sim
