// Who is first: the queue of events, and tickets.
#include <map>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "sim/timed/events.hpp"
#include "tests/sim/timed/plain_steps.hpp"

namespace sawtooth::sim {
namespace {

// Any events are set anew and removed; the first one is that of a search through all.
RC_GTEST_PROP(EventQueue, FirstIsTheFirstOfAll, ()) {
  const auto workers = *rc::gen::inRange<int32_t>(1, 20);
  EventQueue events(static_cast<size_t>(workers));
  std::map<int32_t, double> of_worker;
  const auto changes = *rc::gen::container<std::vector<std::tuple<int32_t, int, bool>>>(
      rc::gen::tuple(rc::gen::inRange<int32_t>(0, workers), rc::gen::inRange(0, 10),
                     rc::gen::arbitrary<bool>()));
  for (const auto& [worker, ns, stays] : changes) {
    if (stays) {
      events.set({double(ns), worker});
      of_worker[worker] = ns;
    } else {
      events.remove(worker);
      of_worker.erase(worker);
    }
    RC_ASSERT(events.empty() == of_worker.empty());
    if (of_worker.empty()) continue;
    std::pair<double, int32_t> first{1e9, 0};
    for (const auto& [w, time] : of_worker) first = std::min(first, {time, w});
    RC_ASSERT(events.first().ns == first.first);
    RC_ASSERT(events.first().worker == first.second);
  }
}

// Causal, one row a tile: items of 1, 2, 3 and 4 steps, two workers, longest first. By tickets
// they take 4 | 3, then 2 goes to the second at 3000 and 1 to the first at 4000: 5000. By stride
// they take 4, 2 | 3, 1: 6000.
TEST(TimedWavefront, TicketsGoToWhoIsFreeFirst) {
  Request request = request_of(4, 4, 2);
  request.problem.mask.kind = MaskKind::causal;
  request.schedule.order.q_order = {*QOrders::find("descending")};
  request.schedule.launch = launch_id<DynamicLaunch>;
  const TimedParameters parameters = plain_parameters(2);
  EXPECT_NEAR(duration_ns(request, parameters), 5000, 1e-6);
  request.schedule.launch = launch_id<GridLaunch>;
  EXPECT_NEAR(duration_ns(request, parameters), 5000, 1e-6);
  request.schedule.launch = launch_id<StaticLaunch>;
  EXPECT_NEAR(duration_ns(request, parameters), 6000, 1e-6);
}

// An item a head on each SM of an H200; `kv_heads` of equally many heads that follow each other.
Request head_an_sm(int64_t kv_heads, std::string_view launch) {
  Request request = request_of(1, 1, 132);
  request.problem.heads = 132;
  request.problem.kv_heads = kv_heads;
  request.schedule.launch = {*Launches::find(launch)};
  return request;
}

// The SMs of an H200, and a nanosecond from half to half.
TimedParameters two_halves() {
  TimedParameters parameters = plain_parameters(132);
  parameters.l2.lines.halves = 2;
  parameters.l2.near_ns = 1;
  parameters.l2.far_ns = 2;
  parameters.ticket_hop_ns = 1;
  return parameters;
}

int64_t kv_sectors_that_cross(const Request& request, const TimedParameters& parameters) {
  const Prediction prediction = simulate_timed(request, parameters);
  return *prediction.by_tensor[static_cast<size_t>(Tensor::k)].fabric_read_sectors +
         *prediction.by_tensor[static_cast<size_t>(Tensor::v)].fabric_read_sectors;
}

// 132 heads of one Q and one K/V tile; 0 to 65 share a K/V head, 66 to 131 another. All CTAs begin
// at once, so the half of the ticket counter gets the first 66 tickets: a K/V head is read by one
// half alone, and half of its lines cross the fabric. Without that way to the counter, or where
// CTAs begin over a hundred times as long, both halves read both heads and each line crosses. K and
// V of a head are 2 lines.
TEST(TimedWavefront, FirstTicketsGoToTheNearHalfUnlessCtasBeginFurtherApart) {
  const Request request = head_an_sm(2, "dynamic");
  TimedParameters parameters = two_halves();
  const auto crossed = [&] { return kv_sectors_that_cross(request, parameters); };
  const int64_t sectors = 2 * 2 * 4;
  EXPECT_EQ(crossed(), sectors / 2);
  parameters.step.start_spread_ns = 100;
  EXPECT_EQ(crossed(), sectors);
  parameters.step.start_spread_ns = 0.5;
  EXPECT_EQ(crossed(), sectors / 2);
  parameters.ticket_race = false;
  EXPECT_EQ(crossed(), sectors);
}

// Whoever begins first, CTA w of a grid is item w. Four heads that follow each other share a K/V
// head. GPCs have 8, 8, 16 ... 16 and twice 18 SMs in the order of CTAs, so but for the four on the
// border of the last two, which are of two halves, all of them sit at one half: half of the two
// lines of K and V crosses the fabric, on the border both do.
TEST(TimedWavefront, UnderGridTheFirstItemsGoInTheOrderOfCtas) {
  TimedParameters parameters = plain_parameters(132);
  parameters.l2.lines.halves = 2;
  parameters.step.start_spread_ns = 200;
  EXPECT_EQ(kv_sectors_that_cross(head_an_sm(33, "grid"), parameters), 32 * 4 + 8);
}

}  // namespace
}  // namespace sawtooth::sim
