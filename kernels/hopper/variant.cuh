// Host side of one variant: tensor maps, grid, launch, and its row of the variant table.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/hopper/dependent_launch.cuh"
#include "kernels/hopper/forward.cuh"
#include "kernels/tma/tensor_map.hpp"

namespace sawtooth::kernels::hopper {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Enqueues the forward pass on `stream`. The caller has checked the problem against the variant.
template <class Shape>
void launch_forward(const ForwardArguments& arguments, cudaStream_t stream) {
  const Problem& problem = arguments.problem;
  const TensorExtent q_extent{problem.batch, problem.heads, problem.seq_q, problem.head_dim};
  const TensorExtent kv_extent{problem.batch, problem.kv_heads, problem.seq_kv, problem.head_dim};
  constexpr BoxExtent q_box{Shape::cta_q_rows, Shape::panels};
  constexpr BoxExtent kv_box{Shape::kv_rows, Shape::panels_a_load};
  const CUtensorMap q_map =
      make_tensor_map(arguments.q, problem.dtype, q_extent, arguments.q_strides, q_box);
  const CUtensorMap k_map =
      make_tensor_map(arguments.k, problem.dtype, kv_extent, arguments.k_strides, kv_box);
  const CUtensorMap v_map =
      make_tensor_map(arguments.v, problem.dtype, kv_extent, arguments.v_strides, kv_box);

  const int64_t items = item_count(problem, Shape::tiling(), arguments.schedule);
  const bool grid = arguments.schedule.launch == launch_id<GridLaunch>;
  const int64_t workers = grid ? items : std::min(items, arguments.schedule.workers);
  check(cudaFuncSetAttribute(forward<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared_bytes<Shape>),
        "setting the shared memory of the Hopper kernel");
  cudaLaunchAttribute cluster{.id = cudaLaunchAttributeClusterDimension, .val = {}};
  cluster.val.clusterDim = {.x = Shape::cluster, .y = 1, .z = 1};
  std::array attributes{begins_under_launch_before(), cluster};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(workers * Shape::cluster));
  config.blockDim = dim3(Shape::threads);
  config.dynamicSmemBytes = shared_bytes<Shape>;
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = Shape::cluster > 1 ? 2 : 1;
  check(cudaLaunchKernelEx(&config, forward<Shape>, q_map, k_map, v_map, arguments),
        "launching the Hopper kernel");
}

/// launch_forward for the variant table: what went wrong as text.
template <class Shape>
std::string try_launch_forward(const ForwardArguments& arguments, CUstream_st* stream) {
  try {
    launch_forward<Shape>(arguments, stream);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

template <class Shape>
KernelVariant hopper_variant(const char* name, VariantSet set, const TileCost& cost) {
  constexpr int hopper = 90;
  const bool bf16 = std::is_same_v<typename Shape::Element, __nv_bfloat16>;
  return {.family = families::hopper,
          .name = name,
          .head_dim = Shape::head_dim,
          .tiling = Shape::tiling(),
          .dtype = bf16 ? ElementType::bf16 : ElementType::fp16,
          .warps = Shape::threads / 32,
          .stages = Shape::stages,
          .ctas_per_sm = 1,
          .shared_bytes = shared_bytes<Shape>,
          .cluster = Shape::cluster,
          .function = reinterpret_cast<const void*>(&forward<Shape>),
          .compute_capability = hopper,
          .loads_by_copy_engine = true,
          .merges_pieces = true,
          .resets_state = true,
          .rung = set == VariantSet::rung,
          .cost = cost,
          .launch = try_launch_forward<Shape>};
}

using element_bf16 = __nv_bfloat16;
using element_fp16 = __half;

}  // namespace sawtooth::kernels::hopper

// Defines `function()`, which kernels/attention/built_variants.hpp declares, from the columns of
// kernels/attention/variants.inc.
#define SAWTOOTH_VARIANT(function, type, name, set, head_dim, tile_q, kv_rows, ctas, bytes,   \
                         consumers, stages, overlap, rescale, cluster, us, ns, masked_us,     \
                         masked_ns)                                                           \
  namespace sawtooth::kernels {                                                               \
  KernelVariant function() {                                                                  \
    using Shape = hopper::Shape<hopper::element_##type, head_dim, consumers, kv_rows, stages, \
                                hopper::Overlap::overlap, hopper::Rescale::rescale, cluster>; \
    static_assert(Shape::q_rows == tile_q, "Q rows are 64 for each consumer of each CTA");    \
    return hopper::hopper_variant<Shape>(#type "_" #name, VariantSet::set,                    \
                                         {{us, ns}, {masked_us, masked_ns}});                 \
  }                                                                                           \
  }
