// What SMs read and write beside whole tiles.
#include "sim/schedule/beside_tiles.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "scheduler/scan.hpp"

namespace sawtooth::sim {
namespace {

Prediction with_words(const Request& request) {
  Prediction prediction;
  prediction.total.sm_read_sectors = 50'000;
  prediction.total.l2_write_sectors = 12'000;
  add_attach_words(request, prediction);
  return prediction;
}

// Causal, 16 tiles of 64 rows for 1,000 queries and keys: 1 + 2 + ... + 16 steps a head.
TEST(AttachWords, EveryStepWritesASector) {
  Request request;
  request.problem = {.heads = 3, .kv_heads = 3, .seq_q = 1000, .seq_kv = 1000};
  request.problem.mask.kind = MaskKind::causal;
  request.schedule.scan = scan_id<AttachScan>;
  const Prediction written = with_words(request);
  EXPECT_EQ(written.total.l2_write_sectors, 12'000 + 3 * 136);
  EXPECT_EQ(written.total.sm_read_sectors, 50'000);
  EXPECT_EQ(written.by_tensor[static_cast<size_t>(Tensor::other)].l2_write_sectors, 3 * 136);
  request.schedule.scan = scan_id<LinearScan>;
  EXPECT_EQ(with_words(request).total.l2_write_sectors, 12'000);
}

// kernels/hopper, 206,848 queries and keys, 192 x 128, no mask, on an H200: 1,743,126 sectors
// beyond the tiles', and no write but O's (experiments/data/h200/validation/development.csv).
TEST(AttachWords, AnExchangedWordIsReceivedAndNotWritten) {
  Request request;
  request.problem = {.seq_q = 206'848, .seq_kv = 206'848};
  request.tiling = {.q_rows = 192, .kv_rows = 128};
  request.schedule.scan = scan_id<AttachScan>;
  request.atomic_words = true;
  EXPECT_EQ(with_words(request).total.l2_write_sectors, 12'000);
  EXPECT_EQ(with_words(request).total.sm_read_sectors, 50'000 + 1'743'126);
}

// Recorded on an H200 (experiments/data/h200/validation/development.csv and
// calibration_hopper.csv): what SMs received, less the rows that Q, K and V have.
struct Recorded {
  int64_t seq, head_dim;
  Tiling tiling;
  int64_t received;
};

TEST(RowsPastTheEnd, AreThoseThatTheHopperKernelReceived) {
  for (const Recorded& one : {Recorded{46592, 128, {.q_rows = 128, .kv_rows = 176}, 279'552},
                              Recorded{87552, 128, {.q_rows = 128, .kv_rows = 176}, 1'050'624},
                              Recorded{114688, 64, {.q_rows = 192, .kv_rows = 128}, 512},
                              Recorded{161792, 64, {.q_rows = 192, .kv_rows = 128}, 256}}) {
    Request request;
    request.problem = {.seq_q = one.seq, .seq_kv = one.seq, .head_dim = one.head_dim};
    request.tiling = one.tiling;
    request.schedule.workers = 132;
    request.whole_tiles = true;
    Prediction prediction;
    prediction.total.sm_read_sectors = 0;
    add_zeros_of_boxes(request, prediction);
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
  add_zeros_of_boxes(request, prediction);
  constexpr int64_t row_sectors = 64 * 2 / 32;
  EXPECT_EQ(prediction.total.sm_read_sectors, 1000 + 2 * (56 + 2 * 40) * row_sectors);
  EXPECT_EQ(prediction.by_tensor[static_cast<size_t>(Tensor::q)].sm_read_sectors,
            2 * 56 * row_sectors);
  request.whole_tiles = false;
  Prediction exact;
  exact.total.sm_read_sectors = 1000;
  add_zeros_of_boxes(request, exact);
  EXPECT_EQ(exact.total.sm_read_sectors, 1000);
}

// What SMs received, recorded on an H200 (experiments/data/h200/validation/hopper_dims.csv, no
// mask, 16K): with every row of 80 columns 48 more, of 160 columns 32, and of the last tile 80
// rows.
TEST(ColumnsPastTheEnd, AreThoseThatTheHopperKernelReceived) {
  for (const auto& [head_dim, kv_rows, heads, received] :
       {std::tuple{80, 128, 8, 269'484'032}, std::tuple{160, 112, 4, 203'096'064}}) {
    Request request;
    request.problem = {
        .heads = heads, .kv_heads = heads, .seq_q = 16384, .seq_kv = 16384, .head_dim = head_dim};
    request.tiling = {.q_rows = 128, .kv_rows = kv_rows};
    request.schedule.workers = 132;
    request.whole_tiles = true;
    const int64_t row_sectors = head_dim * 2 / 32, items = 128 * heads;
    Prediction prediction;
    for (const Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) {
      Counters rows;
      rows.sm_read_sectors = items * (tensor == Tensor::q ? 128 : 16384) * row_sectors;
      prediction.by_tensor[static_cast<size_t>(tensor)] = rows;
      add(prediction.total, rows);
    }
    add_zeros_of_boxes(request, prediction);
    EXPECT_EQ(prediction.total.sm_read_sectors, received) << head_dim;
  }
}

}  // namespace
}  // namespace sawtooth::sim
