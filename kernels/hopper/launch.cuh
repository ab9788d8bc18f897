// Host side of one variant: tensor maps, grid, launch.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include "kernels/hopper/dependent_launch.cuh"
#include "kernels/hopper/forward.cuh"
#include "kernels/hopper/variants.hpp"
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
  check(cudaGetLastError(), "launching the Hopper kernel");
}

/// launch_forward for the table of all kernels: what went wrong as text.
template <class Shape>
std::string try_launch_forward(const ForwardArguments& arguments, CUstream_st* stream) {
  try {
    launch_forward<Shape>(arguments, stream);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

/// The variant as a row of the table of all kernels.
template <class Shape>
KernelVariant table_row() {
  constexpr int hopper = 90;
  return {.family = "hopper",
          .head_dim = Shape::head_dim,
          .tiling = Shape::tiling(),
          .dtype = std::is_same_v<typename Shape::Element, __nv_bfloat16> ? ElementType::bf16
                                                                          : ElementType::fp16,
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
          .launch = try_launch_forward<Shape>};
}

template <class Shape>
constexpr Variant make_variant(std::string_view name) {
  const bool bf16 = std::is_same_v<typename Shape::Element, __nv_bfloat16>;
  return {.name = name,
          .dtype = bf16 ? ElementType::bf16 : ElementType::fp16,
          .head_dim = Shape::head_dim,
          .tiling = Shape::tiling(),
          .stages = Shape::stages,
          .launch = launch_forward<Shape>,
          .row = table_row<Shape>};
}

}  // namespace sawtooth::kernels::hopper
