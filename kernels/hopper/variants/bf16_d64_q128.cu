#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d64_q128;
const Variant bf16_d64_q128 =
    make_variant<Shape<__nv_bfloat16, 64, 2, 128, 2, Overlap::ping_pong>>("bf16_d64_q128");

}  // namespace sawtooth::kernels::hopper
