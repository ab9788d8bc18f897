#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d64;
const Variant bf16_d64 =
    make_variant<Shape<__nv_bfloat16, 64, 3, 128, 2, Overlap::ping_pong>>("bf16_d64");

}  // namespace sawtooth::kernels::hopper
