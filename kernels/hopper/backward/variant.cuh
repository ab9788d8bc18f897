// The backward kernel for sm_90a, and one row of the variant table from its shape. Warpgroup 0
// produces (one warp finds items, one walks their tiles, one loads, one adds dQ), the others
// consume. kernels/hopper/README.md follows a tile.
#pragma once

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/hopper/backward/consumer.cuh"
#include "kernels/hopper/backward/dq_writer.cuh"
#include "kernels/hopper/backward/loader.cuh"
#include "kernels/hopper/instructions.cuh"
#include "kernels/hopper/scan_warp.cuh"
#include "kernels/hopper/scheduler_warp.cuh"

namespace sawtooth::kernels::hopper {

/// One thread of each of four warps works, the rest of the warpgroup waits for the end.
template <class Shape>
__device__ void produce_for_backward(BackwardStorage<Shape>& shared, const BackwardMaps& maps) {
  constexpr int loader_thread = 0;
  constexpr int scheduler_thread = 32;
  constexpr int scan_thread = 64;
  constexpr int writer_thread = 96;
  using Hand = decltype(shared.hand);
  if (threadIdx.x == loader_thread) {
    BackwardLoader<Shape>(shared, maps).run();
  } else if (threadIdx.x == scheduler_thread) {
    SchedulerWarp<Shape, Hand>(shared.hand).run();
  } else if (threadIdx.x == scan_thread) {
    ScanWarp<Shape, Hand>(shared.hand).run();
  } else if (threadIdx.x == writer_thread) {
    DqWriter<Shape>(shared).run();
  }
  __syncwarp();
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    backward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
             const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap d_o_map,
             const __grid_constant__ BackwardArguments arguments) {
  extern __shared__ unsigned char memory[];
  const uintptr_t start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (start + swizzle_group_bytes - 1) / swizzle_group_bytes;
  auto& shared = *reinterpret_cast<BackwardStorage<Shape>*>(aligned * swizzle_group_bytes);
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&q_map, &k_map, &v_map, &d_o_map}) prefetch_tensor_map(*map);
    shared.initialise_barriers();
    shared.hand.arguments = arguments;
    fence_initialised_barriers();
  }
  __syncthreads();

  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / warpgroup_threads, 0);
  if (warpgroup == 0) {
    shrink_registers<Shape::producer_registers>();
    produce_for_backward(shared, {q_map, k_map, v_map, d_o_map});
  } else {
    grow_registers<Shape::consumer_registers>();
    wait_for_launch_before();
    GradientConsumer<Shape>(arguments, shared, warpgroup - 1).run();
  }
}

/// `Shape` adds to dQ in any order, `Ordered` in turn.
template <class Shape, class Ordered>
KernelVariant backward_variant(const char* family, const char* name, VariantSet set) {
  constexpr int hopper = 90;
  static_assert(!Shape::ordered && Ordered::ordered &&
                backward_shared_bytes<Shape> == backward_shared_bytes<Ordered>);
  const bool bf16 = std::is_same_v<typename Shape::Element, __nv_bfloat16>;
  return {.family = family,
          .name = name,
          .head_dim = Shape::head_dim,
          .head_dim_v = Shape::head_dim,
          .tiling = Shape::tiling(),
          .dtype = bf16 ? ElementType::bf16 : ElementType::fp16,
          .warps = Shape::threads / 32,
          .stages = Shape::stages,
          .ctas_per_sm = 1,
          .shared_bytes = backward_shared_bytes<Shape>,
          .function = reinterpret_cast<const void*>(&backward<Shape>),
          .ordered_function = reinterpret_cast<const void*>(&backward<Ordered>),
          .compute_capability = hopper,
          .q_box = {Shape::q_rows},
          .kv_box = {Shape::kv_rows},
          .fills_sm = true,
          .begins_early = true,
          .study = set == VariantSet::study,
          .dq_in_parts = true};
}

using element_bf16 = __nv_bfloat16;
using element_fp16 = __half;

}  // namespace sawtooth::kernels::hopper

// Defines `function()`, which kernels/attention/variant_table.cpp calls, from the columns of
// kernels/attention/variants.inc.
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, q_rows, kv_rows, ctas, \
                         bytes, stages, part_rows)                                           \
  namespace sawtooth::kernels {                                                              \
  template <bool Ordered>                                                                    \
  using Shape_##function = hopper::BackwardShape<hopper::element_##type, head_dim, q_rows,   \
                                                 kv_rows, stages, part_rows, Ordered>;       \
  KernelVariant function() {                                                                 \
    return hopper::backward_variant<Shape_##function<false>, Shape_##function<true>>(        \
        families::family, #type "_" #name, VariantSet::set);                                 \
  }                                                                                          \
  }
