// A fully associative LRU of weighted atoms with a fixed capacity, O(1) a touch.
//
// An atom of weight T whose more recent atoms weigh D hits when D + T fits: the same test as the
// exact stack distance of its lines (docs/models/exactness.md, A). An atom that once does not fit
// never fits again before its next touch, so the list is cut at its tail.
#pragma once

#include <cstdint>
#include <vector>

namespace sawtooth::sim {

class AtomLru {
 public:
  using Entry = uint32_t;

  AtomLru(size_t entries, int64_t capacity)
      : links_(entries + 1), capacity_(capacity), head_(static_cast<Entry>(entries)) {
    links_[head_].older = links_[head_].younger = head_;
  }

  bool holds(Entry entry) const { return links_[entry].weight > 0; }

  /// Makes `entry` the most recent one, now of `weight`, and returns whether it was held.
  /// `evicted(entry, dirty)` is called for each entry that no longer fits; one heavier than the
  /// capacity leaves at once.
  template <class Evicted>
  bool touch(Entry entry, int64_t weight, bool write, Evicted evicted) {
    Link& link = links_[entry];
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
      const Entry oldest = links_[head_].younger;
      const bool dirty = drop(oldest);
      evicted(oldest, dirty);
    }
    return held;
  }

  /// Forgets a held `entry` and returns whether it was dirty.
  bool drop(Entry entry) {
    Link& link = links_[entry];
    unlink(link);
    total_ -= link.weight;
    link.weight = 0;
    return link.dirty;
  }

 private:
  // A ring through the sentinel head_: its `older` is the most recent entry, its `younger` the
  // least recent one.
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
    const Entry second = links_[head_].older;
    links_[entry].older = second;
    links_[entry].younger = head_;
    links_[second].younger = entry;
    links_[head_].older = entry;
  }

  std::vector<Link> links_;
  int64_t capacity_;
  int64_t total_ = 0;
  Entry head_;
};

}  // namespace sawtooth::sim
