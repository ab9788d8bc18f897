// The obvious engine of the same two-half L2: one line at a time, fully associative halves, linear
// search. It exists to be compared with TwoHalves, and shares no code with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>

namespace sawtooth::sim {

class LineEngine {
 public:
  struct Counts {
    int64_t near_misses = 0;
    int64_t fabric_reads = 0;
    int64_t fabric_misses = 0;
    int64_t dram_reads = 0;
    int64_t write_misses = 0;
    int64_t dram_writes = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };

  explicit LineEngine(int64_t capacity_lines) : capacity_(capacity_lines) {}

  void read(int64_t line, int home, int half) {
    if (touch(halves_[half], line, false)) return;
    ++counts_.near_misses;
    if (half == home) {
      ++counts_.dram_reads;
      return;
    }
    ++counts_.fabric_reads;
    if (touch(halves_[home], line, false)) return;
    ++counts_.fabric_misses;
    ++counts_.dram_reads;
  }

  void write(int64_t line, int home) {
    if (!touch(halves_[home], line, true)) ++counts_.write_misses;
    halves_[1 - home].remove_if([&](const Line& held) { return held.line == line; });
  }

  const Counts& counts() const { return counts_; }

 private:
  struct Line {
    int64_t line = 0;
    bool dirty = false;
  };

  // Most recent line first.
  bool touch(std::list<Line>& half, int64_t line, bool write) {
    const auto at =
        std::find_if(half.begin(), half.end(), [&](const Line& held) { return held.line == line; });
    const bool held = at != half.end();
    const bool dirty = write || (held && at->dirty);
    if (held) half.erase(at);
    half.push_front({line, dirty});
    if (static_cast<int64_t>(half.size()) > capacity_) {
      counts_.dram_writes += half.back().dirty;
      half.pop_back();
    }
    return held;
  }

  int64_t capacity_;
  std::list<Line> halves_[2];
  Counts counts_;
};

}  // namespace sawtooth::sim
