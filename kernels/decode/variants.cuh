// Rows of the table of decode kernels from their shapes.
#pragma once

#include <vector>

#include "kernels/decode/decode.cuh"
#include "kernels/mma/variant_row.cuh"

namespace sawtooth::kernels::decode {

template <class Shape>
KernelVariant async_variant(const char* name) {
  KernelVariant row = mma_variant<Shape, Storage<Shape>>(
      families::mma, name, VariantSet::all, reinterpret_cast<const void*>(&decode_async<Shape>));
  constexpr int first_with_async_copies = 80;
  row.from_compute_capability = first_with_async_copies;
  return row;
}

template <class Shape>
KernelVariant tma_variant(const char* name) {
  KernelVariant row = mma_variant<Shape, Storage<Shape>>(
      families::mma_tma, name, VariantSet::all, reinterpret_cast<const void*>(&decode_tma<Shape>));
  constexpr int first_with_copy_engine = 90;
  row.from_compute_capability = first_with_copy_engine;
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
