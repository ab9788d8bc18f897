// A fully associative LRU of weighted atoms with a fixed capacity, O(1) a touch.
//
// An atom of weight T whose more recent atoms weigh D hits when D + T fits: the same test as the
// exact stack distance of its lines (docs/models/exactness.md, A). An atom that once does not fit
// never fits again before its next touch, so the list is cut at its tail.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

class AtomLru {
 public:
  using Entry = uint32_t;

  AtomLru(size_t entries, int64_t capacity) : links_(entries + 1), capacity_(capacity) {}

  /// Makes room for entries 0 to `entries` - 1.
  void grow(size_t entries) { links_.resize(std::max(links_.size(), entries + 1)); }

  bool holds(Entry entry) const { return links_[entry + 1].weight > 0; }

  /// Makes `entry` the most recent one, now of `weight`, and returns whether it was held.
  /// `evicted(entry, dirty)` is called for each entry that no longer fits; one heavier than the
  /// capacity leaves at once.
  template <class Evicted>
  bool touch(Entry entry, int64_t weight, bool write, Evicted evicted) {
    Link& link = links_[entry + 1];
    const bool held = link.weight > 0;
    if (held) {
      unlink(link);
    } else {
      link.dirty = false;
    }
    total_ += weight - link.weight;
    link.weight = weight;
    link.dirty |= write;
    make_youngest(entry);
    while (total_ > capacity_) {
      const Entry oldest = links_[ring].younger - 1;
      const bool dirty = drop(oldest);
      evicted(oldest, dirty);
    }
    return held;
  }

  /// Forgets a held `entry` and returns whether it was dirty.
  bool drop(Entry entry) {
    Link& link = links_[entry + 1];
    unlink(link);
    total_ -= link.weight;
    link.weight = 0;
    return link.dirty;
  }

 private:
  // A ring through link 0, whose `older` is the most recent entry and whose `younger` the least
  // recent one; entries follow it.
  static constexpr Entry ring = 0;
  struct Link {
    Entry older = 0;
    Entry younger = 0;
    int64_t weight = 0;  // 0: not held
    bool dirty = false;
  };

  void unlink(const Link& link) {
    links_[link.younger].older = link.older;
    links_[link.older].younger = link.younger;
  }

  void make_youngest(Entry entry) {
    const Entry own = entry + 1;
    const Entry second = links_[ring].older;
    links_[own].older = second;
    links_[own].younger = ring;
    links_[second].younger = own;
    links_[ring].older = own;
  }

  std::vector<Link> links_;
  int64_t capacity_;
  int64_t total_ = 0;
};

}  // namespace sawtooth::sim
