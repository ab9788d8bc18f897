#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant fp16_d128_kv176;
const Variant fp16_d128_kv176 =
    make_variant<Shape<__half, 128, 2, 176, 2, Overlap::ping_pong, Rescale::lazy>>(
        "fp16_d128_kv176");

}  // namespace sawtooth::kernels::hopper
