// Exact LRU stack distances of weighted atoms, all capacities in one pass.
//
// Time is a row of slots, and each atom owns the slot of its last visit. The distance of a visit
// is the weight of the owned slots after the atom's own (Bennett and Kruskal, IBM J. R&D 19(4),
// 1975, with atoms for lines: docs/exactness.md, A). Slots are bits, 512 to a block; a 16-ary tree
// above the blocks holds their weights. A visit masks and counts the bits of one block; only when
// its block is not the last visit's does it add one cache line of sums a level, and neighbours in
// time are mostly visited again as neighbours. Bit planes hold the binary digits of weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/atoms.hpp"

namespace sawtooth::sim {

/// What the inner loop is built from. `automatic` is the fastest that this CPU runs.
enum class VectorPath : uint8_t { automatic, scalar, avx512 };

/// Whether this build and this CPU can run `path`.
bool vector_path_available(VectorPath path);

/// Distance of line `line` of an atom of `lines` lines, `others` being what visit() returned. A
/// visit is turned when it touches the lines in the opposite order of the atom's last visit.
constexpr int64_t line_distance(int64_t others, uint32_t lines, uint32_t line, bool turned) {
  return others + lines - 1 - (turned ? line : 0);
}

class StackDistance {
 public:
  static constexpr int64_t cold = -1;

  /// Sizes are weights in lines, at least 1 each and together less than 2^32 times their greatest
  /// common divisor. Throws std::invalid_argument otherwise, or when `path` cannot run here.
  explicit StackDistance(std::span<const AtomSize> sizes, VectorPath path = VectorPath::automatic);

  /// Lines of the distinct other atoms visited since the last visit to `atom`, or `cold` at its
  /// first. An access to each of its lines then has this distance plus the lines of `atom` - 1.
  int64_t visit(AtomId atom) {
    return path_ == VectorPath::avx512 ? visit_avx512(atom) : visit_scalar(atom);
  }

  /// The atoms visited so far, the most recent first: the LRU stack.
  std::vector<AtomId> recency_order() const;

  VectorPath path() const { return path_; }
  /// Slots of time held at present: bounded by a multiple of the atoms visited, not of the visits.
  int64_t slots() const { return int64_t(atom_of_.size()); }

 private:
  static constexpr uint32_t never = UINT32_MAX;
  static constexpr uint32_t block_slots = 512;  // bits of one cache line and of one AVX-512 vector
  static constexpr uint32_t block_words = block_slots / 64;
  static constexpr uint32_t fan_out = 16;  // 32-bit sums of one cache line
  static constexpr int max_levels = 6;     // 512 * 16^6 slots are more than 2^32
  // Room is made when all slots are used. A row of at least four times the live atoms makes that
  // rare at 4 bits an atom.
  static constexpr uint64_t slots_per_atom = 4;
  static constexpr uint64_t initial_slots = block_slots;

  struct alignas(64) CacheLine {
    uint64_t words[block_words];
  };
  struct alignas(64) Sums {
    uint32_t of[fan_out];
  };

  int64_t visit_scalar(AtomId atom);
  int64_t visit_avx512(AtomId atom);
  CacheLine* bits_of(uint32_t block) { return &bits_[size_t{block} * planes_.size()]; }
  void append(AtomId atom, uint32_t weight);
  void record(AtomId atom, uint32_t weight);
  void close_block();
  void make_room();
  void allocate(uint64_t slots);
  void move_cursor(uint32_t block);
  int64_t newer_than(uint32_t block, uint32_t newer, uint32_t weight);

  VectorPath path_;
  int64_t unit_lines_ = 1;                // greatest common divisor of all sizes
  std::vector<uint32_t> weights_;         // size / unit_lines_
  std::vector<uint32_t> planes_;          // which binary digits occur in weights
  std::vector<uint32_t> slot_;            // last visit of every atom, or never
  std::vector<AtomId> atom_of_;           // the atom that was visited at a slot
  std::vector<CacheLine> bits_;           // [block][plane]: digits of the weights that slots own
  std::vector<Sums> levels_[max_levels];  // weight of each closed block, of 16 blocks, of 256 ...
  int level_count_ = 0;
  uint32_t now_ = 0;           // the next free slot; it lies in the open block
  uint32_t open_weight_ = 0;   // of the open block, which is not in levels_ yet
  uint32_t live_ = 0;          // atoms visited so far
  uint32_t cursor_ = never;    // the closed block that the last visit took an atom from
  uint32_t after_cursor_ = 0;  // weight of the closed blocks after it
  uint32_t cursor_taken_ = 0;  // weight taken from it that levels_ still hold
};

}  // namespace sawtooth::sim
