// The decode kernels whose tiles come by the copy engine, and those of them for cascades.
#include "kernels/decode/arguments.hpp"
#include "kernels/decode/variants.cuh"

namespace sawtooth::kernels::decode {

#define ROW_OF_mma(...)
#define ROW_OF_mma_tma(type, name, ...)                                                   \
  variants.push_back(cascades ? tma_variant<CascadeShape<Shape<type, __VA_ARGS__>>>(name) \
                              : tma_variant<Shape<type, __VA_ARGS__>>(name));
void add_mma_tma_variants(bool cascades, std::vector<KernelVariant>& variants) {
#include "kernels/decode/variants.inc"
}

}  // namespace sawtooth::kernels::decode
