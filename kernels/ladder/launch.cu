#include <array>
#include <stdexcept>

#include "kernels/common/launch.cuh"
#include "kernels/ladder/ladder.hpp"
#include "kernels/ladder/level_5_kv_outer.cuh"

namespace sawtooth::kernels::ladder {
namespace {

constexpr std::array<Level, 5> table{
    {{"naive"}, {"pipelined"}, {"swizzled"}, {"ldmatrix"}, {"kv-outer", Loop::kv_outer}}};

// CUDA C++ Programming Guide, "Technical Specifications": most blocks along y and z of a grid.
constexpr int64_t most_heads = 65535;

// The template's argument names the level in the SASS, where the tests look for it.
template <class LevelKernel>
__global__ void __launch_bounds__(threads) ladder_kernel(Arguments arguments) {
  extern __shared__ __align__(128) unsigned char shared[];  // rows of a tile begin at bank 0
  LevelKernel::run(arguments, reinterpret_cast<typename LevelKernel::Element*>(shared));
}

struct Entry {
  void (*kernel)(Arguments);
  int shared_bytes;
};

template <class LevelKernel>
Entry entry() {
  constexpr int bytes =
      LevelKernel::shared_tiles * tile_elements * int(sizeof(typename LevelKernel::Element));
  const Entry made{ladder_kernel<LevelKernel>, bytes};
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
      return entry<KvOuter<Element>>();
    default:
      throw std::invalid_argument(refusal(level, {}));
  }
}

Entry entry_of(int level, ElementType type) {
  return type == ElementType::fp16 ? entry_of<__half>(level) : entry_of<__nv_bfloat16>(level);
}

}  // namespace

std::span<const Level> levels() {
  return table;
}

std::string refusal(int level, const Problem& problem) {
  if (level < 1 || level > int(table.size()))
    return "there is no level " + std::to_string(level) + "; the ladder has levels 1 to " +
           std::to_string(table.size());
  if (problem.dtype == ElementType::fp32) return "the ladder takes dtype bf16 or fp16, not fp32";
  if (problem.head_dim != head_dim)
    return "the ladder takes head-dim " + std::to_string(head_dim) + ", not " +
           std::to_string(problem.head_dim);
  if (problem.mask.kind != MaskKind::none) return "the ladder takes mask none only";
  if (problem.seq_q != problem.seq_kv) return "the ladder takes seq-q equal to seq-kv only";
  if (problem.heads != problem.kv_heads) return "the ladder takes kv-heads equal to heads only";
  if (problem.seq_q < 1 || problem.seq_q % tile_rows != 0)
    return "the ladder takes lengths that are a multiple of " + std::to_string(tile_rows) +
           ", not " + std::to_string(problem.seq_q);
  if (problem.batch < 1 || problem.heads < 1 || problem.heads > most_heads / problem.batch)
    return "the ladder takes batch x heads from 1 to " + std::to_string(most_heads);
  return {};
}

void launch(int level, const Problem& problem, const Arguments& arguments, cudaStream_t stream) {
  const std::string reason = refusal(level, problem);
  if (!reason.empty()) throw std::invalid_argument(reason);
  const Entry chosen = entry_of(level, problem.dtype);
  const bool cta_a_head = table[size_t(level - 1)].loop == Loop::kv_outer;
  if (cta_a_head && arguments.lse == nullptr)
    throw std::invalid_argument("ladder: level 5 needs the log-sum-exp buffer, which is null");
  const unsigned across = cta_a_head ? 1u : unsigned(arguments.tiles());
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
