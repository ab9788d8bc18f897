#include "kernels/hopper/tile_time.hpp"

#include <array>

namespace sawtooth::kernels::hopper {
namespace {

// Two equations a pair, the times of 512 and of 16K rows (16 heads, 16K rows of all sequences
// together, 132 CTAs), of launches that cut no item: experiments/data/h200/race,
// race_with_prefetch.csv for head dim 128 and short_items.csv for 64. There 128 rows were not timed
// without a mask and stand with their masked cost.
constexpr auto costs = std::to_array<TileCost>({
    {64, {192, 128}, {1.8, 11.9}, {2.0, 12.2}},
    {64, {128, 128}, {2.4, 9.8}, {2.4, 9.8}},
    {128, {128, 128}, {1.3, 13.8}, {2.5, 14.3}},
    {128, {128, 176}, {2.2, 13.0}, {2.9, 13.7}},
});

}  // namespace

std::optional<TileCost> tile_cost(int64_t head_dim, const Tiling& tiling) {
  for (const TileCost& cost : costs)
    if (cost.head_dim == head_dim && cost.tiling.q_rows == tiling.q_rows &&
        cost.tiling.kv_rows == tiling.kv_rows)
      return cost;
  return {};
}

}  // namespace sawtooth::kernels::hopper
