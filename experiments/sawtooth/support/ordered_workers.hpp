// Runs jobs on several threads and hands their results over in the order of the jobs, so that what
// is written does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "experiments/sawtooth/support/dispatcher.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {

/// Calls `produce(i)` for every i < jobs on `threads` threads, and on the calling thread
/// `consume(i, result)` in ascending order, and `idle()` at least every 100 ms while it waits.
/// An exception of `produce` is thrown again here when its turn comes; no job begins after it.
template <class Produce, class Consume, class Idle>
void run_in_order(size_t jobs, size_t threads, Produce produce, Consume consume, Idle idle) {
  struct Numbered {
    size_t place = 0;
    double cost_s = 0;
  };
  using Result = decltype(produce(size_t{0}));
  using Threads = ThreadCrew<Numbered, Result>;
  const size_t workers = std::min(threads, jobs);
  if (workers == 0) return;
  size_t next_job = 0;
  bool stop = false;
  const auto source = [&](std::optional<Numbered>& job) {
    if (next_job == jobs) return Supply::end;
    job = Numbered{next_job++, 0};
    return Supply::job;
  };
  Dispatcher<Numbered> dispatcher(source, workers, {.sight = 1, .in_hand_s = 0, .most_in_hand = 1});
  Threads crew(workers, [&](Numbered& job) { return produce(job.place); });
  std::map<size_t, typename Threads::Finished> done;
  for (size_t next = 0; next < jobs;) {
    for (dispatcher.look_ahead(); !stop; dispatcher.look_ahead()) {
      auto assignment = dispatcher.assign();
      if (!assignment) break;
      crew.give(assignment->worker, assignment->job);
    }
    for (auto& finished : crew.collect(longest_wait)) {
      dispatcher.finished(finished.worker, finished.place, finished.seconds);
      if (finished.error) stop = true;
      done.emplace(finished.place, std::move(finished));
    }
    idle();
    for (auto ready = done.begin(); ready != done.end() && ready->first == next; ++next) {
      auto outcome = std::move(done.extract(ready).mapped());
      if (outcome.error) std::rethrow_exception(outcome.error);
      consume(next, std::move(*outcome.result));
      ready = done.begin();
    }
  }
}

}  // namespace sawtooth::experiments
