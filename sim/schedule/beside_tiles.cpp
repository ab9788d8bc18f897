#include "sim/schedule/beside_tiles.hpp"

#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"
#include "scheduler/scan.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"
#include "sim/schedule/item_walk.hpp"

namespace sawtooth::sim {
namespace {

// All items count; parts of an item share its steps. A pair of tiles is one step in either pass.
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

void add_zeros_of_boxes(const Request& request, Prediction& prediction) {
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  if (!request.whole_tiles || problem.pass != Pass::forward ||
      request.schedule.loop == Loop::kv_outer || !prediction.total.sm_read_sectors)
    return;
  const auto receive = [&](Tensor tensor, int64_t sectors) {
    Counters counters;
    counters.sm_read_sectors = sectors;
    add(prediction.by_tensor[static_cast<size_t>(tensor)], counters);
    add(prediction.total, counters);
  };
  // A box has whole panels, which are as wide as lines (kernels/hopper/layout.hpp).
  const auto in_box = [](int64_t row_bytes) {
    return ceil_div(row_bytes, line_bytes) * sectors_per_line;
  };
  for (const auto& [tensor, row_bytes] :
       {std::pair{Tensor::q, problem.row_bytes()}, std::pair{Tensor::k, problem.k_row_bytes()},
        std::pair{Tensor::v, problem.v_row_bytes()}}) {
    const int64_t own = ceil_div(row_bytes, sector_bytes);
    const int64_t read =
        prediction.by_tensor[static_cast<size_t>(tensor)].sm_read_sectors.value_or(0);
    receive(tensor, read / own * (in_box(row_bytes) - own));
  }
  if (request.sequences.lengths != nullptr || tiling.rows_a_position > 1) return;
  const int64_t q_ends = q_tiles(problem, tiling), kv_ends = kv_tiles(problem, tiling);
  const int64_t q_rows = q_ends * tiling.q_rows - problem.seq_q;
  const int64_t kv_rows = kv_ends * tiling.kv_rows - problem.seq_kv;
  if (q_rows == 0 && kv_rows == 0) return;
  int64_t last_q = 0, last_kv = 0;  // items that read these tiles
  const ListedTiles* listed = problem.mask.listed;
  const ItemWalk walk(request);
  for (int64_t index = 0; index < walk.items(); ++index) {
    const Item item = item_at(problem, tiling, request.schedule, request.sequences, index);
    if (item.scanned.empty()) continue;
    if (item.own_tile == q_ends - 1) ++last_q;
    const int64_t last = item.scanned.end - 1;
    if ((listed == nullptr ? last : listed->of_q.tiles[last]) == kv_ends - 1) ++last_kv;
  }
  receive(Tensor::q, last_q * q_rows * in_box(problem.row_bytes()));
  receive(Tensor::k, last_kv * kv_rows * in_box(problem.k_row_bytes()));
  if (!problem.kv_latent) receive(Tensor::v, last_kv * kv_rows * in_box(problem.v_row_bytes()));
}

}  // namespace sawtooth::sim
