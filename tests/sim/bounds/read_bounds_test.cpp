// The bound over all orders against the best of all orders, found by trying them, and against every
// schedule that the simulator replays.
#include <bit>

#include "scheduler/memory_units.hpp"
#include "sim/belady/simulate_opt.hpp"
#include "sim/bounds/bounds.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "tests/sim/bounds/cheapest_orders.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

/// Items are those of one K/V head, as sets of tiles; the bound is in tiles.
int64_t bound_of(const std::vector<uint32_t>& items, int capacity, int workers) {
  std::vector<int64_t> sizes;
  uint32_t together = 0;
  for (const uint32_t item : items) {
    sizes.push_back(std::popcount(item));
    together |= item;
  }
  return kv_head_bound(sizes, std::popcount(together), capacity, workers, 0);
}

constexpr uint32_t prefix(int tiles) {
  return (uint32_t{1} << tiles) - 1;
}

TEST(ReadBounds, OfEqualItemsAreWhatTheBestOfAllOrdersReads) {
  int problems = 0;
  for (int tiles = 1; tiles <= 4; ++tiles)
    for (int capacity = 1; capacity <= 4; ++capacity)
      for (int workers = 1; workers <= 3; ++workers)
        for (size_t count = 1; count <= 5; ++count) {
          const std::vector<uint32_t> items(count, prefix(tiles));
          // The first wave misses all; a later one what did not stay from the wave before.
          const int waves = static_cast<int>((count + size_t(workers) - 1) / size_t(workers));
          const int by_hand = tiles + (waves - 1) * std::max(0, tiles - capacity);
          EXPECT_EQ(bound_of(items, capacity, workers), by_hand);
          EXPECT_EQ(tests::fewest_misses(items, tiles, capacity, workers), by_hand)
              << tiles << " tiles, capacity " << capacity << ", workers " << workers;
          ++problems;
        }
  EXPECT_EQ(problems, 240);
}

// A causal head: items are prefixes, of every multiset of lengths.
TEST(ReadBounds, OfPrefixesAreNeverAboveTheBestOfAllOrders) {
  constexpr int tiles = 4;
  int problems = 0, reached = 0;
  for (int workers = 1; workers <= 2; ++workers)
    for (int capacity = 1; capacity <= 3; ++capacity)
      for (int code = 0; code < 625; ++code) {  // four lengths from 0 to 4
        std::vector<uint32_t> items;
        int last = 0;
        bool sorted = true;
        for (int at = 0, rest = code; at < 4; ++at, rest /= 5) {
          sorted = sorted && rest % 5 >= last;
          last = rest % 5;
          if (last > 0) items.push_back(prefix(last));
        }
        if (!sorted || items.empty()) continue;
        const int64_t bound = bound_of(items, capacity, workers);
        const int best = tests::fewest_misses(items, tiles, capacity, workers);
        EXPECT_LE(bound, best) << "code " << code << ", capacity " << capacity << ", workers "
                               << workers;
        ++problems;
        reached += bound == best ? 1 : 0;
      }
  EXPECT_EQ(problems, 414);
  EXPECT_GE(reached, problems * 9 / 10);
}

// Windows: any runs of tiles; and several heads share the capacity.
TEST(ReadBounds, OfRunsOfTilesOfTwoHeadsAreNeverAboveTheBestOfAllOrders) {
  constexpr int tiles_a_head = 3, heads = 2, tiles = tiles_a_head * heads;
  constexpr int problems = 600;
  uint64_t random = 1;
  const auto draw = [&](int below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((random >> 33) % uint64_t(below));
  };
  for (int problem = 0; problem < problems; ++problem) {
    const int workers = 1 + draw(2), capacity = 1 + draw(4), count = 1 + draw(4);
    std::vector<uint32_t> items, of_head[heads];
    for (int item = 0; item < count; ++item) {
      const int head = draw(heads), begin = draw(tiles_a_head);
      const int length = 1 + draw(tiles_a_head - begin);
      items.push_back(prefix(length) << (begin + head * tiles_a_head));
      of_head[head].push_back(items.back());
    }
    int64_t bound = 0;
    for (const auto& list : of_head)
      if (!list.empty()) bound += bound_of(list, capacity, workers);
    EXPECT_LE(bound, tests::fewest_misses(items, tiles, capacity, workers))
        << "problem " << problem;
  }
}

// Pieces of a cut item have its tiles between them: the bound of what is whole, with them beside.
TEST(ReadBounds, WithCutItemsAreNeverAboveTheBestOfAllOrders) {
  constexpr int tiles = 4;
  int problems = 0;
  for (int capacity = 1; capacity <= 3; ++capacity)
    for (int whole = 1; whole <= 3; ++whole)
      for (uint32_t cut = 1; cut < prefix(tiles); ++cut) {
        std::vector<uint32_t> items(size_t(whole), prefix(tiles));
        items.push_back(cut);
        items.push_back(prefix(tiles) & ~cut);
        const int64_t bound =
            kv_head_bound(std::vector<int64_t>(size_t(whole) + 1, tiles), tiles, capacity, 2, 1);
        EXPECT_LE(bound, tests::fewest_misses(items, tiles, capacity, 2));
        ++problems;
      }
  EXPECT_EQ(problems, 126);
}

TEST(Pigeonhole, BusiestWorkerIsNeverBelowTheBestAssignmentsBusiest) {
  EXPECT_EQ(busiest_worker<int64_t>({}, 3), 0);
  EXPECT_EQ(busiest_worker<int64_t>({5}, 3), 5);
  EXPECT_EQ(busiest_worker<int64_t>({3, 3, 3}, 2), 6);  // someone has two of them
  EXPECT_EQ(busiest_worker<int64_t>({4, 1, 1, 1}, 2), 4);
  EXPECT_EQ(busiest_worker<double>({1, 1}, 2), 1.0);
}

int64_t kv_and_q(const Prediction& prediction, Sectors Counters::*counter) {
  int64_t sum = 0;
  for (const Tensor tensor : {Tensor::q, Tensor::k, Tensor::v})
    sum += (prediction.by_tensor[static_cast<size_t>(tensor)].*counter).value_or(0);
  return sum;
}

RC_GTEST_PROP(ReadBoundsOfSchedules, AreNeverAboveWhatAnyModelCounts, ()) {
  Request request = tests::any_request();
  request.l2_bytes = tests::between(1, 400) * line_bytes;
  if (request.schedule.loop == Loop::kv_inner) request.schedule.prefetch = tests::between(0, 3);
  const ReadBounds bounds =
      read_bounds(request.problem, request.tiling, request.schedule, request.l2_bytes);
  const Prediction lru = simulate_lru(request);
  if (request.schedule.loop == Loop::kv_inner)
    RC_ASSERT(bounds.compulsory == kv_and_q(lru, &Counters::cold_read_sectors));
  RC_ASSERT(bounds.compulsory <= bounds.all_orders);
  RC_ASSERT(bounds.all_orders <= kv_and_q(lru, &Counters::dram_read_sectors));
  RC_ASSERT(bounds.all_orders <= kv_and_q(simulate_opt(request), &Counters::dram_read_sectors));
}

}  // namespace
}  // namespace sawtooth::sim
