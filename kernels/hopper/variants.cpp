#include "kernels/hopper/variants.hpp"

#include <array>
#include <limits>

#include "kernels/hopper/tile_time.hpp"

namespace sawtooth::kernels::hopper {

extern const Variant bf16_d128_plain;
extern const Variant bf16_d128_own;
extern const Variant bf16_d128;
extern const Variant bf16_d128_lazy;
extern const Variant bf16_d128_kv176;
extern const Variant fp16_d128_kv176;
extern const Variant fp16_d128;
extern const Variant bf16_d128_pair;
extern const Variant bf16_d128_pair176;
extern const Variant fp16_d128_pair;
extern const Variant fp16_d128_pair176;
extern const Variant bf16_d64_plain;
extern const Variant bf16_d64_own;
extern const Variant bf16_d64;
extern const Variant bf16_d64_lazy;
extern const Variant bf16_d64_q128;
extern const Variant fp16_d64_q128;
extern const Variant fp16_d64;
extern const Variant bf16_d256;
extern const Variant fp16_d256;

std::span<const Variant> variants() {
  static const std::array table = {
      bf16_d128_plain, bf16_d128_own,     bf16_d128,      bf16_d128_lazy,    bf16_d128_kv176,
      bf16_d128_pair,  bf16_d128_pair176, fp16_d128_pair, fp16_d128_pair176, fp16_d128_kv176,
      fp16_d128,       bf16_d64_plain,    bf16_d64_own,   bf16_d64,          bf16_d64_lazy,
      bf16_d64_q128,   fp16_d64_q128,     fp16_d64,       bf16_d256,         fp16_d256};
  return table;
}

}  // namespace sawtooth::kernels::hopper

namespace sawtooth::kernels {

// Declared where kernels/attention/variant_table.cpp joins the families.
std::span<const KernelVariant> hopper_variants();
const KernelVariant* best_hopper_variant(const Problem& problem, int sms);

/// The rows that the library offers: of each head dim and type the fastest first, no rungs.
std::span<const KernelVariant> hopper_variants() {
  static const std::array table = {hopper::bf16_d64.row(),       hopper::fp16_d64.row(),
                                   hopper::bf16_d64_q128.row(),  hopper::fp16_d64_q128.row(),
                                   hopper::bf16_d128_lazy.row(), hopper::bf16_d128_kv176.row(),
                                   hopper::bf16_d128_pair.row(), hopper::bf16_d128_pair176.row(),
                                   hopper::fp16_d128.row(),      hopper::fp16_d128_kv176.row(),
                                   hopper::fp16_d128_pair.row(), hopper::fp16_d128_pair176.row(),
                                   hopper::bf16_d256.row(),      hopper::fp16_d256.row()};
  return table;
}

const KernelVariant* best_hopper_variant(const Problem& problem, int sms) {
  const KernelVariant* best = nullptr;
  double shortest_us = 0;
  for (const KernelVariant& variant : hopper_variants()) {
    if (variant.head_dim != problem.head_dim || variant.dtype != problem.dtype) continue;
    // Without a known cost: the only tile of a head dim, or one of two CTAs, which never wins.
    const auto cost = hopper::tile_cost(variant.head_dim, variant.tiling);
    const double time_us = cost ? hopper::estimated_us(problem, *cost, max_of(1, sms))
                                : std::numeric_limits<double>::infinity();
    if (best == nullptr || time_us < shortest_us) {
      best = &variant;
      shortest_us = time_us;
    }
  }
  return best;
}

}  // namespace sawtooth::kernels
