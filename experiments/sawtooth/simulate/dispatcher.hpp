// Which job goes to which worker, for threads and for processes alike: the one that is expected to
// take longest of those in sight goes to the worker with the least in hand (longest processing time
// first: Graham, SIAM J. Appl. Math. 17, 1969). Jobs are read from their source as they are needed,
// so that a list of any length has `sight` of them in memory. Nothing here waits or communicates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace sawtooth::experiments {

struct DispatchLimits {
  /// Jobs that are looked at before one of them is chosen; 1 keeps the order of the source.
  size_t sight = 4096;
  /// A worker is given small jobs until so much time is in its hands, so that it need not wait for
  /// each of them. Far above a message between two hosts, far below what a user notices.
  double in_hand_s = 0.05;
  size_t most_in_hand = 64;
};

/// What a source of jobs has: the next one, none before some job has ended, or no more.
enum class Supply : uint8_t { job, later, end };

/// `Job` has `size_t place`, its place in the list, and `double cost_s`, the expected time of one
/// worker. Only ratios of these times matter: the scale is learnt from the jobs that have ended.
template <class Job>
class Dispatcher {
 public:
  using Source = std::function<Supply(std::optional<Job>& job)>;
  struct Assignment {
    size_t worker = 0;
    Job job;
  };

  Dispatcher(Source source, size_t workers, DispatchLimits limits = {})
      : source_(std::move(source)), limits_(limits), hands_(workers) {
    for (size_t worker = 0; worker < workers; ++worker) by_load_.insert({0, worker});
  }

  /// Reads jobs into sight.
  void look_ahead() {
    while (!ended_ && jobs_.size() < limits_.sight) {
      std::optional<Job> job;
      const Supply supply = source_(job);
      ended_ = supply == Supply::end;
      if (supply != Supply::job) return;
      in_sight_s_ += job->cost_s;
      by_cost_.insert({-job->cost_s, job->place});
      const size_t place = job->place;
      jobs_.emplace(place, std::move(*job));
    }
  }

  /// The next job and its worker; nothing where all workers have enough or no job is in sight.
  /// `oldest_first`: the first one of the list instead of the longest.
  std::optional<Assignment> assign(bool oldest_first = false) {
    if (jobs_.empty()) return std::nullopt;
    const auto [load, worker] = *by_load_.begin();
    Hand& hand = hands_[worker];
    const double enough = std::min(limits_.in_hand_s / scale_,
                                   in_sight_s_ / (2 * static_cast<double>(hands_.size())));
    if (!hand.jobs.empty() && (load >= enough || hand.jobs.size() >= limits_.most_in_hand))
      return std::nullopt;
    const auto chosen = oldest_first ? jobs_.begin() : jobs_.find(by_cost_.begin()->second);
    Assignment assignment{worker, std::move(chosen->second)};
    jobs_.erase(chosen);
    by_cost_.erase({-assignment.job.cost_s, assignment.job.place});
    in_sight_s_ = jobs_.empty() ? 0 : in_sight_s_ - assignment.job.cost_s;
    hand.jobs.emplace(assignment.job.place, assignment.job.cost_s);
    set_load(worker, load + assignment.job.cost_s);
    ++running_;
    return assignment;
  }

  /// A job has ended after `seconds`.
  void finished(size_t worker, size_t place, double seconds) {
    Hand& hand = hands_[worker];
    const auto job = hand.jobs.find(place);
    expected_s_ += job->second;
    taken_s_ += seconds;
    if (expected_s_ > 0 && taken_s_ > 0) scale_ = taken_s_ / expected_s_;
    const double rest = hand.load - job->second;
    hand.jobs.erase(job);
    set_load(worker, hand.jobs.empty() ? 0 : rest);
    --running_;
  }

  bool has_ended() const { return ended_ && jobs_.empty() && running_ == 0; }
  size_t running() const { return running_; }
  /// The time is that of all jobs that have ended.
  double taken_s() const { return taken_s_; }
  /// Time taken / expected, of the jobs that have ended.
  double scale() const { return scale_; }

 private:
  struct Hand {
    double load = 0;                // expected time of its jobs
    std::map<size_t, double> jobs;  // place -> expected time
  };

  void set_load(size_t worker, double load) {
    by_load_.erase({hands_[worker].load, worker});
    hands_[worker].load = load;
    by_load_.insert({load, worker});
  }

  Source source_;
  DispatchLimits limits_;
  bool ended_ = false;
  std::map<size_t, Job> jobs_;                   // in sight, by place
  std::set<std::pair<double, size_t>> by_cost_;  // of these: -cost, place
  double in_sight_s_ = 0;
  std::vector<Hand> hands_;
  std::set<std::pair<double, size_t>> by_load_;  // load, worker
  size_t running_ = 0;
  double expected_s_ = 0, taken_s_ = 0, scale_ = 1;
};

}  // namespace sawtooth::experiments
