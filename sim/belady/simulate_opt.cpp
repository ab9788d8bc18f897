#include "sim/belady/simulate_opt.hpp"

#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {
namespace {

// The optimum of atoms whose heads come and go.
struct LiveOptimum {
  LiveAtoms& atoms;
  OptConsumer<LiveAtoms> optimum;

  void visit(const Visit& visit) {
    optimum.visit(visit);
    atoms.recycle([this](AtomRange gone) { optimum.forget(gone); });
  }
};

}  // namespace

Prediction simulate_opt(const Request& request) {
  require_forward(request, "l2 = opt");
  LiveAtoms atoms(request);
  LiveOptimum consumer{atoms, {atoms, request.l2_bytes / line_bytes}};
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, consumer);
  prediction.tile_visits = consumer.optimum.tally().visits();
  set_counters(prediction,
               [&](Tensor tensor) { return consumer.optimum.tally().counters(tensor); });
  return prediction;
}

}  // namespace sawtooth::sim
