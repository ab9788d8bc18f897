// The rows of the variant table of the kernels whose tiles come by cp.async.
#pragma once

#include "kernels/mma/forward.cuh"
#include "kernels/mma/variant_row.cuh"

namespace sawtooth::kernels {

/// With loads by cp.async. `Packed`: with the kernel for packed sequences; `Listed`: with that for
/// lists of tiles; `Ahead`: that asks half a step ahead.
template <class Given, bool Packed, bool Listed, bool Ahead>
KernelVariant async_variant(const char* family, const char* name, VariantSet set) {
  using Shape = std::conditional_t<Ahead, HalfStepAhead<Given>, Given>;
  KernelVariant row = mma_variant<Shape, ForwardStorage<Shape>>(
      family, name, set, reinterpret_cast<const void*>(&forward_kernel<Shape>));
  if constexpr (!Shape::is_fp32) {
    if (set != VariantSet::study)
      row.running_function = reinterpret_cast<const void*>(&forward_running_kernel<Shape>);
  }
  if constexpr (Packed) {
    row.packed_function = reinterpret_cast<const void*>(&forward_packed_kernel<Shape>);
    row.packed_shared_bytes = shared_bytes_of<PackedForwardStorage<Shape>>();
  }
  if constexpr (Listed) {
    using ListedOne = ListedForwardShape<Shape>;
    row.listed_function = reinterpret_cast<const void*>(&forward_listed_kernel<ListedOne>);
    row.listed_shared_bytes = shared_bytes_of<ForwardStorage<ListedOne>>();
  }
  return row;
}

}  // namespace sawtooth::kernels

// Defines `function()`, which kernels/attention/variant_table.cpp calls, from the columns of
// kernels/attention/variants.inc; `row` makes the row from a shape.
#define SAWTOOTH_MMA_VARIANT(row, family, function, type, name, set, head_dim, head_dim_v, q_rows, \
                             kv_rows, ctas, warps, stages, score_columns, q_in_registers)          \
  namespace sawtooth::kernels {                                                                    \
  KernelVariant function() {                                                                       \
    return row<ForwardShape<element_##type, head_dim, q_rows, kv_rows, warps, stages,              \
                            score_columns, q_in_registers, ctas, head_dim_v>,                      \
               takes_packed(families::family, #name), takes_lists(families::family, #name),        \
               families::family == std::string_view(families::mma_half_step)>(                     \
        families::family, #type "_" #name, VariantSet::set);                                       \
  }                                                                                                \
  }
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, head_dim_v, q_rows, kv_rows, \
                         ctas, bytes, ...)                                                         \
  SAWTOOTH_MMA_VARIANT(async_variant, family, function, type, name, set, head_dim, head_dim_v,     \
                       q_rows, kv_rows, ctas, __VA_ARGS__)
