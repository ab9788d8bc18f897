// Packed query heads: what is read how often, by hand.
#include <gtest/gtest.h>

#include "scheduler/tiling.hpp"
#include "tests/support/visit_script.hpp"

namespace sawtooth::sim {
namespace {

// Decode: one query position, three heads for each of two K/V heads, two K/V tiles. Each worker has
// a whole group; tiles 0 and 1 of K and V are the first K/V head's, 2 and 3 the second one's.
TEST(PackGqa, DecodeReadsEachKvTileOnceForAllHeadsOfItsGroup) {
  const Problem problem{.heads = 6, .kv_heads = 2, .seq_q = 1, .seq_kv = 128, .head_dim = 64};
  Request request;
  request.problem = packed(problem);
  request.tiling = packed(Tiling{64, 64}, problem);
  request.schedule.workers = 2;
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 1Rq1 0Rk0 1Rk2 0Rv0 1Rv2 0Rk1 1Rk3 0Rv1 1Rv3 0Wo0 1Wo1");
  // Three rows of 128 bytes a group.
  const AtomTable atoms(request);
  EXPECT_EQ(atoms.size(atoms.id(Tensor::q, 0, 0)).lines, 3u);
  EXPECT_EQ(atoms.size(atoms.id(Tensor::o, 1, 0)).sectors, 12u);
}

}  // namespace
}  // namespace sawtooth::sim
