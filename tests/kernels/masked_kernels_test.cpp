// Which kernel a launch under a mask runs.
#include "kernels/attention/masked_kernels.hpp"

#include <set>

#include <gtest/gtest.h>

#include "kernels/attention/variant_list.hpp"

namespace sawtooth::kernels {
namespace {

Problem problem(MaskKind mask, int64_t keys) {
  return {.seq_q = keys, .seq_kv = keys, .mask = {mask, 64}};
}

// At head dim 128 hopper-short has a kernel up to four K/V tiles, one beyond, and its own.
TEST(MaskedKernels, OfShortSequencesDependOnTheNumberOfKeys) {
  std::set<const void*> all;
  for (const ElementType type : {ElementType::bf16, ElementType::fp16}) {
    const KernelVariant* variant = find_variant(128, type, {128, 128}, families::hopper_short);
    if (variant == nullptr) GTEST_SKIP() << "this build has no Hopper kernels";
    const auto run = [&](MaskKind mask, int64_t keys) {
      return kernel_for(*variant, problem(mask, keys));
    };
    const MaskedKernel few = run(MaskKind::causal, 512), many = run(MaskKind::causal, 513);
    EXPECT_EQ(run(MaskKind::window, 1).function, few.function);
    EXPECT_EQ(run(MaskKind::window, 4096).function, many.function);
    constexpr int second_q_tile = 128 * 128 * 2;
    EXPECT_EQ(few.shared_bytes, variant->shared_bytes + second_q_tile);
    EXPECT_EQ(many.shared_bytes, variant->shared_bytes);
    for (const int64_t keys : {512, 513}) {
      EXPECT_EQ(run(MaskKind::none, keys).function, variant->function);
      EXPECT_EQ(run(MaskKind::none, keys).shared_bytes, variant->shared_bytes);
    }
    all.insert({variant->function, few.function, many.function});
  }
  EXPECT_EQ(all.size(), 6u);
}

TEST(MaskedKernels, AreTheVariantsOwnElsewhere) {
  for (const KernelVariant& variant : built_variants()) {
    if (!masked_kernels(variant).empty()) continue;
    const MaskedKernel run = kernel_for(variant, problem(MaskKind::causal, 512));
    EXPECT_EQ(run.function, variant.function) << variant.name;
    EXPECT_EQ(run.shared_bytes, variant.shared_bytes) << variant.name;
  }
}

}  // namespace
}  // namespace sawtooth::kernels
