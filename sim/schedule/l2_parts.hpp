// Private parts of L2 in lockstep: each part is a GPU of its own, with its share of the workers, of
// the capacity and of the items; what they read beyond it comes from a memory-side cache or DRAM.
#pragma once

#include <stdexcept>

#include "sim/bounds/bounds.hpp"
#include "sim/gpu.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// predict(request of one part) for each of them; `by_part` of the sum has the parts' totals. DRAM
/// reads are known where no cache of the memory lies between, or all that is touched fits it.
/// Throws std::invalid_argument for what has no parts: other models of time, cut items.
template <class Predict>
Prediction simulate_parts(const Request& request, const Gpu& gpu, const Predict& predict) {
  const int64_t parts = *gpu.l2_parts, run = gpu.l2_part_run.value_or(1);
  if (request.timing == Timing::timed || request.problem.pass == Pass::backward ||
      request.schedule.kv_split > 1 || request.shares.cuts() || request.cascade ||
      cuts_last_wave(request.schedule) || request.key_parts.exist)
    throw std::invalid_argument(
        "a GPU whose L2 has parts is simulated forward, in lockstep, by whole items; allowed: "
        "timing = lockstep or lockstep-wave, kv-split = 1, another launch than balanced");
  Prediction sum;
  Request of_part = request;
  of_part.use_period = false;  // items of a part do not repeat as those of the order do
  of_part.parts = {parts, run};
  of_part.l2_bytes = request.l2_bytes / parts;
  for (int64_t part = 0; part < parts; ++part) {
    of_part.part = part;
    of_part.schedule.workers =
        max_of(int64_t{1}, of_part.parts.items_of(part, request.schedule.workers));
    const Prediction one = predict(of_part);
    sum.by_part.push_back(one.total);
    for (size_t t = 0; t < sum.by_tensor.size(); ++t) add(sum.by_tensor[t], one.by_tensor[t]);
    add(sum.total, one.total);
    sum.histogram.add(one.histogram);
    sum.steps = max_of(sum.steps, one.steps);
    sum.tile_visits += one.tile_visits;
    sum.method = one.method;
  }
  const int64_t compulsory =
      read_bounds(request.problem, request.tiling, request.schedule, request.l2_bytes).compulsory;
  sum.total.cold_read_sectors = compulsory;
  if (gpu.memory_cache_bytes) {
    constexpr int64_t sector_bytes = 32;
    const int64_t touched = (compulsory + sum.total.l2_write_sectors.value_or(0)) * sector_bytes;
    sum.total.dram_read_sectors.reset();
    sum.total.dram_write_sectors.reset();
    if (touched <= *gpu.memory_cache_bytes) sum.total.dram_read_sectors = compulsory;
  }
  return sum;
}

}  // namespace sawtooth::sim
