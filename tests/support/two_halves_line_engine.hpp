// The obvious engines of the same two-half L2: one line at a time, lists and linear search, fully
// associative halves or sets. They exist to be compared with HalvesInStep.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <list>
#include <vector>

#include "sim/halves/sampled_sets.hpp"
#include "sim/halves/set_placement.hpp"

namespace sawtooth::sim {

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

  void write(int64_t line, int home, int half) {
    if (!touch(halves_[home], line, true)) ++counts_.write_misses;
    if (half != home)
      touch(halves_[half], line, false);
    else
      drop(1 - home, line);
  }

  void reduce(int64_t line, int home) {
    if (!touch(halves_[home], line, true)) ++counts_.write_misses;
    drop(1 - home, line);
  }

  const LineCounts& counts() const { return counts_; }

 private:
  struct Line {
    int64_t line = 0;
    bool dirty = false;
  };

  void drop(int half, int64_t line) {
    halves_[half].remove_if([&](const Line& held) { return held.line == line; });
  }

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
  LineCounts counts_;
};

/// The same with hashed sets: a list of lines a set and half. Where a line lies is the
/// model's own function; lookups, replacement and counting are written anew.
class SetEngine {
 public:
  SetEngine(const HalvesParameters& parameters, int64_t sets, int64_t lines)
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
    const auto& set = halves_[home(line)][set_[static_cast<size_t>(line)]];
    return std::any_of(set.begin(), set.end(), [&](const Held& held) { return held.line == line; });
  }
  void remove(int64_t line) {
    for (auto& half : halves_)
      half[set_[static_cast<size_t>(line)]].remove_if(
          [&](const Held& held) { return held.line == line; });
  }
  void reduce(int64_t line) {
    const int home = home_[static_cast<size_t>(line)];
    counts_.dram_reads += !touch(home, line, Access::reduce);
    drop(1 - home, line);
  }

  const LineCounts& counts() const { return counts_; }

 private:
  struct Held {
    int64_t line = 0;
    bool dirty = false;
    bool reduced = false;  // at its last change
  };

  void drop(int half, int64_t line) {
    halves_[half][set_[static_cast<size_t>(line)]].remove_if(
        [&](const Held& other) { return other.line == line; });
  }

  size_t ways_of(size_t set) const {
    const auto reduced = static_cast<size_t>(
        std::llround(parameters_.reserved * double(sets_) * double(parameters_.ways)));
    return static_cast<size_t>(parameters_.ways) - (set < reduced ? 1 : 0);
  }

  bool touch(int half, int64_t line, Access access) {
    const size_t number = set_[static_cast<size_t>(line)];
    const bool held = touch(halves_[half][number], ways_of(number), line, access);
    if (parameters_.dirty_ways > 0) clean(halves_[half][number]);
    return held;
  }

  void clean(std::list<Held>& set) {
    int younger = 0;
    for (Held& held : set) {
      if (younger++ < parameters_.dirty_ways || !held.dirty || held.reduced) continue;
      held.dirty = false;
      ++counts_.dram_writes;
    }
  }

  bool touch(std::list<Held>& set, size_t ways, int64_t line, Access access) {
    const auto at =
        std::find_if(set.begin(), set.end(), [&](const Held& held) { return held.line == line; });
    if (at != set.end()) {
      Held held = *at;
      set.erase(at);
      change(held, access);
      set.push_front(held);
      return true;
    }
    if (set.size() == ways) leave(set);
    Held held{.line = line};
    change(held, access);
    set.push_front(held);
    return false;
  }

  // The oldest line that is not dirty from a reduction; older ones are written back and stay.
  void leave(std::list<Held>& set) {
    auto leaves = std::find_if(set.rbegin(), set.rend(),
                               [](const Held& held) { return !held.dirty || !held.reduced; });
    if (leaves == set.rend()) leaves = set.rbegin();
    for (auto older = set.rbegin(); older != leaves; ++older) {
      older->dirty = false;
      ++counts_.dram_writes;
    }
    counts_.dram_writes += leaves->dirty;
    set.erase(std::next(leaves).base());
  }

  static void change(Held& held, Access access) {
    if (access == Access::read) return;
    held.dirty = true;
    held.reduced = access == Access::reduce;
  }

  HalvesParameters parameters_;
  size_t sets_;
  std::vector<int> home_;
  std::vector<size_t> set_;
  std::vector<std::list<Held>> halves_[2];
  LineCounts counts_;
};

}  // namespace sawtooth::sim
