#include "sim/belady/simulate_opt.hpp"

#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {
namespace {

// The optimum of atoms whose heads come and go.
class LiveOptimum {
 public:
  LiveOptimum(LiveAtoms& atoms, int64_t capacity_lines)
      : atoms_(atoms), optimum_(atoms, capacity_lines) {}

  void visit(const Visit& visit) {
    optimum_.visit(visit);
    atoms_.recycle([this](AtomRange atoms) { optimum_.forget(atoms); });
  }

  const AccessTally<LiveAtoms>& tally() const { return optimum_.tally(); }

 private:
  LiveAtoms& atoms_;
  OptConsumer<LiveAtoms> optimum_;
};

}  // namespace

Prediction simulate_opt(const Request& request) {
  require_forward(request, "l2 = opt");
  LiveAtoms atoms(request);
  LiveOptimum consumer(atoms, request.l2_bytes / line_bytes);
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, consumer);
  prediction.tile_visits = consumer.tally().visits();
  set_counters(prediction, [&](Tensor tensor) { return consumer.tally().counters(tensor); });
  return prediction;
}

}  // namespace sawtooth::sim
