// FlashInfer's decode behind a C interface, for decode.py: the kernels that its Python package
// would compile with nvcc at the first call, by the headers of its wheel alone, with its flags.
//
// Not part of the build:
//
//   pip download flashinfer-python==0.7.2.post1 --no-deps && unzip flashinfer_python-*.whl
//   nvcc -shared -Xcompiler -fPIC -O3 -DNDEBUG -std=c++20 --use_fast_math --expt-relaxed-constexpr
//   \
//     -DFLASHINFER_ENABLE_F16 -DFLASHINFER_ENABLE_BF16 -arch sm_90a -I CCCL/libcudacxx/include \
//     -I CCCL/cub -I CCCL/thrust -I flashinfer/data/include -o libflashinfer_decode.so \
//     flashinfer_decode.cu       (CCCL: flashinfer/data/cccl)
//
// bf16, head dim 128, one query a sequence, full pages by any strides. With `tensor_cores` it takes
// FlashInfer's kernel for several queries, which its documentation advises for groups of heads.
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <flashinfer/attention/decode.cuh>
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/scheduler.cuh>
#include <flashinfer/attention/variants.cuh>

using namespace flashinfer;

// The names of kernels hold these, so they have no place of their own.
using Element = nv_bfloat16;
using Variant = DefaultAttention<false, false, false, false>;
using Decode = BatchDecodeParams<Element, Element, Element, int32_t>;
using Prefill = BatchPrefillPagedParams<Element, Element, Element, int32_t>;

