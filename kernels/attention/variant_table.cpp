#include <array>
#include <vector>

#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {

// SAWTOOTH_VARIANTS(V) names the variants of this build; CMake writes it from its list.
#include "variant_list.inc"

#define SAWTOOTH_DECLARE(name) KernelVariant name(ElementType dtype);
SAWTOOTH_VARIANTS(SAWTOOTH_DECLARE)

#if defined(SAWTOOTH_HAVE_HOPPER)
std::span<const KernelVariant> hopper_variants();  // kernels/hopper/variants.cpp
#endif

std::span<const KernelVariant> kernel_variants() {
#define SAWTOOTH_ROWS(name) name(ElementType::bf16), name(ElementType::fp16),
  static const std::vector<KernelVariant> table = [] {
    std::vector<KernelVariant> rows{SAWTOOTH_VARIANTS(SAWTOOTH_ROWS)};
#if defined(SAWTOOTH_HAVE_HOPPER)
    for (const KernelVariant& variant : hopper_variants()) rows.push_back(variant);
#endif
    return rows;
  }();
  return table;
}

const KernelVariant* find_variant(int64_t head_dim, ElementType dtype, Tiling tiling,
                                  std::string_view family) {
  const bool any_tiling = tiling.q_rows == 0 && tiling.kv_rows == 0;
  for (const KernelVariant& variant : kernel_variants())
    if (variant.head_dim == head_dim && variant.dtype == dtype &&
        (family.empty() || family == variant.family) &&
        (any_tiling ||
         (variant.tiling.q_rows == tiling.q_rows && variant.tiling.kv_rows == tiling.kv_rows)))
      return &variant;
  return nullptr;
}

}  // namespace sawtooth::kernels
