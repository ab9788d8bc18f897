// Runs jobs on several threads and hands their results over in the order of the jobs, so that what
// is written does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace sawtooth::experiments {

/// Calls `produce(i)` for every i < jobs on `threads` threads, and on the calling thread
/// `consume(i, result)` in ascending order, and `idle()` at least every 100 ms while it waits.
/// An exception of `produce` is thrown again here when its turn comes; no job begins after it.
template <class Produce, class Consume, class Idle>
void run_in_order(size_t jobs, size_t threads, Produce produce, Consume consume, Idle idle) {
  using Result = decltype(produce(size_t{0}));
  struct Outcome {
    std::optional<Result> result;
    std::exception_ptr error;
  };
  constexpr auto longest_wait = std::chrono::milliseconds(100);
  std::mutex mutex;
  std::condition_variable changed;
  std::map<size_t, Outcome> done;
  size_t next = 0;
  bool stop = false;

  const auto work = [&] {
    for (;;) {
      size_t job = 0;
      {
        const std::lock_guard lock(mutex);
        if (stop || next >= jobs) return;
        job = next++;
      }
      Outcome outcome;
      try {
        outcome.result.emplace(produce(job));
      } catch (...) {
        outcome.error = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      if (outcome.error) stop = true;
      done.emplace(job, std::move(outcome));
      changed.notify_one();
    }
  };
  std::vector<std::jthread> pool;
  for (size_t t = 0; t < std::min(threads, jobs); ++t) pool.emplace_back(work);
  const auto stop_all = [&] {
    const std::lock_guard lock(mutex);
    stop = true;
  };
  for (size_t job = 0; job < jobs; ++job) {
    Outcome outcome;
    for (bool ready = false; !ready;) {
      {
        std::unique_lock lock(mutex);
        ready = changed.wait_for(lock, longest_wait, [&] { return done.contains(job); });
        if (ready) outcome = std::move(done.extract(job).mapped());
      }
      idle();
    }
    try {
      if (outcome.error) std::rethrow_exception(outcome.error);
      consume(job, std::move(*outcome.result));
    } catch (...) {
      stop_all();
      throw;
    }
  }
}

}  // namespace sawtooth::experiments
