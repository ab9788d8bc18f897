// The decode kernels whose tiles come by cp.async, and those of them for cascades.
#include "kernels/decode/arguments.hpp"
#include "kernels/decode/variants.cuh"

namespace sawtooth::kernels::decode {

#define ROW_OF_mma_tma(...)
#define ROW_OF_mma(type, name, ...)                                                         \
  variants.push_back(cascades ? async_variant<CascadeShape<Shape<type, __VA_ARGS__>>>(name) \
                              : async_variant<Shape<type, __VA_ARGS__>>(name));
void add_mma_variants(bool cascades, std::vector<KernelVariant>& variants) {
#include "kernels/decode/variants.inc"
}

}  // namespace sawtooth::kernels::decode
