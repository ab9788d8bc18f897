#include "kernels/hopper/launch.cuh"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d64_plain;
const Variant bf16_d64_plain =
    make_variant<Shape<__nv_bfloat16, 64, 3, 128, 2, Overlap::none>>("bf16_d64_plain");

}  // namespace sawtooth::kernels::hopper
