#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d256;
const Variant bf16_d256 =
    make_variant<Shape<__nv_bfloat16, 256, 2, 80, 2, Overlap::ping_pong, Rescale::lazy>>(
        "bf16_d256");

}  // namespace sawtooth::kernels::hopper
