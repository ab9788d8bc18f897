#include "sim/schedule/attach_words.hpp"

#include "scheduler/scan.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::sim {
namespace {

// Of all items; parts of an item share its steps.
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
  Counters words;
  words.l2_write_sectors = steps_of(request.problem, request.tiling);
  add(prediction.by_tensor[static_cast<size_t>(Tensor::other)], words);
  add(prediction.total, words);
}

}  // namespace sawtooth::sim
