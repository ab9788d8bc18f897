#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tests/kernels/hopper/device_array.hpp"
#include "tests/kernels/hopper/reference_rows.hpp"

namespace sawtooth::kernels::hopper {

namespace {

__device__ double to_double(uint16_t bits, bool bf16) {
  return bf16 ? double(__bfloat162float(__ushort_as_bfloat16(bits)))
              : double(__half2float(__ushort_as_half(bits)));
}

/// One block a sampled row: out[sample * head_dim ...] and lse[sample] in double.
__global__ void compute_rows(ForwardArguments a, const int64_t* rows, double* out, double* lse,
                             double* scores, double scale) {
  const Problem& p = a.problem;
  const bool bf16 = p.dtype == ElementType::bf16;
  const int64_t flat = rows[blockIdx.x];
  const int64_t row = flat % p.seq_q, head = flat / p.seq_q % p.heads, b = flat / p.seq_q / p.heads;
  const uint16_t* q = static_cast<const uint16_t*>(a.q) + a.q_strides.offset(b, head, row);
  const uint16_t* k =
      static_cast<const uint16_t*>(a.k) + a.k_strides.offset(b, p.kv_head_of(head), 0);
  const uint16_t* v =
      static_cast<const uint16_t*>(a.v) + a.v_strides.offset(b, p.kv_head_of(head), 0);
  double* s = scores + blockIdx.x * p.seq_kv;
  __shared__ double partial[256];
  const int64_t diagonal = p.seq_kv - p.seq_q;
  double top = -INFINITY;
  for (int64_t j = threadIdx.x; j < p.seq_kv; j += blockDim.x) {
    bool visible = true;
    if (p.mask.kind != MaskKind::none) visible = j <= row + diagonal;
    if (p.mask.kind == MaskKind::window) visible = visible && row + diagonal - p.mask.window < j;
    double dot = 0;
    for (int64_t d = 0; d < p.head_dim; ++d) {
      dot += to_double(q[d], bf16) * to_double(k[j * a.k_strides.row + d], bf16);
    }
    s[j] = visible ? dot * scale : -INFINITY;
    top = fmax(top, s[j]);
  }
  partial[threadIdx.x] = top;
  __syncthreads();
  for (int i = 0; i < blockDim.x; ++i) top = fmax(top, partial[i]);
  __syncthreads();
  double sum = 0;
  for (int64_t j = threadIdx.x; j < p.seq_kv; j += blockDim.x) {
    s[j] = top == -INFINITY ? 0 : exp(s[j] - top);
    sum += s[j];
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < blockDim.x; ++i) sum += partial[i];
  if (threadIdx.x == 0) lse[blockIdx.x] = sum > 0 ? top + log(sum) : -INFINITY;
  for (int64_t d = threadIdx.x; d < p.head_dim; d += blockDim.x) {
    double o = 0;
    for (int64_t j = 0; j < p.seq_kv; ++j) {
      o += s[j] * to_double(v[j * a.v_strides.row + d], bf16);
    }
    out[blockIdx.x * p.head_dim + d] = sum > 0 ? o / sum : 0;
  }
}

}  // namespace

ReferenceRows reference_rows(const ForwardArguments& arguments, const std::vector<int64_t>& sample,
                             double scale) {
  constexpr int threads = 128;
  const auto n = int64_t(sample.size());
  const Problem& p = arguments.problem;
  DeviceArray<int64_t> rows(n);
  DeviceArray<double> o(n * p.head_dim), lse(n), scores(n * p.seq_kv);
  CHECK_CUDA(
      cudaMemcpy(rows.data, sample.data(), sample.size() * sizeof(int64_t), cudaMemcpyDefault));
  compute_rows<<<unsigned(n), threads>>>(arguments, rows.data, o.data, lse.data, scores.data,
                                         scale);
  CHECK_CUDA(cudaDeviceSynchronize());
  ReferenceRows result{std::vector<double>(size_t(o.size)), std::vector<double>(size_t(n))};
  CHECK_CUDA(
      cudaMemcpy(result.o.data(), o.data, result.o.size() * sizeof(double), cudaMemcpyDefault));
  CHECK_CUDA(cudaMemcpy(result.lse.data(), lse.data, result.lse.size() * sizeof(double),
                        cudaMemcpyDefault));
  return result;
}

}  // namespace sawtooth::kernels::hopper
