#include "experiments/sawtooth/support/ordered_workers.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace sawtooth::experiments {
namespace {

TEST(OrderedWorkers, ResultsComeInTheOrderOfTheJobsForEveryNumberOfThreads) {
  for (const size_t threads : {size_t{1}, size_t{3}, size_t{64}}) {
    std::vector<size_t> seen;
    run_in_order(
        40, threads,
        [](size_t job) {
          // Early jobs take longest, so that they end out of order.
          std::this_thread::sleep_for(std::chrono::microseconds(50 * (40 - job)));
          return job * job;
        },
        [&](size_t job, size_t result) {
          EXPECT_EQ(result, job * job);
          seen.push_back(job);
        },
        [] {});
    ASSERT_EQ(seen.size(), 40u);
    for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i);
  }
}

TEST(OrderedWorkers, AnErrorComesAfterTheResultsBeforeIt) {
  std::vector<size_t> seen;
  const auto run = [&] {
    run_in_order(
        10, 4,
        [](size_t job) {
          if (job == 5) throw std::runtime_error("five");
          return job;
        },
        [&](size_t job, size_t) { seen.push_back(job); }, [] {});
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(seen, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(OrderedWorkers, NoJobsAreFine) {
  run_in_order(
      0, 4, [](size_t job) { return job; }, [](size_t, size_t) { FAIL(); }, [] {});
}

}  // namespace
}  // namespace sawtooth::experiments
