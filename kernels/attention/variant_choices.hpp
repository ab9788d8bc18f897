// What the choice of a kernel for a call reads of variants.inc besides the rows of
// variant_list.hpp, whatever this build contains: types, most keys and costs. Needs no CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {

struct VariantChoice {
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
inline constexpr int none = 0, ping_pong = 0;

/// From the columns behind the shared bytes: those of the hopper kernels end with the costs, before
/// which hopper-short has the most keys and what a CTA alone takes.
template <class... Column>
constexpr VariantChoice choice_of(std::string_view types, Column... columns) {
  constexpr size_t of_hopper = 7, of_hopper_short = 9, count = sizeof...(columns);
  const std::array<double, count> numbers{static_cast<double>(columns)...};
  VariantChoice choice{types};
  if constexpr (count == of_hopper_short) choice.most_keys = static_cast<int64_t>(numbers[3]);
  if constexpr (count == of_hopper || count == of_hopper_short)
    choice.cost = {{numbers[count - 4], numbers[count - 3]},
                   {numbers[count - 2], numbers[count - 1]}};
  if constexpr (count == of_hopper_short) choice.cost.alone = numbers[4];
  return choice;
}

inline constexpr auto forward = std::to_array<VariantChoice>({
#define VARIANT(family, name, types, set, head_dim, head_dim_v, q_rows, kv_rows, ctas, bytes, ...) \
  choice_of(#types, __VA_ARGS__),
#define BACKWARD_VARIANT(...)
#include "kernels/attention/variants.inc"
#undef VARIANT
#undef BACKWARD_VARIANT
});

}  // namespace variant_words

/// Choices of the rows of variant_list, by index.
inline constexpr auto variant_choices = variant_words::forward;

/// Those of the rows of backward_variant_list, by index; no costs are known.
inline constexpr auto backward_variant_choices = std::to_array<VariantChoice>({
#define VARIANT(...)
#define BACKWARD_VARIANT(family, name, types, ...) {#types},
#include "kernels/attention/variants.inc"
#undef VARIANT
#undef BACKWARD_VARIANT
});

}  // namespace sawtooth::kernels
