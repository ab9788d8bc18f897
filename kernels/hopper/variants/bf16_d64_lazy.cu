#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d64_lazy;
const Variant bf16_d64_lazy =
    make_variant<Shape<__nv_bfloat16, 64, 3, 128, 2, Overlap::ping_pong, Rescale::lazy>>(
        "bf16_d64_lazy");

}  // namespace sawtooth::kernels::hopper
