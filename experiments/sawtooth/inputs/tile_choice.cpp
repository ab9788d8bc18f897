#include "experiments/sawtooth/inputs/tile_choice.hpp"

#include <span>

namespace sawtooth::experiments {
namespace {

bool offers(const kernels::VariantRow& row, std::string_view family, int64_t head_dim) {
  return row.family == (family.empty() ? kernels::families::mma : family) &&
         row.head_dim == head_dim && row.set != kernels::VariantSet::rung;
}

std::span<const kernels::VariantRow> rows_of(Pass pass) {
  if (pass == Pass::forward) return kernels::variant_list;
  return kernels::backward_variant_list;
}

}  // namespace

const kernels::VariantRow* choose_tile(std::string_view family, int64_t head_dim,
                                       int64_t shared_memory_bytes, Pass pass) {
  for (const kernels::VariantRow& row : rows_of(pass))
    if (offers(row, family, head_dim) &&
        (shared_memory_bytes == 0 || row.shared_bytes <= shared_memory_bytes))
      return &row;
  return nullptr;
}

std::string known_tiles(std::string_view family, int64_t head_dim, Pass pass) {
  std::string text;
  for (const kernels::VariantRow& row : rows_of(pass))
    if (offers(row, family, head_dim))
      text += (text.empty() ? "" : ", ") + std::to_string(row.tiling.q_rows) + "x" +
              std::to_string(row.tiling.kv_rows) + " (" + std::to_string(row.shared_bytes) +
              " bytes)";
  return text;
}

}  // namespace sawtooth::experiments
