// Rows of the table of decode kernels from their shapes.
#pragma once

#include <type_traits>
#include <vector>

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/decode/decode.cuh"

namespace sawtooth::kernels::decode {

template <class Shape>
KernelVariant variant_row(const char* name) {
  return {.name = name,
          .head_dim = Shape::head_dim,
          .head_dim_v = Shape::head_dim,
          .tiling = {Shape::rows, Shape::kv_rows},
          .dtype = std::is_same_v<typename Shape::Element, __nv_bfloat16> ? ElementType::bf16
                                                                          : ElementType::fp16,
          .warps = Shape::threads / 32,
          .stages = Shape::stages,
          .ctas_per_sm = Shape::ctas_per_sm,
          .shared_bytes = shared_bytes<Shape>(0)};
}

template <class Shape>
KernelVariant mma_variant(const char* name) {
  KernelVariant row = variant_row<Shape>(name);
  row.family = families::mma;
  row.function = reinterpret_cast<const void*>(&decode_async<Shape>);
  row.from_compute_capability = 80;  // the first with asynchronous copies
  return row;
}

template <class Shape>
KernelVariant mma_tma_variant(const char* name) {
  KernelVariant row = variant_row<Shape>(name);
  row.family = families::mma_tma;
  row.function = reinterpret_cast<const void*>(&decode_tma<Shape>);
  row.from_compute_capability = 90;  // the first with a copy engine
  row.kv_box = {Shape::kv_rows};
  row.q_box = row.kv_box;  // Q has no map; the row says by this that K and V have theirs
  row.begins_early = true;
  return row;
}

}  // namespace sawtooth::kernels::decode

// A row of variants.inc has kernels of both types; a translation unit defines ROW_OF_family.
#define DECODE_VARIANT(family, head_dim, groups, key_blocks, stages, ctas)                        \
  ROW_OF_##family(__nv_bfloat16, "bf16_d" #head_dim "_" #groups, head_dim, groups, 1, key_blocks, \
                  stages, ctas) ROW_OF_##family(__half, "fp16_d" #head_dim "_" #groups, head_dim, \
                                                groups, 1, key_blocks, stages, ctas)
