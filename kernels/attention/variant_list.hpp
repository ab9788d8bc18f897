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
  return (family == families::hopper && (name == "d64" || name == "d128")) ||
         (family == families::mma && (name == "d64_128x128" || name == "d128_128x64"));
}

/// Whether the row has a kernel for lists of tiles too: of tiles that divide blocks of 128 rows and
/// keys.
constexpr bool takes_lists(std::string_view family, std::string_view name) {
  return (family == families::hopper && (name == "d64_q128" || name == "d128")) ||
         (family == families::hopper_short && name == "d64") ||
         (family == families::mma && (name == "d64_128x128" || name == "d128_128x64"));
}

/// Whether a call that names no family may get a row that serves `most_keys` keys (0: any number).
/// Lists of tiles may have any number: their kernels are chosen by place_for_lists().
constexpr bool takes_keys(int64_t most_keys, int64_t keys, bool listed) {
  return most_keys == 0 || listed || keys <= most_keys;
}

/// Less is better, among rows that take lists: at head dim 64 two CTAs an SM are 6 to 11 % faster
/// than one with twice the keys (kernels/hopper/README.md).
constexpr int place_for_lists(std::string_view family) {
  return family == families::hopper_short ? 0 : 1;
}

struct VariantRow {
  std::string_view family;
  std::string_view name;
  VariantSet set;
  HeadDims head_dims;
  Tiling tiling;
  int ctas_per_sm;
  int shared_bytes;
};

/// The preferred row of one family and head dim comes first.
inline constexpr auto variant_list = std::to_array<VariantRow>({
#define VARIANT(family, name, types, set, head_dim, head_dim_v, q_rows, kv_rows, ctas, bytes, ...) \
  {families::family,                                                                               \
   #name,                                                                                          \
   VariantSet::set,                                                                                \
   {head_dim, head_dim_v},                                                                         \
   {q_rows, kv_rows},                                                                              \
   ctas,                                                                                           \
   bytes},
#define BACKWARD_VARIANT(...)
#include "kernels/attention/variants.inc"
#undef VARIANT
#undef BACKWARD_VARIANT
});

/// The same of the backward pass.
inline constexpr auto backward_variant_list = std::to_array<VariantRow>({
#define VARIANT(...)
#define BACKWARD_VARIANT(family, name, types, set, head_dim, q_rows, kv_rows, ctas, bytes, ...) \
  {families::family, #name, VariantSet::set, head_dim, {q_rows, kv_rows}, ctas, bytes},
#include "kernels/attention/variants.inc"
#undef VARIANT
#undef BACKWARD_VARIANT
});

}  // namespace sawtooth::kernels
