#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant fp16_d128;
const Variant fp16_d128 =
    make_variant<Shape<__half, 128, 2, 128, 2, Overlap::ping_pong, Rescale::lazy>>("fp16_d128");

}  // namespace sawtooth::kernels::hopper
