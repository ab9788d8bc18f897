// The list of all kernels, which needs no build of them, against the kernels of this build.
#include "kernels/attention/variant_list.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {
namespace {

/// The row that a kernel was written from, or null.
const VariantRow* row_of(const KernelVariant& variant) {
  const auto* row = std::ranges::find_if(variant_list, [&](const VariantRow& one) {
    return one.family == variant.family &&
           name_of(variant.dtype) + std::string("_") + std::string(one.name) == variant.name;
  });
  return row == variant_list.end() ? nullptr : row;
}

TEST(VariantList, HasTheShapeSharedMemoryAndCtasOfEveryKernelOfTheBuild) {
  for (const KernelVariant& variant : built_variants()) {
    const VariantRow* row = row_of(variant);
    ASSERT_NE(row, nullptr) << variant.family << " " << variant.name;
    const std::string where = variant.family + std::string(" ") + variant.name;
    EXPECT_EQ(row->head_dim, variant.head_dim) << where;
    EXPECT_EQ(row->tiling.q_rows, variant.tiling.q_rows) << where;
    EXPECT_EQ(row->tiling.kv_rows, variant.tiling.kv_rows) << where;
    EXPECT_EQ(row->shared_bytes, variant.shared_bytes) << where;
    EXPECT_EQ(row->ctas_per_sm, variant.ctas_per_sm) << where;
    EXPECT_EQ(row->set == VariantSet::rung, variant.rung) << where;
    EXPECT_EQ(row->set == VariantSet::study, variant.study) << where;
  }
}

TEST(VariantList, OffersNoRungs) {
  ASSERT_FALSE(kernel_variants().empty());
  for (const KernelVariant& variant : kernel_variants()) EXPECT_FALSE(variant.rung) << variant.name;
}

TEST(VariantList, HasStudyVariantsThatAreAKernelOfMmaWithOtherStagesOrProducts) {
  for (const VariantRow& study : variant_list) {
    if (study.set != VariantSet::study) continue;
    EXPECT_TRUE(std::ranges::any_of(
        variant_list,
        [&](const VariantRow& row) {
          const bool scalar = study.family == families::scalar_fp32;
          return row.family == (scalar ? families::mma_fp32 : families::mma) &&
                 row.name == study.name && row.head_dim == study.head_dim &&
                 row.tiling.q_rows == study.tiling.q_rows &&
                 row.tiling.kv_rows == study.tiling.kv_rows && row.ctas_per_sm == study.ctas_per_sm;
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

// A covering build serves every head dim with one kernel at least.
TEST(VariantList, CoversEveryHeadDimOfMma) {
  for (const VariantRow& wanted : variant_list) {
    if (wanted.family != families::mma) continue;
    EXPECT_TRUE(std::ranges::any_of(variant_list, [&](const VariantRow& row) {
      return row.family == families::mma && row.head_dim == wanted.head_dim &&
             (row.set == VariantSet::covering || row.set == VariantSet::both);
    })) << wanted.head_dim;
  }
}

}  // namespace
}  // namespace sawtooth::kernels
