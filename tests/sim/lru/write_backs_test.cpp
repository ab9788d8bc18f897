// Histograms of distances, and write-backs beside them.

#include <algorithm>
#include <array>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/lru/distance_histogram.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

TEST(DistanceHistogram, ACapacityMissesItsOwnDistanceAndHitsOneBelow) {
  DistanceClass distances;
  distances.add(10, 3);
  distances.add(11, 5);
  distances.add(0, 7);
  distances.add_cold(100);
  EXPECT_EQ(distances.misses(0), 115);  // no cache: everything
  EXPECT_EQ(distances.misses(1), 108);  // only immediate repetitions hit
  EXPECT_EQ(distances.misses(10), 108);
  EXPECT_EQ(distances.misses(11), 105);
  EXPECT_EQ(distances.misses(12), 100);  // only the cold ones are left
  EXPECT_EQ(distances.sectors(), 115);
}

struct LineCounts {
  int64_t reads_missed = 0;
  int64_t writes_missed = 0;
  int64_t filled = 0;  // by reductions
  int64_t written_back = 0;
  friend bool operator==(const LineCounts&, const LineCounts&) = default;
};

// A direct LRU of lines with dirty bits, at a capacity of its own: sectors by tensor.
class DirtyLineLru : public WavefrontSink {
 public:
  DirtyLineLru(const AtomTable& atoms, int64_t capacity_lines)
      : atoms_(atoms), capacity_(capacity_lines), first_line_{0} {
    for (const AtomSize& size : atoms.sizes())
      first_line_.push_back(first_line_.back() + size.lines);
  }

  void touch(int64_t, AtomId atom, Access access) {
    const AtomSize size = atoms_.size(atom);
    for (uint32_t line = 0; line < size.lines; ++line) {
      const int64_t sectors =
          std::min(sectors_per_line, int64_t{size.sectors} - line * sectors_per_line);
      this->access({first_line_[atom] + line, sectors, atoms_.tensor_of(atom), false}, access);
    }
  }

  std::array<LineCounts, tensor_count> of_tensor{};

 private:
  struct Line {
    int64_t number = 0;
    int64_t sectors = 0;
    Tensor tensor = Tensor::q;
    bool dirty = false;
  };

  LineCounts& of(const Line& line) { return of_tensor[static_cast<size_t>(line.tensor)]; }

  void access(Line line, Access access) {
    const auto found = std::find_if(stack_.begin(), stack_.end(),
                                    [&](const Line& held) { return held.number == line.number; });
    if (found != stack_.end()) {
      line.dirty = found->dirty;
      stack_.erase(found);
    } else if (access == Access::reduce) {
      of(line).filled += line.sectors;
    } else if (access == Access::write) {
      of(line).writes_missed += line.sectors;
    } else {
      of(line).reads_missed += line.sectors;
    }
    line.dirty |= access == Access::write || access == Access::reduce;
    stack_.insert(stack_.begin(), line);
    if (static_cast<int64_t>(stack_.size()) <= capacity_) return;
    if (stack_.back().dirty) of(stack_.back()).written_back += stack_.back().sectors;
    stack_.pop_back();
  }

  const AtomTable& atoms_;
  int64_t capacity_;
  std::vector<int64_t> first_line_;
  std::vector<Line> stack_;  // the most recent first
};

RC_GTEST_PROP(WriteBacks, EqualADirectLruOfDirtyLinesAtEveryCapacity, ()) {
  Request request = tests::any_backward_request();
  request.merge_lockstep = tests::between(0, 1) == 1;
  const AtomTable atoms(request);
  Prediction prediction = simulate_lru(request);
  for (const int64_t capacity : {int64_t{0}, tests::between(1, 60), tests::between(60, 700)}) {
    DirtyLineLru lines(atoms, capacity);
    LockstepWavefront(request, atoms, lines).run();
    prediction.total = {};
    count_all(prediction, capacity);
    for (size_t t = 0; t < size_t{tensor_count}; ++t) {
      const Counters& counters = prediction.by_tensor[t];
      const LineCounts& expected = lines.of_tensor[t];
      const LineCounts found{*counters.l2_read_miss_sectors, *counters.l2_write_miss_sectors,
                             *counters.dram_read_sectors - *counters.l2_read_miss_sectors,
                             *counters.dram_write_sectors};
      RC_ASSERT(found == expected);
    }
  }
}

// Two K/V tiles and two Q tiles of one row each, one worker. A row of Q, dO, K, V, dK, dV is a
// line, numbers of a row take a line of one sector, and a row of fp32 sums takes two lines. In
// lines, k0 v0 (q l o r D D) x 2 dk0 dv0, and the same for tile 1.
Request two_by_two(int64_t capacity_lines) {
  Request request;
  request.problem = {.seq_q = 2, .seq_kv = 2, .pass = Pass::backward};
  request.tiling = {1, 1};
  request.l2_bytes = capacity_lines * line_bytes;
  return request;
}

TEST(WriteBacks, StayOpenInAForwardPass) {
  Request request = two_by_two(16);
  request.problem.pass = Pass::forward;
  const Counters total = simulate_lru(request).total;
  EXPECT_FALSE(total.dram_write_sectors.has_value());
  EXPECT_FALSE(total.l2_reduction_sectors.has_value());
}

}  // namespace
}  // namespace sawtooth::sim
