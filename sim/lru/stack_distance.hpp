// Exact LRU stack distances of weighted atoms, all capacities in one pass.
//
// Time is a row of slots, and each atom owns the slot of its last visit. The distance of a visit
// is the weight of all owned slots less that of the slots up to the atom's own (Bennett and
// Kruskal, IBM J. R&D 19(4), 1975, with atoms for lines: docs/models/exactness.md, A). Slots are
// bits, 64 to a leaf. Above the leaves stands a tree of 16 children a node; a node holds, for each
// child, the weight of the children before it (Pibiri and Venturini, "Practical trade-offs for the
// prefix-sum problem", Software: Practice and Experience 51(5), 2021). So a visit reads one number
// a level and takes its weight from all later ones of that node in one or a few vector
// instructions; only an atom's first visit takes another branch. Its new slot is the last of all:
// the bit is set, and sums follow when a leaf is full. Mixed sizes have a bit plane for each binary
// digit of their weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/big_pages.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// Distance of line `line` of an atom of `lines` lines, `others` being what visit() returned. A
/// visit is turned when it touches the lines in the opposite order of the atom's last visit.
constexpr int64_t line_distance(int64_t others, uint32_t lines, uint32_t line, bool turned) {
  return others + lines - 1 - (turned ? line : 0);
}

class StackDistance {
 public:
  static constexpr int64_t cold = -1;

  /// Sizes are weights in lines, together less than 2^32 times their greatest common divisor; an
  /// atom without lines is never visited. Throws std::invalid_argument otherwise.
  explicit StackDistance(std::span<const AtomSize> sizes);

  /// Gives the next number to an atom of `lines` lines. May come between visits: a new size costs
  /// about a visit to every atom. Throws as the constructor does.
  void add(uint32_t lines);

  /// Visits `atoms` in turn. distances[i] is the lines of the distinct other atoms visited since
  /// the last visit to atoms[i], or `cold` at its first. An access to each of its lines then has
  /// this distance plus its own lines - 1. Many visits in one call are fastest: the next ones are
  /// fetched ahead. Throws std::invalid_argument when `distances` is shorter than `atoms`.
  void visit(std::span<const AtomId> atoms, std::span<int64_t> distances);

  /// The next visit to any of `atoms` is a first one; what they weighed stays where it was in the
  /// stack, for the distances of others. Their memory is bounded by what was visited since the last
  /// visit to any atom that is not forgotten.
  void forget(AtomRange atoms);

  /// One visit, and its distance.
  int64_t visit(AtomId atom) {
    int64_t distance = 0;
    visit({&atom, 1}, {&distance, 1});
    return distance;
  }

  /// The atoms visited so far and not forgotten, the most recent first: the LRU stack.
  std::vector<AtomId> recency_order() const;

  /// Slots of time held at present: bounded by a multiple of the atoms visited, not of the visits.
  int64_t slots() const { return slots_; }

 private:
  static constexpr uint32_t never = UINT32_MAX;
  static constexpr uint32_t leaf_slots = 64;  // bits of a word
  static constexpr uint32_t fan_out = 16;     // 32-bit sums of a cache line
  static constexpr int max_levels = 7;        // 64 * 16^7 slots are more than 2^32
  // Gaps are closed when all slots are used. Eight slots, which is a byte, for every live atom make
  // that rare: a visit costs some nanoseconds, and one atom at that time about as much.
  static constexpr uint32_t slots_per_atom = 8;
  static constexpr uint32_t initial_slots = leaf_slots * fan_out;
  static constexpr uint32_t most_slots = UINT32_MAX / leaf_slots * leaf_slots;
  static constexpr uint32_t most_atoms = most_slots / 2;
  // Far enough for a load from memory, near enough to stay in the first-level cache.
  static constexpr size_t visits_fetched_ahead = 16;
  // With so many slots leaves and their sums are no longer in the second-level cache either.
  static constexpr uint32_t far_slots = uint32_t{1} << 24;

  struct alignas(64) Sums {
    uint32_t before[fan_out];
  };
  struct Owned {
    uint64_t slots = 0;   // the owned slots of a leaf, as bits
    uint32_t before = 0;  // how many earlier leaves have
  };

  template <bool one_size>
  void visit_all(std::span<const AtomId> atoms, int64_t* distances);
  template <bool one_size>
  void fill_leaf(std::span<const AtomId> atoms, size_t count, int64_t* distances);
  void own(uint32_t slot, uint32_t weight);
  void close_leaf();
  void make_room(uint32_t finer = 1);
  void drop_before(uint32_t slot, uint32_t finer);
  bool too_heavy(int64_t more_lines, uint32_t unit) const;
  void require_lighter(int64_t more_lines, uint32_t unit) const;
  void allocate(uint32_t slots);
  std::vector<Owned> owned_slots() const;
  uint32_t weight_of(size_t atom) const { return weights_.empty() ? 1 : weights_[atom]; }
  static uint32_t rank(const std::vector<Owned>& owned, uint32_t slot);

  uint32_t unit_lines_ = 0;  // greatest common divisor of all sizes
  int64_t all_lines_ = 0;
  int64_t forgotten_lines_ = 0;         // of slots that are still owned
  uint32_t digits_ = 0;                 // of all weights together
  std::vector<uint32_t> weights_;       // size / unit_lines_; empty while all are 1
  std::vector<uint32_t> planes_;        // which binary digits occur in weights
  BigVector<uint32_t> slot_;            // last visit of every atom, or never
  BigVector<uint64_t> leaves_;          // [leaf][plane]: digits of the weights that slots own
  BigVector<Sums> levels_[max_levels];  // over leaves, over 16 leaves, over 256 leaves ...
  int level_count_ = 0;
  uint32_t slots_ = initial_slots;
  uint32_t now_ = 0;    // the next free slot; sums of later leaves and nodes mean nothing yet
  uint32_t total_ = 0;  // weight of all slots that are owned
  uint32_t live_ = 0;   // how many slots these own, with those of the forgotten
};

// Visits go through the stack of distances many at a time.

/// `Visit` has the atom that it visits.
template <class Visit>
class DistanceBatch {
 public:
  /// Keeps `visit`, and once there are enough of them flushes.
  template <class Count>
  void add(const Visit& visit, StackDistance& stack, Count count) {
    visits_[size_] = visit;
    visited_[size_] = visit.atom;
    if (++size_ == visits_at_a_time) flush(stack, count);
  }

  /// Whether no visit waits.
  bool empty() const { return size_ == 0; }

  /// Calls count(visit, distance in `stack`) for all that wait, in their order.
  template <class Count>
  void flush(StackDistance& stack, Count count) {
    stack.visit(std::span(visited_).first(size_), distances_);
    for (size_t i = 0; i < size_; ++i) count(visits_[i], distances_[i]);
    size_ = 0;
  }

 private:
  // Enough to fetch ahead, few enough for the first-level cache.
  static constexpr size_t visits_at_a_time = 512;

  size_t size_ = 0;
  std::array<Visit, visits_at_a_time> visits_;
  std::array<AtomId, visits_at_a_time> visited_;
  std::array<int64_t, visits_at_a_time> distances_;
};

}  // namespace sawtooth::sim
