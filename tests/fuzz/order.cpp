#include <set>
#include <tuple>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/targets.hpp"

namespace sawtooth::fuzz {
namespace {

sim::Request any_request(Choices& choices) {
  sim::Request request;
  request.problem.batch = 1 + choices.below(2);
  request.problem.heads = 1 + choices.below(2);
  request.problem.kv_heads = 1;
  request.problem.seq_q = request.problem.seq_kv = 1 + choices.below(8);
  request.problem.mask.kind = choices.below(2) == 0 ? MaskKind::none : MaskKind::causal;
  request.tiling = {2, 2};
  request.schedule.launch = {static_cast<int32_t>(choices.below(Launches::size))};
  request.schedule.workers = 1 + choices.below(5);
  request.schedule.prefetch = choices.below(2);
  if (choices.below(4) == 0)
    request.schedule.loop = Loop::kv_outer;
  else if (!cuts_last_wave(request.schedule))
    request.schedule.kv_split = 1 + choices.below(2);
  request.l2_bytes = 128 * (1 + choices.below(64));
  return request;
}

}  // namespace

void order(std::span<const char> bytes) {
  static const InputFile file;
  Choices choices(bytes);
  sim::Request request = any_request(choices);
  std::vector<WorkCoordinates> list;
  try {
    list = experiments::read_order_file(file.with(choices.rest()), request.problem, request.tiling,
                                        request.schedule);
  } catch (const experiments::UsageError&) {
    return;
  }
  const int64_t items = whole_item_count(request.problem, request.tiling, request.schedule);
  std::set<std::tuple<int64_t, int64_t, int64_t, int64_t>> different;
  for (const WorkCoordinates& w : list) different.insert({w.batch, w.head, w.own_tile, w.part});
  require(std::ssize(list) == items && std::ssize(different) == items, "each item is there once");
  const sim::Counters plain = sim::simulate_lru(request).total;
  request.schedule.order.list = list.data();
  const sim::Counters ordered = sim::simulate_lru(request).total;
  require(ordered.sm_read_sectors >= plain.cold_read_sectors &&
              ordered.cold_read_sectors == plain.cold_read_sectors,
          "an order reads what there is to read");
  // Which items are cut into pieces is the order's choice, and pieces read each other's results.
  if (cuts_last_wave(request.schedule)) return;
  require(ordered.sm_read_sectors == plain.sm_read_sectors, "SMs read the same in any order");
  require(ordered.l2_write_sectors == plain.l2_write_sectors, "and write the same");
}

}  // namespace sawtooth::fuzz
