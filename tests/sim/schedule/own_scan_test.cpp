#include <map>
#include <stop_token>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/lru/simulate_lru.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {
namespace {

// What SawtoothScan does, as lists.
class TurningScan : public OwnScan {
 public:
  const int32_t* positions(const ScanContext& context) override {
    std::vector<int32_t>& list = lists_[{context.tiles, context.items_before % 2}];
    for (auto step = static_cast<int64_t>(list.size()); step < context.tiles; ++step) {
      const int64_t position = context.items_before % 2 == 0 ? step : context.tiles - 1 - step;
      list.push_back(static_cast<int32_t>(position));
    }
    return list.data();
  }

 private:
  std::map<std::pair<int64_t, int64_t>, std::vector<int32_t>> lists_;
};

Request causal_request(Loop loop) {
  Request request;
  request.problem = {.heads = 3, .kv_heads = 3, .seq_q = 640, .seq_kv = 640};
  request.problem.mask = Mask{.kind = MaskKind::causal};
  request.tiling = {64, 64};
  request.schedule = {.scan = scan_id<SawtoothScan>, .loop = loop, .workers = 4};
  request.l2_bytes = request.problem.kv_head_bytes() / 2;
  return request;
}

// Without a mask whole rounds repeat, and are not replayed where the list knows the scan.
TEST(OwnScan, CountsAsTheSameScanOfTheListAlsoWhereRoundsWouldRepeat) {
  for (const auto& [loop, mask] :
       {std::pair{Loop::kv_inner, MaskKind::causal}, std::pair{Loop::kv_outer, MaskKind::causal},
        std::pair{Loop::kv_inner, MaskKind::none}}) {
    Request request = causal_request(loop);
    request.problem.mask.kind = mask;
    const auto listed = simulate_lru(request).total.l2_read_miss_sectors;
    TurningScan own;
    request.own_scan = &own;
    request.schedule.scan = scan_id<LinearScan>;
    EXPECT_EQ(simulate_lru(request).total.l2_read_miss_sectors, listed);
  }
}

TEST(Stop, EndsAReplayWithItsException) {
  std::stop_source stop;
  stop.request_stop();
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
    Request request = causal_request(Loop::kv_inner);
    request.problem.mask.kind = mask;
    request.stop = stop.get_token();
    EXPECT_THROW(simulate_lru(request), Stopped);
  }
}

}  // namespace
}  // namespace sawtooth::sim
