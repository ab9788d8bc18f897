#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d64_own;
const Variant bf16_d64_own =
    make_variant<Shape<__nv_bfloat16, 64, 3, 128, 2, Overlap::own_products>>("bf16_d64_own");

}  // namespace sawtooth::kernels::hopper
