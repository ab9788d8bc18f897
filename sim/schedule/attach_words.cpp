#include "sim/schedule/attach_words.hpp"

#include "scheduler/scan.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::sim {
namespace {

// Of all items; parts of an item share its steps. A pair of tiles is one step in either pass.
int64_t steps_of(const Request& request) {
  int64_t steps = 0;
  for (int64_t batch = 0; batch < request.problem.batch; ++batch) {
    const Problem own = request.sequences.of(request.problem, batch);
    steps += visited_kv_tiles(own, request.tiling) * own.heads;
  }
  return steps;
}

}  // namespace

void add_attach_words(const Request& request, Prediction& prediction) {
  const Schedule& schedule = request.schedule;
  if (schedule.scan != scan_id<AttachScan> || schedule.loop == Loop::kv_outer) return;
  const bool twice = request.problem.pass == Pass::backward && schedule.dq == Dq::separate;
  const int64_t steps = (twice ? 2 : 1) * steps_of(request);
  Counters words;
  words.l2_write_sectors = request.atomic_words ? 0 : steps;
  if (request.atomic_words && prediction.total.sm_read_sectors)
    words.sm_read_sectors = steps + item_count(request.problem, request.tiling, request.schedule);
  add(prediction.by_tensor[static_cast<size_t>(Tensor::other)], words);
  add(prediction.total, words);
}

}  // namespace sawtooth::sim
