#include "tests/kernels/trace_judgement.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace sawtooth::kernels {

std::string judge_trace(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                        const RecordedTrace& trace) {
  const int64_t heads = problem.pass == Pass::forward ? 1 : problem.heads_per_kv_head();
  const bool grid = schedule.launch == launch_id<GridLaunch>;
  const bool fixed = strides(schedule.launch);
  std::vector<std::tuple<int64_t, int64_t, int64_t>> turns;  // worker, its counter, item
  for (int64_t index = 0; index < int64_t(trace.items.size()); ++index) {
    const ItemRecord& record = trace.items[size_t(index)];
    const std::string where = "item " + std::to_string(index) + ": ";
    if (record.times_started != 1)
      return where + "started " + std::to_string(record.times_started) + " times";
    if (grid && (record.worker != index || record.items_before != index / schedule.workers))
      return where + "a CTA of the grid has the wrong number or wave";
    if (fixed && (record.worker != index % schedule.workers ||
                  record.items_before != index / schedule.workers))
      return where + "not the worker and turn of the static launch";
    if (!grid) turns.emplace_back(record.worker, record.items_before, index);

    const Item item = item_at(problem, tiling, schedule, index);
    const ScanContext context =
        scan_context(schedule, item, record.items_before, record.attach_tile);
    const int64_t steps = context.tiles * heads;
    if (record.steps != steps) return where + "wrong number of steps";
    for (int64_t step = 0; step < trace.steps_per_item; ++step) {
      const StepRecord& done = trace.steps[size_t(index * trace.steps_per_item + step)];
      const int64_t expected =
          step < steps ? scanned_tile_at(schedule, item, context, step % context.tiles) : -1;
      if (done.kv_tile != expected)
        return where + "step " + std::to_string(step) + " visited tile " +
               std::to_string(done.kv_tile) + ", expected " + std::to_string(expected);
    }
  }
  // Items of one worker ascend, and its counter has no gap.
  std::sort(turns.begin(), turns.end());
  for (size_t i = 0; i < turns.size(); ++i) {
    const auto& [worker, turn, item] = turns[i];
    const bool first = i == 0 || std::get<0>(turns[i - 1]) != worker;
    if (turn != (first ? 0 : std::get<1>(turns[i - 1]) + 1))
      return "worker " + std::to_string(worker) + " has a gap in its item counter";
    if (!first && item <= std::get<2>(turns[i - 1]))
      return "worker " + std::to_string(worker) + " took items out of order";
  }
  return {};
}

}  // namespace sawtooth::kernels
