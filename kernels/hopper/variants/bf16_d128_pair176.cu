#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d128_pair176;
const Variant bf16_d128_pair176 =
    make_variant<Shape<__nv_bfloat16, 128, 2, 176, 2, Overlap::ping_pong, Rescale::lazy, 2>>(
        "bf16_d128_pair176");

}  // namespace sawtooth::kernels::hopper
