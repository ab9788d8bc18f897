// Who works on what, and in which order results come.
#include <stdexcept>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "experiments/sawtooth/simulate/dispatcher.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {
namespace {

using Given = std::vector<std::pair<size_t, size_t>>;

struct Job {
  size_t place = 0;
  double cost_s = 0;
};

Dispatcher<Job>::Source source_of(const std::vector<double>& costs, size_t& next) {
  return [&](std::optional<Job>& job) {
    if (next == costs.size()) return Supply::end;
    job = Job{next, costs[next]};
    ++next;
    return Supply::job;
  };
}

// What is given out now, as (worker, place).
std::vector<std::pair<size_t, size_t>> given(Dispatcher<Job>& dispatcher) {
  std::vector<std::pair<size_t, size_t>> all;
  while (const auto assignment = dispatcher.assign())
    all.emplace_back(assignment->worker, assignment->job.place);
  return all;
}

TEST(Dispatcher, TheLongestJobGoesFirst) {
  size_t next = 0;
  const std::vector<double> costs{1, 5, 3, 5};
  Dispatcher<Job> dispatcher(source_of(costs, next), 2);
  dispatcher.look_ahead();
  EXPECT_EQ(given(dispatcher), (Given{{0, 1}, {1, 3}}));
  dispatcher.finished(1, 3, 5);
  EXPECT_EQ(given(dispatcher), (Given{{1, 2}}));
  dispatcher.finished(1, 2, 3);
  EXPECT_EQ(given(dispatcher), (Given{{1, 0}}));
  EXPECT_FALSE(dispatcher.has_ended());
  dispatcher.finished(0, 1, 5);
  dispatcher.finished(1, 0, 1);
  dispatcher.look_ahead();
  EXPECT_TRUE(dispatcher.has_ended());
}

TEST(Dispatcher, TheOldestGoesFirstWhereItIsAskedFor) {
  size_t next = 0;
  const std::vector<double> costs{1, 5};
  Dispatcher<Job> dispatcher(source_of(costs, next), 1);
  dispatcher.look_ahead();
  EXPECT_EQ(dispatcher.assign(true)->job.place, 0u);
}

TEST(Dispatcher, ReadsNoFurtherThanItLooks) {
  size_t next = 0;
  const std::vector<double> costs(100, 1.0);
  Dispatcher<Job> dispatcher(source_of(costs, next), 1, {.sight = 10});
  dispatcher.look_ahead();
  EXPECT_EQ(next, 10u);
  dispatcher.assign();
  dispatcher.look_ahead();
  EXPECT_EQ(next, 11u);
}

// 50 ms in hand are five jobs of 10 ms, spread evenly; a job that is longer comes alone.
TEST(Dispatcher, SmallJobsAreGivenBeforeTheOnesInHandHaveEnded) {
  size_t next = 0;
  const std::vector<double> costs(1000, 0.01);
  Dispatcher<Job> dispatcher(source_of(costs, next), 2);
  dispatcher.look_ahead();
  std::map<size_t, size_t> in_hand;
  for (const auto& [worker, place] : given(dispatcher)) ++in_hand[worker];
  EXPECT_EQ(in_hand, (std::map<size_t, size_t>{{0, 5}, {1, 5}}));
  // They take ten times as long as expected: one that takes 100 ms is enough.
  for (size_t place = 0; place < 10; ++place) dispatcher.finished(place % 2, place, 0.1);
  EXPECT_EQ(given(dispatcher).size(), 2u);
}

TEST(Dispatcher, FewJobsGoToManyWorkersOneEach) {
  size_t next = 0;
  const std::vector<double> costs(10, 0.001);
  Dispatcher<Job> dispatcher(source_of(costs, next), 8);
  dispatcher.look_ahead();
  std::map<size_t, size_t> in_hand;
  for (const auto& [worker, place] : given(dispatcher)) ++in_hand[worker];
  EXPECT_EQ(in_hand.size(), 8u);
}

TEST(Dispatcher, ASourceThatHasNothingYetIsAskedAgain) {
  bool ready = false;
  Dispatcher<Job> dispatcher(
      [&](std::optional<Job>& job) {
        if (!ready) return Supply::later;
        job = Job{};
        return Supply::job;
      },
      1, {.sight = 1});
  dispatcher.look_ahead();
  EXPECT_FALSE(dispatcher.assign());
  EXPECT_FALSE(dispatcher.has_ended());
  ready = true;
  dispatcher.look_ahead();
  EXPECT_TRUE(dispatcher.assign());
}

// Graham 1969, theorem 1: what leaves no worker idle ends before the mean load and (1 - 1 / m) of
// the longest job together.
TEST(Dispatcher, EndsWithinTheBoundOfListSchedules) {
  const bool held = rc::check([](const std::vector<uint8_t>& times, uint8_t number) {
    const size_t workers = number % 7 + 1;
    std::vector<double> costs;
    double sum = 0, longest = 0;
    for (const uint8_t time : times) {
      costs.push_back(time + 1.0);
      sum += costs.back();
      longest = std::max(longest, costs.back());
    }
    size_t next = 0;
    Dispatcher<Job> dispatcher(source_of(costs, next), workers, {.in_hand_s = 0});
    dispatcher.look_ahead();
    std::vector<double> ends(workers, 0.0);
    std::multimap<double, std::pair<size_t, size_t>> running;
    size_t done = 0;
    double now = 0;
    while (!dispatcher.has_ended()) {
      for (const auto& [worker, place] : given(dispatcher)) {
        ends[worker] = now + costs[place];
        running.insert({ends[worker], {worker, place}});
      }
      const auto first = running.begin();
      now = first->first;
      dispatcher.finished(first->second.first, first->second.second, costs[first->second.second]);
      running.erase(first);
      ++done;
    }
    RC_ASSERT(done == costs.size());
    const double m = static_cast<double>(workers);
    RC_ASSERT(now <= sum / m + longest * (1 - 1 / m) + 1e-9);
  });
  EXPECT_TRUE(held);
}

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
