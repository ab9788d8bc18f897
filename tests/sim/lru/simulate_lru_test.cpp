#include "sim/lru/simulate_lru.hpp"

#include <algorithm>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/line_histogram.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

RC_GTEST_PROP(SimulateLru, TileHistogramEqualsTheLineLevelOneBinByBin, ()) {
  Request request = tests::any_request();
  request.schedule.prefetch = tests::between(0, 3);
  request.merge_lockstep = tests::between(0, 1) == 1;
  const AtomTable atoms(request);
  tests::LineLevelHistogram lines(atoms);
  LockstepWavefront(request, atoms, lines).run();
  RC_ASSERT(lines.is(simulate_lru(request).histogram));
}

// A direct LRU of whole schedules, line by line, at a capacity of its own.
class LineLevelLru : public WavefrontSink {
 public:
  LineLevelLru(const AtomTable& atoms, int64_t capacity_lines)
      : atoms_(atoms), capacity_(capacity_lines), first_line_{0} {
    for (const AtomSize& size : atoms.sizes())
      first_line_.push_back(first_line_.back() + size.lines);
  }

  void touch(int64_t, AtomId atom, Access) {
    for (uint32_t line = 0; line < atoms_.size(atom).lines; ++line)
      access(first_line_[atom] + line, min_of(sectors_per_line, int64_t{atoms_.size(atom).sectors} -
                                                                    line * sectors_per_line));
  }

  int64_t miss_sectors = 0;

 private:
  void access(int64_t line, int64_t sectors) {
    const auto found = std::find(stack_.begin(), stack_.end(), line);
    if (found != stack_.end())
      stack_.erase(found);
    else
      miss_sectors += sectors;
    stack_.insert(stack_.begin(), line);
    if (int64_t(stack_.size()) > capacity_) stack_.pop_back();
  }

  const AtomTable& atoms_;
  int64_t capacity_;
  std::vector<int64_t> first_line_;
  std::vector<int64_t> stack_;  // the most recent first
};

RC_GTEST_PROP(SimulateLru, CountersEqualADirectLruOfLines, ()) {
  const Request request = tests::any_request();
  const AtomTable atoms(request);
  LineLevelLru lru(atoms, request.l2_bytes / line_bytes);
  LockstepWavefront(request, atoms, lru).run();
  const Prediction prediction = simulate_lru(request);
  RC_ASSERT(*prediction.total.l2_read_miss_sectors + *prediction.total.l2_write_miss_sectors ==
            lru.miss_sectors);
}

// Notes every atom and counts the sectors that pass.
class TouchedAtoms : public WavefrontSink {
 public:
  explicit TouchedAtoms(const AtomTable& atoms) : atoms_(atoms), seen_(atoms.sizes().size()) {}
  void touch(int64_t, AtomId atom, Access) {
    accessed_sectors += atoms_.size(atom).sectors;
    if (!seen_[atom]) footprint_sectors += atoms_.size(atom).sectors;
    seen_[atom] = true;
  }
  int64_t accessed_sectors = 0;
  int64_t footprint_sectors = 0;

 private:
  const AtomTable& atoms_;
  std::vector<bool> seen_;
};

TEST(SimulateLru, TilesThatWouldShareALineAreRefused) {
  Request request;
  request.problem = {.seq_q = 10, .seq_kv = 10, .head_dim = 32};
  request.tiling = {.q_rows = 2, .kv_rows = 3};  // 3 rows of 64 bytes: a line and a half
  EXPECT_THROW(simulate_lru(request), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
