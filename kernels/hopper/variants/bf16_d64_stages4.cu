#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d64_stages4;
const Variant bf16_d64_stages4 =
    make_variant<Shape<__nv_bfloat16, 64, 3, 128, 4, Overlap::ping_pong, Rescale::lazy>>(
        "bf16_d64_stages4");

}  // namespace sawtooth::kernels::hopper
