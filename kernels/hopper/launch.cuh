// Host side of one variant: tensor maps, grid, launch.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include "kernels/hopper/forward.cuh"
#include "kernels/hopper/tensor_map.hpp"
#include "kernels/hopper/variants.hpp"

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
  const CUtensorMap q_map =
      make_tensor_map(arguments.q, problem.dtype, q_extent, arguments.q_strides, Shape::q_rows);
  const CUtensorMap k_map =
      make_tensor_map(arguments.k, problem.dtype, kv_extent, arguments.k_strides, Shape::kv_rows);
  const CUtensorMap v_map =
      make_tensor_map(arguments.v, problem.dtype, kv_extent, arguments.v_strides, Shape::kv_rows);

  const int64_t items = item_count(problem, Shape::tiling(), arguments.schedule);
  const bool grid = arguments.schedule.launch == launch_id<GridLaunch>;
  const int64_t ctas = grid ? items : std::min(items, arguments.schedule.workers);
  check(cudaFuncSetAttribute(forward<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared_bytes<Shape>),
        "setting the shared memory of the Hopper kernel");
  forward<Shape><<<unsigned(ctas), Shape::threads, shared_bytes<Shape>, stream>>>(q_map, k_map,
                                                                                  v_map, arguments);
  check(cudaGetLastError(), "launching the Hopper kernel");
}

template <class Shape>
constexpr Variant make_variant(std::string_view name) {
  const bool bf16 = std::is_same_v<typename Shape::Element, __nv_bfloat16>;
  return {.name = name,
          .dtype = bf16 ? ElementType::bf16 : ElementType::fp16,
          .head_dim = Shape::head_dim,
          .tiling = Shape::tiling(),
          .stages = Shape::stages,
          .launch = launch_forward<Shape>};
}

}  // namespace sawtooth::kernels::hopper
