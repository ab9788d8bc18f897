#include "sim/timed/event_queue.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace sawtooth::sim {
namespace {

TEST(EventQueue, OfEqualTimesTheLowerWorkerIsFirst) {
  EventQueue events(3);
  EXPECT_TRUE(events.empty());
  events.set({5, 2});
  events.set({5, 1});
  EXPECT_EQ(events.first().worker, 1);
  events.remove(1);
  EXPECT_EQ(events.first().worker, 2);
  events.remove(2);
  EXPECT_TRUE(events.empty());
}

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

}  // namespace
}  // namespace sawtooth::sim
