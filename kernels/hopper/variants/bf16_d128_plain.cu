#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d128_plain;
const Variant bf16_d128_plain =
    make_variant<Shape<__nv_bfloat16, 128, 2, 128, 2, Overlap::none>>("bf16_d128_plain");

}  // namespace sawtooth::kernels::hopper
