// Workers that simulate the points of a sweep, threads of this process or the ranks of a job, and
// what they make of a point.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/sawtooth/ranks/ranks.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/simulate/simulated_points.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {

/// One point simulated: its rows, and what there is to say about it. It travels between processes.
struct PointResult {
  CsvRow row;
  bool has_result = true;
  std::vector<std::string> side_rows;
  std::string method;

  std::string bytes() const;
  static PointResult of_bytes(const std::string& bytes);
};

/// What a combination of keys or a model forbids, and too little memory, is a row without a result.
PointResult simulate_point(const SimulatedPoint& point, const SideTables& sides,
                           std::atomic<int64_t>& items_begun);

struct Job : SimulatedPoint {
  std::shared_ptr<std::atomic<int64_t>> begun;  // its items; not of another rank's
};
using JobThreads = ThreadCrew<Job, PointResult>;

/// Rank 0's side of a job: it hands out points and simulates some on a thread of its own. The
/// other ranks end with it; where points are under way, because of an error, the launcher ends
/// them.
class RankZero {
 public:
  explicit RankZero(Ranks ranks) : ranks_(ranks) {}
  ~RankZero();
  RankZero(const RankZero&) = delete;
  RankZero& operator=(const RankZero&) = delete;

  size_t workers() const { return static_cast<size_t>(ranks_.size()); }
  /// Gives a point to another rank; adds what others have finished.
  void give(int rank, const SimulatedPoint& point);
  void collect(std::vector<JobThreads::Finished>& finished);

 private:
  Ranks ranks_;
  size_t under_way_ = 0;  // at other ranks
};

/// The workers of a sweep: threads of this process or, with `ranks`, one thread and the other
/// ranks.
class Crew {
 public:
  Crew(RankZero* ranks, size_t workers, const SideTables& sides);

  void give(size_t worker, Job job);
  /// What has ended since; waits for it so long at most.
  std::vector<JobThreads::Finished> collect(std::chrono::microseconds longest);

 private:
  RankZero* ranks_;
  JobThreads threads_;
};

/// The side of the others: simulates what rank 0 sends until it says that this was all. `simulate`
/// gets the place of a point in the list; what it throws is thrown again at rank 0.
void serve_rank_zero(const Ranks& ranks, const std::function<PointResult(size_t index)>& simulate);

}  // namespace sawtooth::experiments