namespace {

constexpr uint32_t dim = 128;
constexpr std::size_t float_bytes = std::size_t{128} << 20;  // as its Python examples have
constexpr std::size_t int_bytes = std::size_t{8} << 20;      // as its Python wrappers have

std::string message;

int failed(const std::string& what) {
  message = what;
  return 1;
}

int taken(cudaError_t error) {
  return error == cudaSuccess ? 0 : failed(cudaGetErrorString(error));
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* made = nullptr;
  cudaMalloc(&made, values.size() * sizeof(T));
  cudaMemcpy(made, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return made;
}

struct Plan {
  bool tensor_cores;
  Decode decode;
  Prefill prefill;
  Element* tmp_v = nullptr;
  float* tmp_s = nullptr;
  uint32_t tile_rows = 0;
};

struct Workspace {
  void *floats = nullptr, *ints = nullptr, *pinned = nullptr;

  template <class T>
  T* at(int64_t offset) const {
    return GetPtrFromBaseOffset<T>(ints, offset);
  }
};

cudaError_t plan_decode(Plan& plan, const Workspace& space, std::vector<int32_t>& first_pages,
                        uint32_t batch, uint32_t heads, uint32_t kv_heads, uint32_t page_rows) {
  DecodePlanInfo info;
  cudaError_t status = cudaSuccess;
  DISPATCH_GQA_GROUP_SIZE(heads / kv_heads, GROUP_SIZE, {
    status = DecodePlan<dim, PosEncodingMode::kNone, Variant, Decode>(
        space.floats, float_bytes, space.ints, space.pinned, int_bytes, info, first_pages.data(),
        batch, heads, page_rows, false, nullptr,
        BatchDecodeWithPagedKVCacheWorkEstimationDispatched<GROUP_SIZE, dim, PosEncodingMode::kNone,
                                                            Variant, Decode>);
  });
  Decode& params = plan.decode;
  params.request_indices = space.at<int32_t>(info.request_indices_offset);
  params.kv_tile_indices = space.at<int32_t>(info.kv_tile_indices_offset);
  params.o_indptr = space.at<int32_t>(info.o_indptr_offset);
  params.kv_chunk_size_ptr = space.at<int32_t>(info.kv_chunk_size_ptr_offset);
  params.padded_batch_size = uint32_t(info.padded_batch_size);
  if (info.split_kv) {
    plan.tmp_v = GetPtrFromBaseOffset<Element>(space.floats, info.v_offset);
    plan.tmp_s = GetPtrFromBaseOffset<float>(space.floats, info.s_offset);
  }
  return status;
}

cudaError_t plan_prefill(Plan& plan, const Workspace& space, std::vector<int32_t>& first_queries,
                         std::vector<int32_t>& first_pages, uint32_t batch, uint32_t heads,
                         uint32_t kv_heads, uint32_t page_rows) {
  PrefillPlanInfo info;
  const cudaError_t status = PrefillPlan<int32_t>(
      space.floats, float_bytes, space.ints, space.pinned, int_bytes, info, first_queries.data(),
      first_pages.data(), batch, batch, heads, kv_heads, dim, dim, page_rows, false,
      sizeof(Element), -1, -1, false, 0, 0, nullptr);
  Prefill& params = plan.prefill;
  params.request_indices = space.at<int32_t>(info.request_indices_offset);
  params.qo_tile_indices = space.at<int32_t>(info.qo_tile_indices_offset);
  params.kv_tile_indices = space.at<int32_t>(info.kv_tile_indices_offset);
  params.o_indptr = space.at<int32_t>(info.o_indptr_offset);
  params.kv_chunk_size_ptr = space.at<int32_t>(info.kv_chunk_size_ptr_offset);
  params.padded_batch_size = uint32_t(info.padded_batch_size);
  params.max_total_num_rows = uint32_t(info.total_num_rows);
  if (info.split_kv) {
    params.merge_indptr = space.at<int32_t>(info.merge_indptr_offset);
    plan.tmp_v = GetPtrFromBaseOffset<Element>(space.floats, info.v_offset);
    plan.tmp_s = GetPtrFromBaseOffset<float>(space.floats, info.s_offset);
  }
  plan.tile_rows = uint32_t(info.cta_tile_q);
  return status;
}

}  // namespace

extern "C" {

const char* flashinfer_last_message() {
  return message.c_str();
}

/// q, o: [batch, heads, dim]; strides of K and of V in elements: page, head, row. Pages of sequence
/// i are pages[first_pages[i]] to the one before first_pages[i + 1], all full. What a plan takes
/// lives as long as the process.
int flashinfer_decode_plan(void* q, void* k, void* v, void* o, int64_t batch, int64_t heads,
                           int64_t kv_heads, const int64_t* strides, int64_t page_rows,
                           const int32_t* first_pages, const int32_t* pages, int tensor_cores,
                           float scale, void** made) try {
  std::vector<int32_t> firsts(first_pages, first_pages + batch + 1), queries;
  std::vector<int32_t> last(firsts.size() - 1, static_cast<int32_t>(page_rows));
  for (int32_t i = 0; i <= batch; ++i) queries.push_back(i);
  static void* floats = nullptr;  // of all plans, which run one after the other
  if (floats == nullptr) cudaMalloc(&floats, float_bytes);
  Workspace space{.floats = floats};
  cudaMalloc(&space.ints, int_bytes);
  cudaMallocHost(&space.pinned, int_bytes);
  Plan& plan = *new Plan{.tensor_cores = tensor_cores != 0};
  paged_kv_t<Element, int32_t> cache(uint32_t(kv_heads), uint32_t(page_rows), dim, uint32_t(batch),
                                     QKVLayout::kHND, static_cast<Element*>(k),
                                     static_cast<Element*>(v), strides,
                                     on_device(std::vector<int32_t>(pages, pages + firsts.back())),
                                     on_device(firsts), on_device(last));
  plan.decode =
      Decode(static_cast<Element*>(q), nullptr, cache, static_cast<Element*>(o), nullptr, nullptr,
             uint32_t(heads), int32_t(heads * dim), int32_t(dim), -1, 0, scale, 1, 1e4f);
  plan.prefill = Prefill(static_cast<Element*>(q), cache, nullptr, on_device(queries), nullptr,
                         nullptr, static_cast<Element*>(o), nullptr, nullptr, uint32_t(heads),
                         int32_t(heads * dim), int32_t(dim), -1, 0, scale, 1, 1e4f);
  const cudaError_t status =
      plan.tensor_cores ? plan_prefill(plan, space, queries, firsts, uint32_t(batch),
                                       uint32_t(heads), uint32_t(kv_heads), uint32_t(page_rows))
                        : plan_decode(plan, space, firsts, uint32_t(batch), uint32_t(heads),
                                      uint32_t(kv_heads), uint32_t(page_rows));
  *made = &plan;
  if (status == cudaSuccess) return taken(cudaDeviceSynchronize());
  return taken(status);
} catch (const std::exception& error) {
  return failed(error.what());
}

int flashinfer_decode_run(void* made, cudaStream_t stream) try {
  Plan& plan = *static_cast<Plan*>(made);
  constexpr bool early = true;  // dependent launch, as the Python package has it from sm_90 on
  if (!plan.tensor_cores)
    return taken(BatchDecodeWithPagedKVCacheDispatched<dim, PosEncodingMode::kNone, Variant>(
        plan.decode, plan.tmp_v, plan.tmp_s, early, stream));
  cudaError_t status = cudaSuccess;
  DISPATCH_CTA_TILE_Q(plan.tile_rows, CTA_TILE_Q, {
    status =
        BatchPrefillWithPagedKVCacheDispatched<true, CTA_TILE_Q, dim, dim, PosEncodingMode::kNone,
                                               false, MaskMode::kNone, Variant>(
            plan.prefill, plan.tmp_v, plan.tmp_s, early, stream);
  });
  return taken(status);
} catch (const std::exception& error) {
  return failed(error.what());
}

}  // extern "C"
