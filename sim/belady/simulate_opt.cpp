#include "sim/belady/simulate_opt.hpp"

#include "scheduler/memory_units.hpp"
#include "sim/belady/belady_lines.hpp"
#include "sim/schedule/access_tally.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/merged_visits.hpp"

namespace sawtooth::sim {
namespace {

class OptConsumer {
 public:
  OptConsumer(LiveAtoms& atoms, int64_t capacity_lines)
      : atoms_(atoms), tally_(atoms), cache_(atoms.sizes(), capacity_lines) {}

  void visit(const Visit& visit) {
    count(visit);
    atoms_.recycle([this](AtomRange atoms) {
      tally_.forget(atoms);
      cache_.forget(atoms);
    });
  }

  const AccessTally<LiveAtoms>& tally() const { return tally_; }

 private:
  void count(const Visit& visit) {
    tally_.accessed(visit);
    const AtomSize size = atoms_.size(visit.atom);
    const int64_t unused = size.lines * sectors_per_line - size.sectors;
    const BeladyLines::Missed missed = cache_.visit(visit.atom, visit.times);
    tally_.missed(visit.atom, visit.access,
                  missed.lines * sectors_per_line - missed.last_lines * unused);
  }

  LiveAtoms& atoms_;
  AccessTally<LiveAtoms> tally_;
  BeladyLines cache_;
};

}  // namespace

Prediction simulate_opt(const Request& request) {
  LiveAtoms atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  OptConsumer consumer(atoms, request.l2_bytes / line_bytes);
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, consumer);
  prediction.tile_visits = consumer.tally().visits();
  set_counters(prediction, [&](Tensor tensor) { return consumer.tally().counters(tensor); });
  return prediction;
}

}  // namespace sawtooth::sim
