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

// Declared where kernels/variant_table.cpp joins the families.
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

namespace {

/// How fast the variants are in long sequences that fill the chip, beside the first of their head
/// dim (experiments/measured/h200/hopper; without a mask).
double relative_speed(const KernelVariant& variant) {
  if (variant.head_dim == 64) return variant.tiling.q_rows == 192 ? 1.0 : 0.9;
  if (variant.head_dim == 128) return variant.tiling.kv_rows == 176 ? 1.03 : 1.0;
  return 1.0;
}

/// Time of `problem` on `sms` SMs with tiles of `tiling`, in query rows that the busiest SM works
/// on for a full row of keys, divided by how fast the variant is once it runs (`speed`).
double estimated_time(const Problem& problem, const Tiling& tiling, int cluster, int64_t sms,
                      double speed) {
  const int64_t heads = problem.batch * problem.heads;
  const int64_t workers = max_of(1, sms / cluster);
  const int64_t rows = tiling.q_rows / cluster;
  const int64_t items = heads * q_tiles(problem, tiling);
  // Without a mask items are equal and come in waves; with one they differ, and even out.
  if (problem.mask.kind == MaskKind::none) {
    return double(ceil_div(items, workers) * rows) / speed;
  }
  int64_t visited_keys = 0;
  for (int64_t tile = 0; tile < q_tiles(problem, tiling); ++tile) {
    visited_keys += visible_kv_tiles(problem, tiling, tile).size() * tiling.kv_rows;
  }
  return double(heads * visited_keys * rows) / double(workers * problem.seq_kv) / speed;
}

}  // namespace

const KernelVariant* best_hopper_variant(const Problem& problem, int sms) {
  const KernelVariant* best = nullptr;
  double shortest = 0;
  for (const KernelVariant& variant : hopper_variants()) {
    if (variant.head_dim != problem.head_dim || variant.dtype != problem.dtype) continue;
    const double time =
        estimated_time(problem, variant.tiling, variant.cluster, sms, relative_speed(variant));
    if (best == nullptr || time < shortest) {
      best = &variant;
      shortest = time;
    }
  }
  return best;
}

}  // namespace sawtooth::kernels
