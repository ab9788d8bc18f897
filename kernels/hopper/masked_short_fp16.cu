#include "kernels/hopper/masked_short.cuh"

namespace sawtooth::kernels {

std::array<MaskedKernel, 2> masked_hopper_short_fp16() {
  return hopper::masked_short_kernels<__half>();
}

}  // namespace sawtooth::kernels
