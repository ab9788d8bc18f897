#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d128_stages3;
const Variant bf16_d128_stages3 =
    make_variant<Shape<__nv_bfloat16, 128, 2, 128, 3, Overlap::ping_pong, Rescale::lazy>>(
        "bf16_d128_stages3");

}  // namespace sawtooth::kernels::hopper
