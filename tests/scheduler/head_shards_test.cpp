// What crosses the link for heads that several GPUs share, against the sends counted one by one.
#include "scheduler/head_shards.hpp"

#include <gtest/gtest.h>

namespace sawtooth {
namespace {

constexpr Problem whole{
    .batch = 2, .heads = 16, .kv_heads = 8, .seq_q = 64, .seq_kv = 64, .head_dim = 128};

TEST(HeadShards, GiveEachGpuItsHeads) {
  const Problem one = HeadShards{4, Exchange::megatron}.of_one(whole);
  EXPECT_EQ(one.heads, 4);
  EXPECT_EQ(one.kv_heads, 2);
  EXPECT_EQ(one.seq_kv, 64);
  EXPECT_EQ((HeadShards{16, Exchange::megatron}.of_one(whole).kv_heads), 1);
}

// Each of 4 GPUs has 16 rows a sequence and keeps the heads that are its own.
TEST(HeadShards, UlyssesSendsEachRowOfEachHeadToTheGpuOfThatHead) {
  const HeadShards shards{4, Exchange::ulysses};
  int64_t sent = 0;
  const auto send = [&](int64_t heads) {
    for (int64_t batch = 0; batch < 2; ++batch)
      for (int64_t row = 0; row < 16; ++row)
        for (int64_t head = 0; head < heads; ++head)
          if (head / (heads / 4) != 0) sent += 256;  // GPU 0 keeps its own
  };
  send(16);  // Q
  send(8);   // K
  send(8);   // V
  send(16);  // O, which comes back: GPU 0 sends the rows of the others
  EXPECT_EQ(shards.bytes(whole), sent);
  EXPECT_EQ(shards.message_bytes(whole),
            2 * 16 * 4 * 256);  // Q of a GPU's rows and another's heads
}

// K and V heads that two GPUs need go to both.
TEST(HeadShards, UlyssesSendsKAndVHeadsToAllThatNeedThem) {
  const HeadShards shards{16, Exchange::ulysses};
  const int64_t rows = 2 * 4;  // of a GPU
  EXPECT_EQ(shards.bytes(whole), 2 * rows * 15 * 256 + 2 * rows * 15 * 256);
}

// A ring all-reduce sends all parts but its own twice.
TEST(HeadShards, MegatronAddsUpTheOutputOfAllHeads) {
  const HeadShards shards{4, Exchange::megatron};
  const int64_t o = 2 * 64 * 16 * 256;
  EXPECT_EQ(shards.bytes(whole), 2 * 3 * (o / 4));
  EXPECT_EQ((HeadShards{1, Exchange::megatron}.bytes(whole)), 0);
  EXPECT_EQ((HeadShards{4, Exchange::none}.bytes(whole)), 0);
}

}  // namespace
}  // namespace sawtooth
