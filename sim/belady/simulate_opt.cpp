#include "sim/belady/simulate_opt.hpp"

#include "scheduler/memory_units.hpp"
#include "sim/access_tally.hpp"
#include "sim/belady/belady_lines.hpp"
#include "sim/schedule/merged_visits.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {
namespace {

struct Recorder {
  AccessTally tally;
  std::vector<BeladyVisit> visits;
  std::vector<uint8_t> rows;

  void visit(const Visit& visit) {
    visits.push_back({visit.atom, visit.times});
    rows.push_back(tally.accessed(visit));
  }
};

}  // namespace

Prediction simulate_opt(const Request& request) {
  const AtomTable atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  Recorder recorder{AccessTally(atoms), {}, {}};
  MergedVisits<Recorder> visits(recorder, request.merge_lockstep);
  LockstepWavefront wavefront(request, atoms, visits);
  wavefront.run();
  visits.flush();
  BeladyLines cache(atoms.sizes(), request.l2_bytes / line_bytes, recorder.visits);
  for (size_t i = 0; i < recorder.visits.size(); ++i) {
    const AtomSize size = atoms.size(recorder.visits[i].atom);
    const int64_t unused = size.lines * sectors_per_line - size.sectors;
    const BeladyLines::Missed missed = cache.next();
    recorder.tally.missed(recorder.rows[i],
                          missed.lines * sectors_per_line - missed.last_lines * unused);
  }
  Prediction prediction;
  prediction.steps = wavefront.steps();
  prediction.tile_visits = recorder.tally.visits();
  for (int t = 0; t < tensor_count; ++t) {
    const Counters counters = recorder.tally.counters(static_cast<Tensor>(t));
    prediction.by_tensor[static_cast<size_t>(t)] = counters;
    add(prediction.total, counters);
  }
  return prediction;
}

}  // namespace sawtooth::sim
