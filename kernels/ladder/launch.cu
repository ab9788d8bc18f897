#include <stdexcept>

#include "kernels/common/launch.cuh"
#include "kernels/ladder/ladder.hpp"
#include "kernels/ladder/level_5_kv_outer.cuh"

namespace sawtooth::kernels::ladder {
namespace {

// The template's argument names the level in the SASS, where the tests look for it.
template <class LevelKernel>
__global__ void __launch_bounds__(threads) ladder_kernel(Arguments arguments) {
  extern __shared__ __align__(128) unsigned char shared[];  // rows of a tile begin at bank 0
  LevelKernel::run(arguments, reinterpret_cast<typename LevelKernel::Element*>(shared));
}

struct Entry {
  void (*kernel)(Arguments);
  int shared_bytes;
  bool cta_a_head;
};

template <class LevelKernel>
Entry entry(bool cta_a_head = false) {
  constexpr int bytes =
      LevelKernel::shared_tiles * tile_elements * int(sizeof(typename LevelKernel::Element));
  const Entry made{ladder_kernel<LevelKernel>, bytes, cta_a_head};
  SAWTOOTH_CUDA_CHECK(
      cudaFuncSetAttribute(made.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return made;
}

template <class Element>
Entry entry_of(int level) {
  switch (level) {
    case 1:
      return entry<Naive<Element>>();
    case 2:
      return entry<Pipelined<Element>>();
    case 3:
      return entry<Swizzled<Element>>();
    case 4:
      return entry<Ldmatrix<Element>>();
    case 5:
      return entry<KvOuter<Element>>(true);
    default:
      throw std::invalid_argument(refusal(level, {}));
  }
}

Entry entry_of(int level, ElementType type) {
  return type == ElementType::fp16 ? entry_of<__half>(level) : entry_of<__nv_bfloat16>(level);
}

}  // namespace

void launch(int level, const Problem& problem, const Arguments& arguments, cudaStream_t stream) {
  const std::string reason = refusal(level, problem);
  if (!reason.empty()) throw std::invalid_argument(reason);
  const Entry chosen = entry_of(level, problem.dtype);
  if (chosen.cta_a_head && arguments.lse == nullptr)
    throw std::invalid_argument("ladder: level 5 needs the log-sum-exp buffer, which is null");
  const unsigned across = chosen.cta_a_head ? 1u : unsigned(arguments.tiles());
  const dim3 grid(across, unsigned(problem.batch * problem.heads));
  launch_kernel({grid, threads, size_t(chosen.shared_bytes), stream}, chosen.kernel, arguments);
}

Footprint footprint(int level, ElementType type) {
  const Entry chosen = entry_of(level, type);
  cudaFuncAttributes attributes{};
  SAWTOOTH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, chosen.kernel));
  int ctas = 0;
  SAWTOOTH_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, chosen.kernel, threads,
                                                                    size_t(chosen.shared_bytes)));
  return {attributes.numRegs, int64_t(attributes.localSizeBytes), chosen.shared_bytes, ctas};
}

}  // namespace sawtooth::kernels::ladder
