#include "scheduler/dq_order.hpp"

#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "scheduler/schedule.hpp"

namespace sawtooth {
namespace {

// Items in their order, each counted at every Q tile that it sees.
TEST(DqOrder, CountsTheItemsOfTheHeadThatCameBeforeAtTheTile) {
  const Tiling tiling{16, 24};
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window})
    for (const auto& [seq_q, seq_kv] : {std::pair{200, 200}, std::pair{90, 300}, {300, 90}})
      for (int q_order = 0; q_order < QOrders::size; ++q_order)
        for (const int64_t section : {1, 2, 3}) {
          Problem problem{.batch = 2, .heads = 4, .kv_heads = 2, .seq_q = seq_q, .seq_kv = seq_kv};
          problem.pass = Pass::backward;
          problem.mask = {mask, 50};
          Schedule schedule;
          schedule.order.q_order = {q_order};
          schedule.order.section = section;
          std::map<std::pair<int64_t, int64_t>, int64_t> added;  // by K/V head and Q tile
          for (int64_t index = 0; index < item_count(problem, tiling, schedule); ++index) {
            const Item item = item_at(problem, tiling, schedule, index);
            for (int64_t tile = item.scanned.begin; tile < item.scanned.end; ++tile) {
              int64_t& before = added[{item.batch * problem.kv_heads + item.kv_head, tile}];
              ASSERT_EQ(additions_before(problem, tiling, schedule.order, item.own_tile, tile),
                        before);
              ++before;
            }
          }
        }
}

}  // namespace
}  // namespace sawtooth
