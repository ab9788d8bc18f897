#include "sim/schedule/rows_past_the_end.hpp"

#include <gtest/gtest.h>

namespace sawtooth::sim {
namespace {

// Recorded on an H200 (experiments/data/h200/validation/development.csv and
// calibration_hopper.csv): what SMs received, less the rows that Q, K and V have.
struct Recorded {
  int64_t seq, head_dim;
  Tiling tiling;
  int64_t received;
};

TEST(RowsPastTheEnd, AreThoseThatTheHopperKernelReceived) {
  for (const Recorded& one : {
           Recorded{46592, 128, {.q_rows = 128, .kv_rows = 176}, 279'552},
           Recorded{87552, 128, {.q_rows = 128, .kv_rows = 176}, 1'050'624},
           Recorded{114688, 64, {.q_rows = 192, .kv_rows = 128}, 512},
           Recorded{161792, 64, {.q_rows = 192, .kv_rows = 128}, 256},
       }) {
    Request request;
    request.problem = {.seq_q = one.seq, .seq_kv = one.seq, .head_dim = one.head_dim};
    request.tiling = one.tiling;
    request.schedule.workers = 132;
    request.whole_tiles = true;
    Prediction prediction;
    prediction.total.sm_read_sectors = 0;
    add_rows_past_the_end(request, prediction);
    EXPECT_EQ(prediction.total.sm_read_sectors, one.received) << one.seq;
  }
}

// 200 queries and keys in tiles of 64 queries and 48 keys: 4 Q tiles, 5 K/V tiles, 40 keys of the
// last. Under a causal mask Q tile 3 (rows 192 to 199) alone sees keys from 192 on: one item of
// two heads each reads 40 keys too many of K and V, and 56 rows too many of Q.
TEST(RowsPastTheEnd, OfItemsThatReadTheLastTileAlone) {
  Request request;
  request.problem = {.heads = 2, .kv_heads = 1, .seq_q = 200, .seq_kv = 200, .head_dim = 64};
  request.problem.mask.kind = MaskKind::causal;
  request.tiling = {.q_rows = 64, .kv_rows = 48};
  request.schedule.workers = 4;
  request.whole_tiles = true;
  Prediction prediction;
  prediction.total.sm_read_sectors = 1000;
  add_rows_past_the_end(request, prediction);
  constexpr int64_t row_sectors = 64 * 2 / 32;
  EXPECT_EQ(prediction.total.sm_read_sectors, 1000 + 2 * (56 + 2 * 40) * row_sectors);
  EXPECT_EQ(prediction.by_tensor[static_cast<size_t>(Tensor::q)].sm_read_sectors,
            2 * 56 * row_sectors);
  request.whole_tiles = false;
  Prediction exact;
  exact.total.sm_read_sectors = 1000;
  add_rows_past_the_end(request, exact);
  EXPECT_EQ(exact.total.sm_read_sectors, 1000);
}

}  // namespace
}  // namespace sawtooth::sim
