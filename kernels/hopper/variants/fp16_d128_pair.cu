#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant fp16_d128_pair;
const Variant fp16_d128_pair =
    make_variant<Shape<__half, 128, 2, 128, 2, Overlap::ping_pong, Rescale::lazy, 2>>(
        "fp16_d128_pair");

}  // namespace sawtooth::kernels::hopper
