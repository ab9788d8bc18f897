#include "kernels/tma/tensor_map.hpp"

#include <stdexcept>
#include <string>

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

namespace sawtooth::kernels {
namespace {

template <class Function>
Function driver_function(const char* name, unsigned int first_version_with_it) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status = cudaGetDriverEntryPointByVersion(
      name, &function, first_version_with_it, cudaEnableDefault, &found);
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess)
    throw std::runtime_error(std::string("the CUDA driver offers no ") + name +
                             ": tensor maps need driver 525 or later");
  return reinterpret_cast<Function>(function);
}

/// The driver encodes maps in a thread with a context only; the runtime gives a thread one at its
/// first launch or copy. A context that the caller made current stays.
void bind_context() {
  static const auto current = driver_function<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000);
  CUcontext context = nullptr;
  if (current(&context) == CUDA_SUCCESS && context != nullptr) return;
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaSetDevice(device);  // makes its primary context current
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("making the device's context current: ") +
                             cudaGetErrorString(status));
}

}  // namespace

CUtensorMap make_tensor_map(const void* tensor, ElementType type, const TensorExtent& extent,
                            const Strides& strides, const BoxExtent& box_extent,
                            MissBytes miss_bytes) {
  static const auto encode =
      driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled", 12000);
  bind_context();
  constexpr int dimensions = 5;
  constexpr cuuint64_t element = 2;  // bytes
  constexpr int wide_panel = 64;     // elements: rows of 128 bytes, the widest swizzle
  const int panel_columns = box_extent.panel_columns;
  const cuuint64_t panel_bytes = cuuint64_t(panel_columns) * element;
  const bool full_panels = !box_extent.one_panel && extent.head_dim % panel_columns == 0;
  const cuuint64_t columns = cuuint64_t(full_panels ? panel_columns : extent.head_dim);
  const cuuint64_t panels = cuuint64_t(extent.head_dim) / columns;
  const cuuint64_t sizes[dimensions] = {columns, cuuint64_t(extent.rows), panels,
                                        cuuint64_t(extent.heads), cuuint64_t(extent.batch)};
  // A dimension of size 1 is never stepped over, but its stride must still be a valid one.
  const auto bytes = [&](int64_t stride, int64_t size) {
    return size > 1 ? cuuint64_t(stride) * element : panel_bytes;
  };
  const cuuint64_t pitches[dimensions - 1] = {bytes(strides.row, extent.rows), panel_bytes,
                                              bytes(strides.head, extent.heads),
                                              bytes(strides.batch, extent.batch)};
  const cuuint32_t box[dimensions] = {cuuint32_t(panel_columns), cuuint32_t(box_extent.rows),
                                      cuuint32_t(panels), 1, 1};
  const cuuint32_t steps[dimensions] = {1, 1, 1, 1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map,
             type == ElementType::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                       : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
             dimensions, const_cast<void*>(tensor), sizes, pitches, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE,
             panel_columns == wide_panel ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
             miss_bytes == MissBytes::of_128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
                                             : CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(
        "cuTensorMapEncodeTiled refused a tensor of " + std::to_string(extent.rows) +
        " rows with strides " + std::to_string(strides.row) + ", " + std::to_string(strides.head) +
        ", " + std::to_string(strides.batch) + " elements: error " + std::to_string(int(result)));
  return map;
}

}  // namespace sawtooth::kernels
