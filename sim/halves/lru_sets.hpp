// Sets under LRU: of each set the numbers of its lines, the one used last first (recency_row.hpp).
//
// Only the first `dirty_ways` of these may be dirty: an older line is written back and stays. Which
// lines are dirty is kept beside, and whether one grew old or left is found when it is next touched
// or settle() asks. A line that a reduction was the last to change may be dirty at any age; when it
// would leave, it is written back and stays, and the oldest line that is not dirty from a reduction
// leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/halves/piece.hpp"
#include "sim/halves/set_placement.hpp"
#include "sim/recency_row.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// What an access is compiled for. `scalar` runs on every CPU that the build is for, `automatic` is
/// the fastest that this CPU runs.
enum class VectorPath : uint8_t { automatic, scalar, avx2, avx512 };

/// Whether this build and this CPU can run `path`.
inline bool vector_path_available(VectorPath path) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("bmi");
#else
  const bool avx2 = false, avx512 = false;
#endif
  return path == VectorPath::avx512 ? avx512 : path == VectorPath::avx2 ? avx2 : true;
}

class LruSets {
 public:
  /// Lines are below this.
  static constexpr uint32_t no_line = INT32_MAX;

  /// The first `reduced_sets` sets have a way less; dirty_ways is 1 to `ways`. Throws
  /// std::invalid_argument when `path` cannot run here; sets of more than RecencyRow::ways ways go
  /// line by line, whatever it is.
  LruSets(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
          VectorPath path = VectorPath::automatic);

  /// Makes room for lines below `lines`.
  void grow(size_t lines) {
    dirty_.grow(lines);
    reduced_.grow(lines);
  }

  /// Touches the lines first + i for each i of `which`, in their order. Returns which were held.
  PieceMask touch(const LineSets& sets, uint32_t first, PieceMask which, Access access) {
    if (access == Access::reduce) {
      if ((which & ~reduced_.from(first)) == 0) return (this->*renew_)(sets, first, which, reduced);
    } else if (access != Access::write && (dirty_.from(first) & which) == 0) {
      return (this->*renew_)(sets, first, which, 0);
    }
    return touch_lines(sets, first, which, access);
  }

  /// Forgets `line`, if it is held: what is dirty of it is lost.
  void drop(const LineSets& sets, uint32_t line);

  bool holds(const LineSets& sets, uint32_t line) const {
    return place_of(sets.of(line), line) < ways(sets.of(line));
  }

  /// Writes back the dirty lines that grew old or left.
  void settle(const LineSets& sets);

  /// function(line) for all that were written back since the last call.
  template <class Function>
  void take_written_back(Function function) {
    for (const uint32_t line : written_back_) function(line);
    written_back_.clear();
  }

 private:
  // Beside the number of a line in its set, where it is one of reduced_.
  static constexpr uint32_t reduced = 1u << 31;

  using Renew = PieceMask (LruSets::*)(const LineSets& sets, uint32_t first, PieceMask which,
                                       uint32_t flag);

  uint32_t* lines(uint32_t set) { return rows_[size_t{set} * rows_a_set_].tags; }
  const uint32_t* lines(uint32_t set) const { return rows_[size_t{set} * rows_a_set_].tags; }
  uint32_t ways(uint32_t set) const { return ways_ - (set < reduced_sets_ ? 1 : 0); }
  bool spares_oldest(uint32_t set) const { return (lines(set)[ways(set) - 1] & reduced) != 0; }
  uint32_t place_of(uint32_t set, uint32_t line) const;

  // Makes lines the youngest whose state a touch does not change: clean ones, or with `flag` =
  // reduced those of reduced_. Without `spares` any oldest line may leave.
  template <class Vector>
  PieceMask renew_by(const LineSets& sets, uint32_t first, PieceMask which, uint32_t flag,
                     bool spares);

  PieceMask renew_portable(const LineSets& sets, uint32_t first, PieceMask which, uint32_t flag);
  PieceMask renew_avx2(const LineSets& sets, uint32_t first, PieceMask which, uint32_t flag);
  PieceMask renew_avx512(const LineSets& sets, uint32_t first, PieceMask which, uint32_t flag);
  PieceMask renew_lines(const LineSets& sets, uint32_t first, PieceMask which, uint32_t flag);
  Renew renewer(VectorPath path) const;

  PieceMask touch_lines(const LineSets& sets, uint32_t first, PieceMask which, Access access);
  bool touch_line(uint32_t set, uint32_t line, Access access);
  void make_room(uint32_t set);
  void no_more_reduced(uint32_t line);
  void write_back(uint32_t line);

  uint32_t ways_, dirty_ways_, reduced_sets_, rows_a_set_;
  Renew renew_;
  std::vector<RecencyRow> rows_;    // no_line where a way is empty or a set has less
  std::vector<uint16_t> way_bits_;  // of each set, for AVX-512
  LineBits dirty_;
  LineBits reduced_;  // of dirty ones, those that a reduction was the last to change
  size_t reduced_lines_ = 0;
  std::vector<uint32_t> written_back_;
};

}  // namespace sawtooth::sim
