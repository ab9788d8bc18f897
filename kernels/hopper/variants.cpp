#include "kernels/hopper/variants.hpp"

#include <array>

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d128_plain;
extern const Variant bf16_d128_own;
extern const Variant bf16_d128;
extern const Variant bf16_d128_lazy;
extern const Variant bf16_d128_kv176;
extern const Variant fp16_d128_kv176;
extern const Variant fp16_d128;
extern const Variant bf16_d64_plain;
extern const Variant bf16_d64_own;
extern const Variant bf16_d64;
extern const Variant bf16_d64_lazy;
extern const Variant fp16_d64;
extern const Variant bf16_d256;
extern const Variant fp16_d256;

std::span<const Variant> variants() {
  static const std::array table = {bf16_d128_plain, bf16_d128_own,   bf16_d128,     bf16_d128_lazy,
                                   bf16_d128_kv176, fp16_d128_kv176, fp16_d128,     bf16_d64_plain,
                                   bf16_d64_own,    bf16_d64,        bf16_d64_lazy, fp16_d64,
                                   bf16_d256,       fp16_d256};
  return table;
}

}  // namespace sawtooth::kernels::hopper

namespace sawtooth::kernels {

/// The rows that the library offers: of each head dim and type the fastest first, no rungs.
std::span<const KernelVariant> hopper_variants();
std::span<const KernelVariant> hopper_variants() {
  static const std::array table = {hopper::bf16_d64.row(),       hopper::fp16_d64.row(),
                                   hopper::bf16_d128_lazy.row(), hopper::bf16_d128_kv176.row(),
                                   hopper::fp16_d128.row(),      hopper::fp16_d128_kv176.row(),
                                   hopper::bf16_d256.row(),      hopper::fp16_d256.row()};
  return table;
}

}  // namespace sawtooth::kernels
