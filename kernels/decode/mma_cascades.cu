// The decode kernels for cascades whose tiles come by cp.async.
#include "kernels/decode/built.hpp"
#include "kernels/decode/variants.cuh"

namespace sawtooth::kernels::decode {

void add_mma_cascades(std::vector<KernelVariant>& variants) {
#define ROW_OF_mma(...)
#define ROW_OF_mma_tma(...)
#undef ROW_OF_mma
#define ROW_OF_mma(type, name, ...) \
  variants.push_back(mma_variant<CascadeShape<Shape<type, __VA_ARGS__>>>(name));
#define DECODE_VARIANT(family, head_dim, groups, key_blocks, stages, ctas)                        \
  ROW_OF_##family(__nv_bfloat16, "bf16_d" #head_dim "_" #groups, head_dim, groups, 1, key_blocks, \
                  stages, ctas) ROW_OF_##family(__half, "fp16_d" #head_dim "_" #groups, head_dim, \
                                                groups, 1, key_blocks, stages, ctas)
#include "kernels/decode/variants.inc"
}

}  // namespace sawtooth::kernels::decode
