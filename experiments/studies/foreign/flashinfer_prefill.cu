// FlashInfer's prefill kernel for one request, as a C function, so that it can be launched without
// its package.
//
// Not part of the build: it compiles against a checkout of flashinfer-ai/flashinfer, whose headers
// are the kernels:
//
//   nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a --use_fast_math
//   --expt-relaxed-constexpr \
//     -DNDEBUG -shared -Xcompiler -fPIC -I flashinfer/include -o libflashinfer_prefill.so \
//     experiments/studies/foreign/flashinfer_prefill.cu
//
// kernels.py launches it; SAWTOOTH_FLASHINFER names the library.
#include <cuda_bf16.h>
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/mask.cuh>
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/variants.cuh>
#include <flashinfer/pos_enc.cuh>

namespace {

using Element = __nv_bfloat16;
using Parameters = flashinfer::SinglePrefillParams<Element, Element, Element>;
using flashinfer::MaskMode;
using flashinfer::PosEncodingMode;

template <uint32_t head_dim, MaskMode mask>
cudaError_t prefill(const Parameters& parameters, cudaStream_t stream) {
  using Variant = flashinfer::DefaultAttention<false, false, false, false>;
  Element* const whole = nullptr;  // no room for partial results: K/V of an item are not split
  return flashinfer::SinglePrefillWithKVCacheDispatched<head_dim, head_dim, PosEncodingMode::kNone,
                                                        false, mask, Variant>(parameters, whole,
                                                                              stream);
}

}  // namespace

/// q, k, v, o: [heads, length, head_dim] of bf16, contiguous. Returns a cudaError_t.
extern "C" int flashinfer_prefill(void* q, void* k, void* v, void* o, int heads, int length,
                                  int head_dim, int causal, float scale, void* stream) {
  const uint32_t row = head_dim, head = uint32_t(length) * head_dim;
  Parameters parameters(static_cast<Element*>(q), static_cast<Element*>(k),
                        static_cast<Element*>(v), nullptr, static_cast<Element*>(o), nullptr,
                        nullptr, heads, heads, length, length, row, head, row, head, head_dim, -1,
                        0.0f, scale, 1.0f, 1e4f);
  // O has the layout of a batch of tokens: [length, heads, head_dim]; with one head the same.
  auto* const at = static_cast<cudaStream_t>(stream);
  if (head_dim == 64)
    return causal ? prefill<64, MaskMode::kCausal>(parameters, at)
                  : prefill<64, MaskMode::kNone>(parameters, at);
  if (head_dim == 128)
    return causal ? prefill<128, MaskMode::kCausal>(parameters, at)
                  : prefill<128, MaskMode::kNone>(parameters, at);
  return cudaErrorInvalidValue;
}
