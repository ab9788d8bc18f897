#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d128_own;
const Variant bf16_d128_own =
    make_variant<Shape<__nv_bfloat16, 128, 2, 128, 2, Overlap::own_products>>("bf16_d128_own");

}  // namespace sawtooth::kernels::hopper
