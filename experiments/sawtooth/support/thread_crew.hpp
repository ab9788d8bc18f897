// Workers that are threads: each takes the jobs it is given, in their order. run_in_order() hands
// results over in the order of the jobs, so that what is written does not depend on the number of
// threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sawtooth::experiments {

/// What the option threads says; without it, a thread a core.
inline size_t threads_of(const std::string& given) {
  return given.empty() ? std::max(1u, std::thread::hardware_concurrency()) : std::stoull(given);
}

/// How often what waits for workers looks up.
inline constexpr std::chrono::milliseconds longest_wait{100};

template <class Job, class Result>
class ThreadCrew {
 public:
  struct Finished {
    size_t worker = 0;
    size_t place = 0;  // of the job
    double seconds = 0;
    std::optional<Result> result;
    std::exception_ptr error;  // instead of the result
  };

  ThreadCrew(size_t threads, std::function<Result(Job&)> work)
      : work_(std::move(work)), queues_(threads) {
    for (size_t worker = 0; worker < threads; ++worker)
      threads_.emplace_back([this, worker] { run(worker); });
  }
  /// Jobs that have begun are done to their end, others are left.
  ~ThreadCrew() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    given_.notify_all();
  }
  ThreadCrew(const ThreadCrew&) = delete;
  ThreadCrew& operator=(const ThreadCrew&) = delete;

  void give(size_t worker, Job job) {
    {
      const std::lock_guard lock(mutex_);
      queues_[worker].push_back(std::move(job));
    }
    given_.notify_all();
  }

  /// What has ended since; waits for it so long at most.
  std::vector<Finished> collect(std::chrono::microseconds longest) {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, longest, [&] { return !finished_.empty(); });
    return std::exchange(finished_, {});
  }

 private:
  void run(size_t worker) {
    using Clock = std::chrono::steady_clock;
    for (;;) {
      std::optional<Job> job;
      {
        std::unique_lock lock(mutex_);
        given_.wait(lock, [&] { return stop_ || !queues_[worker].empty(); });
        if (stop_) return;
        job.emplace(std::move(queues_[worker].front()));
        queues_[worker].pop_front();
      }
      Finished finished{worker, job->place, 0, {}, {}};
      const auto begin = Clock::now();
      try {
        finished.result.emplace(work_(*job));
      } catch (...) {
        finished.error = std::current_exception();
      }
      finished.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      {
        const std::lock_guard lock(mutex_);
        finished_.push_back(std::move(finished));
      }
      ended_.notify_one();
    }
  }

  std::function<Result(Job&)> work_;
  std::mutex mutex_;
  std::condition_variable given_, ended_;
  std::vector<std::deque<Job>> queues_;
  std::vector<Finished> finished_;
  bool stop_ = false;
  std::vector<std::jthread> threads_;  // the last member: they end before the others
};

/// Calls `produce(i)` for every i < jobs on `threads` threads, and on the calling thread
/// `consume(i, result)` in ascending order, and `idle()` at least every 100 ms while it waits.
/// An exception of `produce` is thrown again here when its turn comes; no job begins after it.
template <class Produce, class Consume, class Idle>
void run_in_order(size_t jobs, size_t threads, Produce produce, Consume consume, Idle idle) {
  struct Job {
    size_t place = 0;
  };
  using Crew = ThreadCrew<Job, decltype(produce(size_t{0}))>;
  const size_t workers = std::min(threads, jobs);
  Crew crew(workers, [&](Job& job) { return produce(job.place); });
  size_t given = 0;
  for (; given < workers; ++given) crew.give(given, {given});
  bool stop = false;
  std::map<size_t, typename Crew::Finished> done;
  for (size_t next = 0; next < jobs;) {
    for (auto& finished : crew.collect(longest_wait)) {
      stop = stop || finished.error;
      if (!stop && given < jobs) crew.give(finished.worker, {given++});
      done.emplace(finished.place, std::move(finished));
    }
    idle();
    for (auto ready = done.find(next); ready != done.end(); ready = done.find(++next)) {
      auto outcome = std::move(done.extract(ready).mapped());
      if (outcome.error) std::rethrow_exception(outcome.error);
      consume(next, std::move(*outcome.result));
    }
  }
}

}  // namespace sawtooth::experiments
