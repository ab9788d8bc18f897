#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant fp16_d128_pair176;
const Variant fp16_d128_pair176 =
    make_variant<Shape<__half, 128, 2, 176, 2, Overlap::ping_pong, Rescale::lazy, 2>>(
        "fp16_d128_pair176");

}  // namespace sawtooth::kernels::hopper
