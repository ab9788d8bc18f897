// Sets under LRU as rows of tags in the order in which they leave, the last one first to go. A
// touch is a search, and a shift of the tags before the place where it was found, or of all on a
// miss: with up to 16 ways a few instructions on one AVX-512 vector, whether it hits or misses.
// Only the first `dirty_ways` places may be dirty: a tag that passes the last of them is written
// back and stays. sim/sets/recency_sets.hpp does the same for lines that are never dirty.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/halves/piece.hpp"
#include "sim/lru/stack_distance.hpp"

namespace sawtooth::sim {

class RecencyRows {
 public:
  /// Tags are below this.
  static constexpr uint32_t no_tag = UINT32_MAX >> 1;

  /// The first `reduced_sets` sets have a way less; dirty_ways is 1 to `ways`. Throws
  /// std::invalid_argument when `path` cannot run here; sets of more than 16 ways take the scalar
  /// path, whatever it is.
  RecencyRows(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
              VectorPath path);

  /// Touches the tags first_tag + i for each i of `which`, in their order, in set sets[i]. Returns
  /// which were held; written_back() are the tags that were, in the meantime.
  PieceMask touch(const uint16_t* sets, uint32_t first_tag, PieceMask which, bool write) {
    written_back_.clear();
    return by_vectors_ ? touch_vectors(sets, first_tag, which, write)
                       : touch_scalar(sets, first_tag, which, write);
  }
  const std::vector<uint32_t>& written_back() const { return written_back_; }

  /// function(tag) for all that are held.
  template <class Function>
  void for_each_held(Function function) const {
    for (const Vector& vector : vectors_) {
      for (const uint32_t tag : vector.tags) {
        if ((tag & no_tag) != no_tag) function(tag & no_tag);
      }
    }
  }

  /// Empties the way of `tag` in `set`, if it is there.
  void drop(uint32_t set, uint32_t tag);

 private:
  static constexpr uint32_t dirty = ~no_tag;
  static constexpr uint32_t vector_ways = 16;
  struct alignas(64) Vector {
    uint32_t tags[vector_ways];
  };

  PieceMask touch_scalar(const uint16_t* sets, uint32_t first_tag, PieceMask which, bool write);
  PieceMask touch_vectors(const uint16_t* sets, uint32_t first_tag, PieceMask which, bool write);
  uint32_t* row(uint32_t set) { return vectors_[size_t{set} * vectors_a_row_].tags; }
  uint32_t ways_of(uint32_t set) const { return ways_ - (set < reduced_sets_ ? 1 : 0); }

  uint32_t ways_;
  uint32_t dirty_ways_;
  uint32_t reduced_sets_;
  bool by_vectors_;
  uint32_t vectors_a_row_;
  std::vector<Vector> vectors_;  // the row of a set begins with a vector
  std::vector<uint32_t> written_back_;
};

}  // namespace sawtooth::sim
