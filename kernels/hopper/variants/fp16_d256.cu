#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant fp16_d256;
const Variant fp16_d256 =
    make_variant<Shape<__half, 256, 2, 80, 2, Overlap::ping_pong, Rescale::lazy>>("fp16_d256");

}  // namespace sawtooth::kernels::hopper
