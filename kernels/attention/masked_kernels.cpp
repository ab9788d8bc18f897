#include "kernels/attention/masked_kernels.hpp"

#include <string_view>

#include "kernels/attention/variant_list.hpp"

namespace sawtooth::kernels {

std::span<const MaskedKernel> masked_kernels(const KernelVariant& variant) {
#if defined(SAWTOOTH_HAVE_HOPPER)
  if (variant.family == std::string_view(families::hopper_short) && variant.head_dim == 128) {
    static const auto bf16 = masked_hopper_short_bf16();
    static const auto fp16 = masked_hopper_short_fp16();
    return variant.dtype == ElementType::bf16 ? bf16 : fp16;
  }
#else
  (void)variant;
#endif
  return {};
}

MaskedKernel kernel_for(const KernelVariant& variant, const Problem& problem) {
  if (problem.mask.kind != MaskKind::none)
    for (const MaskedKernel& kernel : masked_kernels(variant))
      if (kernel.most_keys == 0 || problem.seq_kv <= kernel.most_keys) return kernel;
  return {variant.function, variant.shared_bytes, 0};
}

}  // namespace sawtooth::kernels
