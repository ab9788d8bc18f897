#include "sim/schedule/attach_words.hpp"

#include "scheduler/scan.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::sim {
namespace {

// Of all items; parts of an item share its steps. A pair of tiles is one step in either pass.
int64_t steps_of(const Problem& problem, const Tiling& tiling) {
  int64_t of_head = 0;
  for (int64_t tile = 0; tile < q_tiles(problem, tiling); ++tile)
    of_head += visible_kv_tiles(problem, tiling, tile).size();
  return of_head * problem.batch * problem.heads;
}

}  // namespace

void add_attach_words(const Request& request, Prediction& prediction) {
  const Schedule& schedule = request.schedule;
  if (schedule.scan != scan_id<AttachScan> || schedule.loop == Loop::kv_outer) return;
  const bool twice = request.problem.pass == Pass::backward && schedule.dq == Dq::separate;
  Counters words;
  words.l2_write_sectors = (twice ? 2 : 1) * steps_of(request.problem, request.tiling);
  add(prediction.by_tensor[static_cast<size_t>(Tensor::other)], words);
  add(prediction.total, words);
}

}  // namespace sawtooth::sim
