#include "sim/schedule/attach_words.hpp"

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

}  // namespace
}  // namespace sawtooth::sim
