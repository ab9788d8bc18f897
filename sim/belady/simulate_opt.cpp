#include "sim/belady/simulate_opt.hpp"

#include "scheduler/memory_units.hpp"
#include "sim/belady/belady_lines.hpp"
#include "sim/schedule/access_tally.hpp"
#include "sim/schedule/merged_visits.hpp"

namespace sawtooth::sim {
namespace {

struct Recorder {
  AccessTally tally;
  std::vector<BeladyVisit> visits;
  std::vector<Access> accesses;

  void visit(const Visit& visit) {
    visits.push_back({visit.atom, visit.times});
    accesses.push_back(visit.access);
    tally.accessed(visit);
  }
};

}  // namespace

Prediction simulate_opt(const Request& request) {
  const AtomTable atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  Recorder recorder{AccessTally(atoms), {}, {}};
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, recorder);
  BeladyLines cache(atoms.sizes(), request.l2_bytes / line_bytes, recorder.visits);
  for (size_t i = 0; i < recorder.visits.size(); ++i) {
    const AtomId atom = recorder.visits[i].atom;
    const AtomSize size = atoms.size(atom);
    const int64_t unused = size.lines * sectors_per_line - size.sectors;
    const BeladyLines::Missed missed = cache.next();
    recorder.tally.missed(atom, recorder.accesses[i],
                          missed.lines * sectors_per_line - missed.last_lines * unused);
  }
  prediction.tile_visits = recorder.tally.visits();
  set_counters(prediction, [&](Tensor tensor) { return recorder.tally.counters(tensor); });
  return prediction;
}

}  // namespace sawtooth::sim
