#include "kernels/hopper/variants.hpp"

#include <array>

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d64_plain;
extern const Variant bf16_d64_own;
extern const Variant bf16_d64;
extern const Variant fp16_d64;
extern const Variant bf16_d128_plain;
extern const Variant bf16_d128_own;
extern const Variant bf16_d128;
extern const Variant bf16_d128_kv176;
extern const Variant fp16_d128;

std::span<const Variant> variants() {
  static const std::array table = {bf16_d64_plain, bf16_d64_own,    bf16_d64,
                                   fp16_d64,       bf16_d128_plain, bf16_d128_own,
                                   bf16_d128,      bf16_d128_kv176, fp16_d128};
  return table;
}

}  // namespace sawtooth::kernels::hopper
