// Which kernel runs a call: the estimate behind the choice of a Hopper tile, the kernels under a
// mask, and the list of all kernels, which needs no build of them.
#include <algorithm>
#include <set>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {
namespace {

constexpr Tiling tile_of_128{128, 128};
constexpr TileCost simple{{1.0, 10.0}, {2.0, 20.0}};

// 2 heads of 2 Q tiles are 4 items of 2 tiles of 128 keys: 1 us + 256 x 10 ns each. On 3 CTAs they
// take two waves.
TEST(TileTime, CountsWholeWavesWithoutAMask) {
  const Problem problem{.heads = 2, .seq_q = 256, .seq_kv = 256};
  EXPECT_DOUBLE_EQ(estimated_us(problem, tile_of_128, simple, 4), 3.56);
  EXPECT_DOUBLE_EQ(estimated_us(problem, tile_of_128, simple, 3), 2 * 3.56);
}

// Causal: of each head one item visits 128 keys, one 256: 2 us + 2.56 us and 2 us + 5.12 us.
TEST(TileTime, SharesMaskedItemsOutEvenly) {
  const Problem problem{.heads = 2, .seq_q = 256, .seq_kv = 256, .mask = {MaskKind::causal, 0}};
  EXPECT_DOUBLE_EQ(estimated_us(problem, tile_of_128, simple, 2), 2 * (4.56 + 7.12) / 2);
}

TEST(TileTime, OfTwoCtasOnAnSmCountsALastOneAlone) {
  constexpr TileCost pairs{{1.0, 10.0}, {2.0, 20.0}, 1.5};
  const Problem problem{.heads = 2, .seq_q = 256, .seq_kv = 256};
  EXPECT_DOUBLE_EQ(estimated_us(problem, tile_of_128, pairs, 4), 1.5 * 3.56);
  EXPECT_DOUBLE_EQ(estimated_us(problem, tile_of_128, pairs, 2), 2 * 3.56);
  EXPECT_DOUBLE_EQ(estimated_us(problem, tile_of_128, pairs, 1), 4 * 3.56);
}

// 4 items on 4 CTAs: the longest sees 256 keys.
TEST(TileTime, IsTheLongestItemWhereEachCtaHasOne) {
  const Problem problem{.heads = 2, .seq_q = 256, .seq_kv = 256, .mask = {MaskKind::causal, 0}};
  EXPECT_DOUBLE_EQ(estimated_us(problem, tile_of_128, simple, 4), 7.12);
}

struct Measured {
  int64_t head_dim, seq;
  MaskKind mask;
  Tiling faster, slower;
};

// Medians of the run tiles of experiments/data/h200/race/schedules.csv, more than 1 % apart. Costs
// are solved from the times of 512 and of 16K rows.
TEST(TileTime, PrefersTheTileThatWasFasterOnAnH200) {
  constexpr Tiling rows128{128, 128}, rows192{192, 128}, keys176{128, 176};
  const Measured rows[] = {
      {64, 512, MaskKind::causal, rows192, rows128},     // 78.6 and 86.8 us
      {64, 1024, MaskKind::causal, rows192, rows128},    // 112.5 and 121.0 us
      {64, 2048, MaskKind::causal, rows192, rows128},    // 159.9 and 189.0 us
      {64, 4096, MaskKind::causal, rows192, rows128},    // 266.4 and 323.4 us
      {64, 16384, MaskKind::causal, rows192, rows128},   // 919.9 and 1152 us
      {128, 512, MaskKind::causal, rows128, keys176},    // 110.1 and 127.2 us
      {128, 1024, MaskKind::causal, rows128, keys176},   // 157.3 and 179.0 us
      {128, 2048, MaskKind::causal, rows128, keys176},   // 238.8 and 257.5 us
      {128, 16384, MaskKind::causal, keys176, rows128},  // 1525 and 1542 us
      {128, 512, MaskKind::none, rows128, keys176},      // 132.0 and 140.5 us
      {128, 1024, MaskKind::none, rows128, keys176},     // 220.2 and 228.8 us
      {128, 2048, MaskKind::none, rows128, keys176},     // 400.6 and 408.7 us
      {128, 16384, MaskKind::none, keys176, rows128},    // 3054 and 3140 us
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

Problem problem(MaskKind mask, int64_t keys) {
  return {.seq_q = keys, .seq_kv = keys, .mask = {mask, 64}};
}

// At head dim 128 hopper-short has another kernel up to four K/V tiles under a mask.
TEST(MaskedKernels, OfShortSequencesDependOnTheNumberOfKeys) {
  std::set<const void*> all;
  for (const ElementType type : {ElementType::bf16, ElementType::fp16}) {
    const KernelVariant* variant = find_variant(128, type, {128, 128}, families::hopper_short);
    if (variant == nullptr) GTEST_SKIP() << "this build has no Hopper kernels";
    const auto run = [&](MaskKind mask, int64_t keys) {
      return kernel_for(*variant, problem(mask, keys));
    };
    const MaskedKernel few = run(MaskKind::causal, 512);
    EXPECT_EQ(run(MaskKind::window, 1).function, few.function);
    constexpr int second_q_tile = 128 * 128 * 2;
    EXPECT_EQ(few.shared_bytes, variant->shared_bytes + second_q_tile);
    for (const MaskedKernel& own : {run(MaskKind::none, 512), run(MaskKind::causal, 513)}) {
      EXPECT_EQ(own.function, variant->function);
      EXPECT_EQ(own.shared_bytes, variant->shared_bytes);
    }
    all.insert({variant->function, few.function});
  }
  EXPECT_EQ(all.size(), 4u);
}

TEST(MaskedKernels, AreTheVariantsOwnElsewhere) {
  for (const KernelVariant& variant : kernel_variants()) {
    if (masked_kernel(variant) != nullptr) continue;
    const MaskedKernel run = kernel_for(variant, problem(MaskKind::causal, 512));
    EXPECT_EQ(run.function, variant.function) << variant.name;
    EXPECT_EQ(run.shared_bytes, variant.shared_bytes) << variant.name;
  }
}

// The list of either pass agrees with its kernels.
TEST(VariantList, HasTheShapeSharedMemoryAndCtasOfEveryKernelOfTheBuild) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const bool forward = pass == Pass::forward;
    const std::span<const VariantRow> list =
        forward ? std::span<const VariantRow>(variant_list) : backward_variant_list;
    ASSERT_FALSE((forward ? kernel_variants() : backward_variants()).empty());
    for (const KernelVariant& variant : forward ? kernel_variants() : backward_variants()) {
      const std::string where = variant.family + std::string(" ") + variant.name;
      const auto row = std::ranges::find_if(list, [&](const VariantRow& one) {
        return one.family == variant.family &&
               name_of(variant.dtype) + std::string("_") + std::string(one.name) == variant.name;
      });
      ASSERT_NE(row, list.end()) << where;
      EXPECT_EQ(row->head_dims, variant.head_dims()) << where;
      EXPECT_EQ(row->tiling.q_rows, variant.tiling.q_rows) << where;
      EXPECT_EQ(row->tiling.kv_rows, variant.tiling.kv_rows) << where;
      EXPECT_EQ(row->shared_bytes, variant.shared_bytes) << where;
      EXPECT_EQ(row->ctas_per_sm, variant.ctas_per_sm) << where;
      EXPECT_EQ(row->set == VariantSet::study, variant.study) << where;
    }
  }
}

TEST(VariantList, HasStudyVariantsThatAreAKernelOfMmaWithOtherStages) {
  for (const VariantRow& study : variant_list) {
    if (study.set != VariantSet::study) continue;
    EXPECT_TRUE(std::ranges::any_of(variant_list,
                                    [&](const VariantRow& row) {
                                      return row.family == families::mma &&
                                             row.name == study.name &&
                                             row.head_dims == study.head_dims &&
                                             row.tiling.q_rows == study.tiling.q_rows &&
                                             row.tiling.kv_rows == study.tiling.kv_rows &&
                                             row.ctas_per_sm == study.ctas_per_sm;
                                    }))
        << study.family << " " << study.name;
  }
}

TEST(VariantList, LeavesStudyVariantsToCallsThatNameTheirFamily) {
  constexpr DeviceLimits h200{90, 227 * 1024, 132}, any{};
  for (const KernelVariant& variant : kernel_variants()) {
    if (!variant.study) continue;
    AttentionForward call;
    call.problem = {.head_dim = variant.head_dim, .dtype = variant.dtype};
    const KernelVariant* chosen = nullptr;
    for (const Tiling& tiling : {variant.tiling, Tiling{0, 0}}) {
      call.tiling = tiling;
      const KernelVariant* found = find_variant(variant.head_dim, variant.dtype, tiling);
      EXPECT_TRUE(found == nullptr || !found->study);
      for (const DeviceLimits& device : {h200, any}) {
        const Outcome outcome = choose_variant(call, device, chosen);
        EXPECT_EQ(bool(outcome), found != nullptr) << outcome.message;
        EXPECT_TRUE(chosen == nullptr || !chosen->study);
      }
    }
    call.tiling = variant.tiling;
    call.family = variant.family;
    EXPECT_EQ(choose_variant(call, h200, chosen).message, "");
    EXPECT_EQ(chosen, &variant);
  }
}

// A covering build serves every head dim with one kernel at least; rows of two widths fit no
// sm_120.
TEST(VariantList, CoversEveryHeadDimOfMma) {
  for (const VariantRow& wanted : variant_list) {
    if (wanted.family != families::mma || wanted.head_dims.of_v != wanted.head_dims.of_q) continue;
    EXPECT_TRUE(std::ranges::any_of(variant_list, [&](const VariantRow& row) {
      return row.family == families::mma && row.head_dims == wanted.head_dims &&
             (row.set == VariantSet::covering || row.set == VariantSet::both);
    })) << wanted.head_dims.text();
  }
}

}  // namespace
}  // namespace sawtooth::kernels
