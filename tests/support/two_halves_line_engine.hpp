// The obvious engine of the same two-half L2: one line at a time, each set a list, fully
// associative halves or sets. It exists to be compared with HalvesInStep, and its sets with
// LruSets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "sim/halves/sampled_sets.hpp"
#include "sim/halves/set_placement.hpp"

namespace sawtooth::sim {

// A set as a list of its lines, the youngest first. A dirty line is written back as soon as it is
// old, or leaves; one that was last reduced when it would leave: the oldest line that is not dirty
// from a reduction leaves in its place.
class ListedSet {
 public:
  // Returns whether the line was there.
  bool touch(int64_t number, size_t ways, Access access) {
    Line line{number, Access::read};
    const auto at = std::find_if(lines_.begin(), lines_.end(),
                                 [&](const Line& other) { return other.number == number; });
    const bool held = at != lines_.end();
    if (held) {
      line = *at;
      lines_.erase(at);
    } else if (lines_.size() == ways) {
      auto leaves = lines_.end() - 1;
      while (leaves != lines_.begin() && leaves->changed == Access::reduce) --leaves;
      if (leaves->changed == Access::reduce) leaves = lines_.end() - 1;
      for (auto older = leaves; older != lines_.end(); ++older) {
        if (older->changed != Access::read) written.push_back(older->number);
        older->changed = Access::read;
      }
      lines_.erase(leaves);
    }
    if (changes(access)) line.changed = access;
    lines_.push_front(line);
    return held;
  }
  void clean(size_t dirty_ways) {
    for (size_t age = dirty_ways; age < lines_.size(); ++age) {
      if (lines_[age].changed != Access::write) continue;
      lines_[age].changed = Access::read;
      written.push_back(lines_[age].number);
    }
  }
  void drop(int64_t number) {
    std::erase_if(lines_, [&](const Line& line) { return line.number == number; });
  }
  bool holds(int64_t number) const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const Line& line) { return line.number == number; });
  }

  std::vector<int64_t> written;

 private:
  struct Line {
    int64_t number;
    Access changed;  // read: it is clean
  };
  std::deque<Line> lines_;
};

struct LineCounts {
  int64_t near_misses = 0;
  int64_t fabric_reads = 0;
  int64_t fabric_misses = 0;
  int64_t dram_reads = 0;
  int64_t write_misses = 0;
  int64_t dram_writes = 0;
};

class LineEngine {
 public:
  /// Hashed sets. Where a line lies is the model's own function; lookups, replacement and counting
  /// are written anew.
  LineEngine(const HalvesParameters& parameters, int64_t sets, int64_t lines)
      : parameters_(parameters), sets_(static_cast<size_t>(sets)) {
    for (auto& half : halves_) half.resize(sets_);
    SetPlacement placement(parameters, sets);
    int64_t of_home[2] = {0, 0};
    constexpr int64_t lines_per_atom = 4;
    for (int64_t line = 0; line < lines; ++line) {
      const auto turn = mix64(static_cast<uint64_t>(line / lines_per_atom)) +
                        static_cast<uint64_t>(line % lines_per_atom);
      const int home = static_cast<int>(turn % 2);
      home_.push_back(home);
      set_.push_back(static_cast<size_t>(placement.set_of(of_home[home]++, home)));
    }
  }

  /// Halves of one set each, of lines with these homes.
  LineEngine(int64_t capacity_lines, std::vector<int> homes)
      : parameters_{.ways = static_cast<int>(capacity_lines)},
        sets_(1),
        home_(std::move(homes)),
        set_(home_.size(), 0) {
    for (auto& half : halves_) half.resize(1);
  }

  void read(int64_t line, int half) {
    if (touch(half, line, Access::read)) return;
    ++counts_.near_misses;
    const int home = home_[static_cast<size_t>(line)];
    if (half == home) {
      ++counts_.dram_reads;
      return;
    }
    ++counts_.fabric_reads;
    if (touch(home, line, Access::read)) return;
    ++counts_.fabric_misses;
    ++counts_.dram_reads;
  }

  void write(int64_t line, int half) {
    const int home = home_[static_cast<size_t>(line)];
    counts_.write_misses += !touch(home, line, Access::write);
    if (half != home)
      touch(half, line, Access::read);
    else
      drop(1 - home, line);
  }

  int home(int64_t line) const { return home_[static_cast<size_t>(line)]; }
  bool holds_at_home(int64_t line) const {
    return halves_[home(line)][set_[static_cast<size_t>(line)]].holds(line);
  }
  void remove(int64_t line) {
    drop(0, line);
    drop(1, line);
  }
  void reduce(int64_t line) {
    const int home = home_[static_cast<size_t>(line)];
    counts_.dram_reads += !touch(home, line, Access::reduce);
    drop(1 - home, line);
  }

  LineCounts counts() const {
    LineCounts counts = counts_;
    for (const auto& half : halves_)
      for (const ListedSet& set : half) counts.dram_writes += std::ssize(set.written);
    return counts;
  }

 private:
  void drop(int half, int64_t line) { halves_[half][set_[static_cast<size_t>(line)]].drop(line); }

  size_t ways_of(size_t set) const {
    const auto reduced = static_cast<size_t>(
        std::llround(parameters_.reserved * double(sets_) * double(parameters_.ways)));
    return static_cast<size_t>(parameters_.ways) - (set < reduced ? 1 : 0);
  }

  bool touch(int half, int64_t line, Access access) {
    const size_t number = set_[static_cast<size_t>(line)];
    ListedSet& set = halves_[half][number];
    const bool held = set.touch(line, ways_of(number), access);
    if (parameters_.dirty_ways > 0) set.clean(static_cast<size_t>(parameters_.dirty_ways));
    return held;
  }

  HalvesParameters parameters_;
  size_t sets_;
  std::vector<int> home_;
  std::vector<size_t> set_;
  std::vector<ListedSet> halves_[2];
  LineCounts counts_;  // but for dram_writes
};

}  // namespace sawtooth::sim
