#include <vector>

#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {

// The functions that the translation units of this build define, one a variant and element type;
// variants.cmake writes their list.
#define SAWTOOTH_BUILT(function) KernelVariant function();
#define SAWTOOTH_BUILT_BACKWARD(function) KernelVariant function();
#include "variant_functions.inc"
#undef SAWTOOTH_BUILT
#undef SAWTOOTH_BUILT_BACKWARD
std::span<const KernelVariant> kernel_variants() {
  static const std::vector<KernelVariant> rows{
#define SAWTOOTH_BUILT(function) function(),
#define SAWTOOTH_BUILT_BACKWARD(function)
#include "variant_functions.inc"
#undef SAWTOOTH_BUILT
#undef SAWTOOTH_BUILT_BACKWARD
  };
  return rows;
}

std::span<const KernelVariant> backward_variants() {
  static const std::vector<KernelVariant> rows{
#define SAWTOOTH_BUILT(function)
#define SAWTOOTH_BUILT_BACKWARD(function) function(),
#include "variant_functions.inc"
#undef SAWTOOTH_BUILT
#undef SAWTOOTH_BUILT_BACKWARD
  };
  return rows;
}

const KernelVariant* find_variant(HeadDims head_dims, ElementType dtype, Tiling tiling,
                                  std::string_view family, Pass pass) {
  const bool any_tiling = tiling.q_rows == 0 && tiling.kv_rows == 0;
  for (const KernelVariant& variant :
       pass == Pass::forward ? kernel_variants() : backward_variants())
    if (variant.head_dims() == head_dims && variant.dtype == dtype && variant.serves(family) &&
        (any_tiling ||
         (variant.tiling.q_rows == tiling.q_rows && variant.tiling.kv_rows == tiling.kv_rows)))
      return &variant;
  return nullptr;
}

}  // namespace sawtooth::kernels
