// A cache that evicts the least recently used lines, softly: the victim is a random line among the
// oldest `old_share` of the capacity. Share 0 is the plain LRU.
//
// Evidence (experiments/measured/h200/stream_counters.csv, `all`): of 32 MiB that an H200 reads in
// circles, halves of 30 MiB still find 27 % again, where LRU finds nothing, and of a buffer read
// back and forth they find 29.2 MiB. Coarse ages (as of not-recently-used policies) do exactly
// this.
//
// Randomness is averaged over the lines of a tile, so the model is deterministic: every old entry
// loses lines at the same rate, and keeps exp(-loss since it became old) of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace sawtooth::sim {

class SoftLru {
 public:
  using Entry = uint32_t;

  /// `capacity` in lines; 0 <= old_share < 1.
  SoftLru(size_t entries, double capacity, double old_share)
      : links_(entries + 1),
        capacity_(capacity),
        young_capacity_(capacity * (1 - old_share)),
        head_(static_cast<Entry>(entries)) {
    links_[head_].older = links_[head_].younger = head_;
  }

  /// Share of the entry's lines that are held, in [0, 1].
  double held(Entry entry) const {
    const Link& link = links_[entry];
    if (link.lines <= 0) return 0;
    return link.young ? 1 : std::exp(link.loss_before - loss_);
  }

  /// Makes all `lines` of `entry` the most recent ones and returns which share was held before.
  double touch(Entry entry, float lines) {
    Link& link = links_[entry];
    if (link.young && link.lines > 0) {
      if (links_[head_].older == entry) return 1;
      unlink(link);
      make_youngest(entry);
      return 1;
    }
    const double share = held(entry);
    old_lines_ -= share * double(link.lines);
    link.lines = lines;
    link.young = true;
    young_lines_ += double(lines);
    make_youngest(entry);
    shrink();
    return share;
  }

  /// Forgets `entry`.
  void drop(Entry entry) {
    Link& link = links_[entry];
    if (link.lines <= 0) return;
    if (link.young) {
      unlink(link);
      young_lines_ -= double(link.lines);
    } else {
      old_lines_ -= held(entry) * double(link.lines);
    }
    link.lines = 0;
    link.young = false;
  }

 private:
  // A ring through the sentinel head_ holds the young entries: its `older` is the most recent one,
  // its `younger` the least recent one.
  struct Link {
    Entry older = 0;
    Entry younger = 0;
    float lines = 0;
    bool young = false;
    double loss_before = 0;  // loss_ when the entry became old
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

  void shrink() {
    while (young_lines_ > young_capacity_) {
      const Entry oldest = links_[head_].younger;
      Link& link = links_[oldest];
      unlink(link);
      link.young = false;
      young_lines_ -= double(link.lines);
      if (young_capacity_ == capacity_) {  // plain LRU: what does not fit whole has left
        link.lines = 0;
        continue;
      }
      link.loss_before = loss_;
      old_lines_ += double(link.lines);
    }
    const double excess = young_lines_ + old_lines_ - capacity_;
    if (excess <= 0) return;
    if (excess >= old_lines_) {
      loss_ += all_lost;
      old_lines_ = 0;
    } else {
      loss_ -= std::log1p(-excess / old_lines_);
      old_lines_ -= excess;
    }
  }

  static constexpr double all_lost = 800;  // exp(-800) is 0 in double precision

  std::vector<Link> links_;
  double capacity_;
  double young_capacity_;
  double young_lines_ = 0;
  double old_lines_ = 0;
  double loss_ = 0;  // logarithm of the share that old lines have lost since the start
  Entry head_;
};

}  // namespace sawtooth::sim
