#include "sim/schedule/attach_words.hpp"

#include <gtest/gtest.h>

#include "scheduler/scan.hpp"

namespace sawtooth::sim {
namespace {

// Causal, 16 tiles of 64 rows for 1,000 queries and keys: 1 + 2 + ... + 16 steps a head.
TEST(AttachWords, EveryStepWritesASector) {
  Request request;
  request.problem = {.heads = 3, .kv_heads = 3, .seq_q = 1000, .seq_kv = 1000};
  request.problem.mask.kind = MaskKind::causal;
  request.schedule.scan = scan_id<AttachScan>;
  Prediction prediction;
  prediction.total.l2_write_sectors = 12'000;
  add_attach_words(request, prediction);
  EXPECT_EQ(prediction.total.l2_write_sectors, 12'000 + 3 * 136);
  EXPECT_EQ(prediction.by_tensor[static_cast<size_t>(Tensor::other)].l2_write_sectors, 3 * 136);
  request.schedule.scan = scan_id<LinearScan>;
  add_attach_words(request, prediction);
  EXPECT_EQ(prediction.total.l2_write_sectors, 12'000 + 3 * 136);
}

}  // namespace
}  // namespace sawtooth::sim
