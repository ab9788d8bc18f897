// The decode kernels whose tiles come by the copy engine, and those of them for cascades.
#include "kernels/decode/arguments.hpp"
#include "kernels/decode/variants.cuh"

namespace sawtooth::kernels::decode {

#define ROW_OF_mma(...)
void add_mma_tma_variants(std::vector<KernelVariant>& variants) {
#define ROW_OF_mma_tma(type, name, ...) \
  variants.push_back(mma_tma_variant<Shape<type, __VA_ARGS__>>(name));
#include "kernels/decode/variants.inc"
#undef ROW_OF_mma_tma
}

void add_mma_tma_cascades(std::vector<KernelVariant>& variants) {
#define ROW_OF_mma_tma(type, name, ...) \
  variants.push_back(mma_tma_variant<CascadeShape<Shape<type, __VA_ARGS__>>>(name));
#include "kernels/decode/variants.inc"
}

}  // namespace sawtooth::kernels::decode
