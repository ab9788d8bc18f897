#include <array>
#include <stdexcept>

#include "kernels/ladder/ladder.hpp"

namespace sawtooth::kernels::ladder {
namespace {

constexpr std::array<Level, 5> table{{
    {1, "naive", "tensor cores on row-major shared tiles, loads and arithmetic in turn"},
    {2, "pipelined", "cp.async into two stages: the next K/V tile loads while this one computes"},
    {3, "swizzled", "shared tiles permuted by XOR, so that fragments are read without conflicts"},
    {4, "ldmatrix", "fragments by ldmatrix instead of words and half words"},
    {5, "kv-outer", "FlashAttention-1's loop: K/V outside, Q and O read and O written again inside",
     Loop::kv_outer},
}};

// CUDA C++ Programming Guide, "Technical Specifications": most blocks along y and z of a grid.
constexpr int64_t most_heads = 65535;

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

Schedule schedule_of(int level, int64_t workers) {
  if (level < 1 || level > int(table.size())) throw std::invalid_argument(refusal(level, {}));
  Schedule schedule;
  schedule.launch = launch_id<GridLaunch>;
  schedule.scan = scan_id<LinearScan>;
  schedule.loop = table[size_t(level - 1)].loop;
  schedule.workers = workers;
  return schedule;
}

double flop_count(const Problem& problem) {
  return 4.0 * double(problem.batch * problem.heads) * double(problem.seq_q) *
         double(problem.seq_kv) * double(problem.head_dim);
}

}  // namespace sawtooth::kernels::ladder
