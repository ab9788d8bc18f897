// Results of points that end in any order, written in the order of the sweep.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/simulate/crew.hpp"

namespace sawtooth::experiments {

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
