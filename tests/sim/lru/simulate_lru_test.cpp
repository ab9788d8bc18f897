#include "sim/lru/simulate_lru.hpp"

#include <stdexcept>

#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/line_histogram.hpp"
#include "tests/support/property.hpp"
#include "tests/support/same_predictions.hpp"

namespace sawtooth::sim {
namespace {

RC_GTEST_PROP(SimulateLru, TileHistogramEqualsTheLineLevelOneBinByBin, ()) {
  Request request = tests::any_request();
  request.schedule.prefetch = tests::between(0, 3);
  request.merge_lockstep = tests::between(0, 1) == 1;
  const AtomTable atoms(request);
  tests::LineLevelHistogram lines(atoms);
  LockstepWavefront(request, atoms, lines).run();
  RC_ASSERT(tests::same_histogram(lines.histogram, simulate_lru(request).histogram));
}

TEST(SimulateLru, TilesThatWouldShareALineAreRefused) {
  Request request;
  request.problem = {.seq_q = 10, .seq_kv = 10, .head_dim = 32};
  request.tiling = {.q_rows = 2, .kv_rows = 3};  // 3 rows of 64 bytes: a line and a half
  EXPECT_THROW(simulate_lru(request), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
