#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant fp16_d64;
const Variant fp16_d64 = make_variant<Shape<__half, 64, 3, 128, 2, Overlap::ping_pong>>("fp16_d64");

}  // namespace sawtooth::kernels::hopper
