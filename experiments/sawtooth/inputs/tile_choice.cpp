#include "experiments/sawtooth/inputs/tile_choice.hpp"

#include <span>
#include <vector>

namespace sawtooth::experiments {
namespace {

using Rows = std::span<const kernels::VariantRow>;

Rows rows_of(Pass pass) {
  if (pass == Pass::forward) return kernels::variant_list;
  return kernels::backward_variant_list;
}

std::vector<const kernels::VariantRow*> offered(std::string_view family, const Problem& problem) {
  const auto of_family = [&](std::string_view name) {
    std::vector<const kernels::VariantRow*> rows;
    for (const kernels::VariantRow& row : rows_of(problem.pass))
      if (row.family == name && row.head_dim == problem.head_dim) rows.push_back(&row);
    return rows;
  };
  if (!family.empty()) return of_family(family);
  if (problem.dtype == ElementType::fp32)
    if (auto rows = of_family(kernels::families::mma_fp32); !rows.empty()) return rows;
  return of_family(kernels::families::mma);
}

}  // namespace

const kernels::VariantRow* choose_tile(std::string_view family, const Problem& problem,
                                       int64_t shared_memory_bytes) {
  for (const kernels::VariantRow* row : offered(family, problem))
    if (shared_memory_bytes == 0 || row->shared_bytes <= shared_memory_bytes) return row;
  return nullptr;
}

std::string known_tiles(std::string_view family, const Problem& problem) {
  std::string text;
  for (const kernels::VariantRow* row : offered(family, problem))
    text += (text.empty() ? "" : ", ") + std::to_string(row->tiling.q_rows) + "x" +
            std::to_string(row->tiling.kv_rows) + " (" + std::to_string(row->shared_bytes) +
            " bytes)";
  return text;
}

}  // namespace sawtooth::experiments
