// Workers that simulate the points of a sweep, threads of this process or the ranks of a job, and
// what they make of a point.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/sawtooth/ranks/ranks.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/simulate/simulated_points.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {

/// One point simulated: its rows, and what there is to say about it. It travels between processes,
/// as a row of CSV.
struct PointResult {
  CsvRow row;
  bool has_result = true;
  std::vector<std::string> side_rows;
  std::string method;

  CsvRow cells() const;
  static PointResult of_cells(const CsvRow& cells);
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

// Results of points that end in any order, written in the order of the sweep.

class RowsInOrder {
 public:
  RowsInOrder(ResultLog& log, SideTables& sides) : log_(log), sides_(sides) {}

  /// The point at this place of the sweep keeps its old row.
  void keep(size_t place, CsvRow key_cells) { add(place, {{}, std::move(key_cells)}); }
  /// A result has come; it is in the partial file at once.
  void take(size_t place, PointResult done) {
    log_.append_finished(done.row);
    add(place, {std::move(done), {}});
  }
  /// Writes what is next in the order of the sweep.
  void write() {
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
         first = waiting_.begin(), ++next_) {
      if (first->second.done)
        write(*first->second.done);
      else
        log_.keep(first->second.key_cells);
      bytes_ -= first->second.bytes;
      waiting_.erase(first);
    }
  }

  /// Rows that wait for one before them keep no more than this in memory; then the oldest point is
  /// simulated next.
  bool is_full() const { return bytes_ > most_bytes; }
  size_t written() const { return next_; }
  size_t ended() const { return next_ + waiting_.size(); }
  const Failures& failures() const { return failures_; }
  /// How models counted, and at how many points.
  const std::map<std::string, size_t>& methods() const { return methods_; }

 private:
  static constexpr size_t most_bytes = size_t{128} << 20;
  struct Waiting {
    std::optional<PointResult> done;  // nothing: an old row is kept
    CsvRow key_cells;                 // of that
    size_t bytes = 0;
  };

  void add(size_t place, Waiting waiting) {
    constexpr size_t bytes_a_cell = 40;  // of a short std::string, with what its list takes
    waiting.bytes = bytes_a_cell * result_columns.size();
    if (waiting.done)
      for (const std::string& rows : waiting.done->side_rows) waiting.bytes += rows.size();
    bytes_ += waiting.bytes;
    waiting_.emplace(place, std::move(waiting));
  }
  void write(const PointResult& done) {
    log_.append(done.row, true);
    if (!done.method.empty()) ++methods_[done.method];
    if (done.has_result)
      sides_.write(done.side_rows);
    else
      failures_.add(done.row);
  }

  ResultLog& log_;
  SideTables& sides_;
  std::map<size_t, Waiting> waiting_;  // by place
  size_t bytes_ = 0;
  size_t next_ = 0;  // place of the next row
  Failures failures_;
  std::map<std::string, size_t> methods_;
};

}  // namespace sawtooth::experiments
