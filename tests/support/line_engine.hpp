// The obvious exact engine, line by line: a Fenwick tree over time (Fenwick, "A New Data Structure
// for Cumulative Frequency Tables", 1994) and a dense table of last uses. Tests hold the engine of
// whole atoms against it, and benchmarks its speed, so it is a good one: 32-bit counts, time a
// power of two so that no bound is checked twice, renumbered when it is full.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace sawtooth::tests {

class LineEngine {
 public:
  static constexpr int64_t cold = -1;

  explicit LineEngine(uint32_t lines)
      : last_(lines, 0),
        line_at_(std::bit_ceil(size_t{lines} * halves_per_line / 2 + 2)),
        tree_(line_at_.size(), 0) {}

  /// Distinct other lines since the last access to `line`; `cold` at its first.
  int64_t access(uint32_t line) {
    if (now_ + 1 == tree_.size()) compact();
    const uint32_t last = last_[line];
    int64_t distance = cold;
    if (last == 0) {
      ++live_;
    } else {
      distance = live_ - sum_up_to(last);
      add(last, ~uint32_t{0});
    }
    ++now_;
    add(now_, 1);
    last_[line] = now_;
    line_at_[now_] = line;
    return distance;
  }

 private:
  // Room for half as many times again as lines: renumbered seldom, and the tree stays small.
  static constexpr size_t halves_per_line = 3;

  void add(uint32_t time, uint32_t count) {
    for (; time < tree_.size(); time += time & -time) tree_[time] += count;
  }
  uint32_t sum_up_to(uint32_t time) const {
    uint32_t sum = 0;
    for (; time > 0; time &= time - 1) sum += tree_[time];
    return sum;
  }
  void compact() {
    uint32_t dense = 0;
    for (uint32_t time = 1; time <= now_; ++time) {
      const uint32_t line = line_at_[time];
      if (last_[line] != time) continue;
      last_[line] = ++dense;
      line_at_[dense] = line;
    }
    now_ = dense;
    // Leaves 1 to now_ are 1: a node that covers `span` leaves ending at `time` holds what of them
    // is at most now_.
    for (uint32_t time = 1; time < tree_.size(); ++time) {
      const uint32_t first = time - (time & -time);
      tree_[time] = first >= now_ ? 0 : (time < now_ ? time : now_) - first;
    }
  }

  std::vector<uint32_t> last_;  // time of the last access, from 1 on; 0 is never
  std::vector<uint32_t> line_at_;
  std::vector<uint32_t> tree_;
  uint32_t now_ = 0;
  uint32_t live_ = 0;
};

}  // namespace sawtooth::tests
