// Sectors by tensor and kind of access, for models that count at one capacity, and the counters
// that they make: those of count_lru() (sim/lru/simulate_lru.hpp), with the same meaning.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/counters.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

class AccessTally {
 public:
  explicit AccessTally(const AtomTable& atoms) : atoms_(atoms), touched_(atoms.sizes().size(), 0) {}

  /// Counts the accesses of `visit`, and the first touch of its atom. Returns the row that its
  /// misses belong to.
  uint8_t accessed(const Visit& visit) {
    const auto tensor = static_cast<size_t>(atoms_.tensor_of(visit.atom));
    const size_t row = tensor * access_count + static_cast<size_t>(visit.access);
    const int64_t sectors = atoms_.size(visit.atom).sectors;
    rows_[row].accessed += sectors * visit.times;
    if (touched_[visit.atom] == 0) rows_[row].cold += sectors;
    touched_[visit.atom] = 1;
    visits_ += visit.times;
    return static_cast<uint8_t>(row);
  }

  void missed(uint8_t row, int64_t sectors) { rows_[row].missed += sectors; }

  /// Visits of single workers so far.
  int64_t visits() const { return visits_; }

  Counters counters(Tensor tensor) const {
    const auto of = [&](Access access) {
      return rows_[static_cast<size_t>(tensor) * access_count + static_cast<size_t>(access)];
    };
    const Row read = of(Access::read);
    const Row prefetch = of(Access::prefetch);
    const Row write = of(Access::write);
    Counters counters;
    counters.sm_read_sectors = read.accessed;
    counters.l2_read_sectors = read.accessed + prefetch.accessed;
    counters.l2_read_miss_sectors = read.missed + prefetch.missed;
    counters.l2_write_sectors = write.accessed;
    counters.l2_write_miss_sectors = write.missed;
    counters.dram_read_sectors = counters.l2_read_miss_sectors;
    counters.cold_read_sectors = read.cold + prefetch.cold;
    return counters;
  }

 private:
  struct Row {
    int64_t accessed = 0;
    int64_t missed = 0;
    int64_t cold = 0;
  };

  const AtomTable& atoms_;
  std::vector<uint8_t> touched_;
  std::array<Row, size_t{tensor_count} * size_t{access_count}> rows_{};
  int64_t visits_ = 0;
};

}  // namespace sawtooth::sim
