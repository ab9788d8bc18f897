// The estimate behind the choice of a Hopper tile: worked out by hand, and against recorded times.
#include "kernels/attention/tile_time.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {
namespace {

constexpr Tiling tiling{128, 128};
constexpr TileCost simple{{1.0, 10.0}, {2.0, 20.0}};

// 2 heads of 2 Q tiles are 4 items of 2 tiles of 128 keys: 1 us + 256 x 10 ns each. On 3 CTAs they
// take two waves.
TEST(TileTime, CountsWholeWavesWithoutAMask) {
  const Problem problem{.heads = 2, .seq_q = 256, .seq_kv = 256};
  EXPECT_DOUBLE_EQ(estimated_us(problem, tiling, simple, 4), 3.56);
  EXPECT_DOUBLE_EQ(estimated_us(problem, tiling, simple, 3), 2 * 3.56);
}

// Causal: of each head one item visits 128 keys, one 256: 2 us + 2.56 us and 2 us + 5.12 us.
TEST(TileTime, SharesMaskedItemsOutEvenly) {
  const Problem problem{.heads = 2, .seq_q = 256, .seq_kv = 256, .mask = {MaskKind::causal, 0}};
  EXPECT_DOUBLE_EQ(estimated_us(problem, tiling, simple, 4), 2 * (4.56 + 7.12) / 4);
}

struct Measured {
  int64_t head_dim, seq;
  MaskKind mask;
  Tiling faster, slower;
};

// Another run than those that the costs were taken from, race.csv: medians more than 2 % apart, of
// launches that cut no item.
TEST(TileTime, PrefersTheTileThatWasFasterOnAnH200) {
  constexpr Tiling rows128{128, 128}, rows192{192, 128}, keys176{128, 176};
  const Measured rows[] = {
      {64, 512, MaskKind::causal, rows192, rows128},     // 78.2 and 85.9 us
      {64, 1024, MaskKind::causal, rows192, rows128},    // 113.8 and 121.8 us
      {64, 2048, MaskKind::causal, rows192, rows128},    // 169.4 and 195.6 us
      {64, 4096, MaskKind::causal, rows192, rows128},    // 290.7 and 343.5 us
      {64, 16384, MaskKind::causal, rows192, rows128},   // 1057 and 1263 us
      {128, 512, MaskKind::causal, rows128, keys176},    // 108.3 and 127.6 us
      {128, 1024, MaskKind::causal, rows128, keys176},   // 153.3 and 171.8 us
      {128, 2048, MaskKind::causal, rows128, keys176},   // 251.4 and 266.9 us
      {128, 16384, MaskKind::causal, keys176, rows128},  // 1777 and 1826 us
      {128, 32768, MaskKind::causal, keys176, rows128},  // 6903 and 7163 us
      {128, 512, MaskKind::none, rows128, keys176},      // 136.9 and 146.0 us
      {128, 1024, MaskKind::none, rows128, keys176},     // 247.7 and 257.7 us
      {128, 2048, MaskKind::none, rows128, keys176},     // 458.5 and 468.6 us
      {128, 8192, MaskKind::none, keys176, rows128},     // 1750 and 1786 us
      {128, 16384, MaskKind::none, keys176, rows128},    // 3394 and 3565 us
      {128, 32768, MaskKind::none, keys176, rows128},    // 13715 and 14394 us
  };
  if (find_variant(128, ElementType::bf16, keys176, "hopper") == nullptr)
    GTEST_SKIP() << "this build has no Hopper kernels";
  for (const Measured& row : rows) {
    const Problem problem{.batch = std::max<int64_t>(1, 16384 / row.seq),
                          .heads = 16,
                          .kv_heads = 16,
                          .seq_q = row.seq,
                          .seq_kv = row.seq,
                          .head_dim = row.head_dim,
                          .mask = {row.mask, 0}};
    const auto time_us = [&](const Tiling& tile) {
      const KernelVariant* variant = find_variant(row.head_dim, problem.dtype, tile, "hopper");
      return estimated_us(problem, tile, variant->cost, 132);
    };
    EXPECT_LT(time_us(row.faster), time_us(row.slower)) << "D=" << row.head_dim << " S=" << row.seq;
  }
}

}  // namespace
}  // namespace sawtooth::kernels
