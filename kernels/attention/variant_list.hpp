// The rows of variants.inc for C++, whatever this build contains: tiles, shared memory and CTAs an
// SM of every kernel. Needs no CUDA, so that a build without kernels predicts what another
// measures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels {

/// Names of the kernel families, as the command line and the tables have them.
namespace families {
inline constexpr const char* mma = "mma";
inline constexpr const char* mma_tma = "mma-tma";
inline constexpr const char* mma_fp32 = "mma-fp32";  // the one of fp32
inline constexpr const char* hopper = "hopper";
inline constexpr const char* hopper_short = "hopper-short";  // the same for short sequences
// For studies: chosen by these names alone.
inline constexpr const char* mma_1_stage = "mma-1-stage";
inline constexpr const char* mma_half_step = "mma-half-step";
inline constexpr const char* mma_3_stages = "mma-3-stages";
}  // namespace families

/// All of them, the values of the option `kernel`.
inline constexpr auto family_names = std::to_array<std::string_view>(
    {families::mma, families::mma_tma, families::mma_fp32, families::hopper, families::hopper_short,
     families::mma_1_stage, families::mma_half_step, families::mma_3_stages});

/// How kernels of a family reach memory, where that is not by plain loads and stores.
struct FamilyMemory {
  bool bulk_loads = false;    // tiles come by TMA,
  bool whole_tiles = false;   // rows past the end of a tensor among them
  bool atomic_words = false;  // the scan attach exchanges its words
};
constexpr FamilyMemory memory_of(std::string_view family) {
  if (family == families::hopper || family == families::hopper_short) return {true, true, true};
  return {.bulk_loads = family == families::mma_tma};
}

constexpr const char* name_of(ElementType type) {
  constexpr const char* names[] = {"bf16", "fp16", "fp32", "fp8", "int8", "that of Q"};
  return names[static_cast<size_t>(type)];
}

/// Columns of Q and K, and of V and O.
struct HeadDims {
  int64_t of_q;
  int64_t of_v;
  constexpr HeadDims(int64_t both) : of_q(both), of_v(both) {}
  constexpr HeadDims(int64_t q, int64_t v) : of_q(q), of_v(v) {}
  constexpr explicit HeadDims(const Problem& problem)
      : of_q(problem.head_dim), of_v(problem.v_dim()) {}
  friend constexpr auto operator<=>(const HeadDims&, const HeadDims&) = default;
  std::string text() const {
    std::string both = std::to_string(of_q);
    if (of_v != of_q) both.append("/").append(std::to_string(of_v));
    return both;
  }
};

enum class VariantSet : uint8_t { all, covering, minimal, both, packed, study };

/// Whether the row has a kernel for packed sequences too. A build takes long enough: one tile a
/// head dim, the first that fits any length well.
constexpr bool takes_packed(std::string_view family, std::string_view name) {
  return (family == families::hopper && (name == "d64" || name == "d128_lazy")) ||
         (family == families::mma && (name == "d64_128x128" || name == "d128_128x64"));
}

// How long a problem takes with a tile, so that the fastest of several can be chosen beforehand: an
// item costs something of its own and something for every key that its tiles visit, seen or not.

/// What one CTA takes for an item: its start and end, and a key for all of its query rows.
struct ItemCost {
  double item_us = 0;
  double key_ns = 0;
};

/// A tile costs more with a mask: masked steps and uneven warpgroups make items dearer.
struct TileCost {
  ItemCost without_mask;
  ItemCost with_mask;

  constexpr bool measured() const { return without_mask.key_ns > 0; }
};

/// Time of `problem` in tiles of `tiling` on `workers` CTAs. Equal items come in whole waves; those
/// under a mask differ, and even out when the longest go first.
constexpr double estimated_us(const Problem& problem, const Tiling& tiling, const TileCost& cost,
                              int64_t workers) {
  const bool masked = problem.mask.kind != MaskKind::none;
  const ItemCost& item = masked ? cost.with_mask : cost.without_mask;
  constexpr double us_per_ns = 1e-3;
  const double tile_us = double(tiling.kv_rows) * item.key_ns * us_per_ns;
  const int64_t heads = problem.batch * problem.heads;
  const int64_t ranks = q_tiles(problem, tiling);
  if (!masked) {
    const int64_t waves = ceil_div(heads * ranks, workers);
    return double(waves) * (item.item_us + double(kv_tiles(problem, tiling)) * tile_us);
  }
  const double of_a_head =
      double(ranks) * item.item_us + double(visited_kv_tiles(problem, tiling)) * tile_us;
  return double(heads) * of_a_head / double(workers);
}

struct VariantRow {
  std::string_view family;
  std::string_view name;
  VariantSet set;
  HeadDims head_dims;
  Tiling tiling;
  int ctas_per_sm;
  int shared_bytes;
  std::string_view types;  // bf16, fp16, both of these or fp32
  int64_t most_keys = 0;   // of calls that name no family and get this kernel; 0: any number
  TileCost cost = {};      // where measured

  constexpr bool serves(ElementType type) const {
    return types == "both" ? type == ElementType::bf16 || type == ElementType::fp16
                           : types == name_of(type);
  }
};

namespace variant_words {

// Words of shapes, which are numbers of no meaning here.
inline constexpr int none = 0, ping_pong = 0, always = 0, lazy = 0;

/// From the columns behind the shared bytes: those of the hopper kernels end with the costs, before
/// which hopper-short has the most keys.
template <class... Column>
constexpr VariantRow with_costs(VariantRow row, Column... columns) {
  constexpr size_t of_hopper = 8, of_hopper_short = 9, count = sizeof...(columns);
  const std::array<double, count> numbers{static_cast<double>(columns)...};
  if constexpr (count == of_hopper_short) row.most_keys = static_cast<int64_t>(numbers[4]);
  if constexpr (count == of_hopper || count == of_hopper_short)
    row.cost = {{numbers[count - 4], numbers[count - 3]}, {numbers[count - 2], numbers[count - 1]}};
  return row;
}

inline constexpr auto forward = std::to_array<VariantRow>({
#define VARIANT(family, name, types, set, head_dim, head_dim_v, q_rows, kv_rows, ctas, bytes, ...) \
  with_costs({families::family,                                                                    \
              #name,                                                                               \
              VariantSet::set,                                                                     \
              {head_dim, head_dim_v},                                                              \
              {q_rows, kv_rows},                                                                   \
              ctas,                                                                                \
              bytes,                                                                               \
              #types},                                                                             \
             __VA_ARGS__),
#define BACKWARD_VARIANT(...)
#include "kernels/attention/variants.inc"
#undef VARIANT
#undef BACKWARD_VARIANT
});

}  // namespace variant_words

/// The preferred row of one family and head dim comes first.
inline constexpr auto variant_list = variant_words::forward;

/// The same of the backward pass.
inline constexpr auto backward_variant_list = std::to_array<VariantRow>({
#define VARIANT(...)
#define BACKWARD_VARIANT(family, name, types, set, head_dim, q_rows, kv_rows, ctas, bytes, ...) \
  {families::family, #name, VariantSet::set, head_dim, {q_rows, kv_rows}, ctas, bytes, #types},
#include "kernels/attention/variants.inc"
#undef VARIANT
#undef BACKWARD_VARIANT
});

}  // namespace sawtooth::kernels
