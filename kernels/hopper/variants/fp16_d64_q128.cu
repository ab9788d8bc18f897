#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant fp16_d64_q128;
const Variant fp16_d64_q128 =
    make_variant<Shape<__half, 64, 2, 128, 2, Overlap::ping_pong>>("fp16_d64_q128");

}  // namespace sawtooth::kernels::hopper
