#include "experiments/sawtooth/inputs/tile_choice.hpp"

#include <array>

namespace sawtooth::experiments {
namespace {

constexpr auto table = std::to_array<TileChoice>({
    {"mma", 32, {128, 128}, 45056},
    {"mma", 32, {64, 64}, 24576},
    {"mma", 64, {128, 128}, 86016},
    {"mma", 64, {64, 64}, 45056},
    {"mma", 96, {128, 64}, 79872},
    {"mma", 96, {64, 64}, 65536},
    {"mma", 128, {128, 64}, 102400},
    {"mma", 128, {64, 64}, 86016},
    {"mma", 256, {128, 64}, 202752},
    {"mma", 256, {64, 64}, 167936},
    {"mma-tma", 64, {128, 128}, 86016},
    {"mma-tma", 64, {64, 64}, 61440},
    {"mma-tma", 96, {64, 64}, 65536},
    {"mma-tma", 128, {128, 64}, 102400},
    {"mma-tma", 128, {64, 64}, 86016},
    {"hopper", 64, {192, 128}, 93184},
    {"hopper", 128, {128, 128}, 166912},
    {"hopper", 256, {128, 80}, 232448},
});

constexpr std::string_view family_or_usual(std::string_view family) {
  return family.empty() ? "mma" : family;
}

}  // namespace

std::span<const TileChoice> tile_choices() {
  return table;
}

const TileChoice* choose_tile(std::string_view family, int64_t head_dim,
                              int64_t shared_memory_bytes) {
  for (const TileChoice& choice : table)
    if (choice.family == family_or_usual(family) && choice.head_dim == head_dim &&
        (shared_memory_bytes == 0 || choice.shared_bytes <= shared_memory_bytes))
      return &choice;
  return nullptr;
}

std::string known_tiles(std::string_view family, int64_t head_dim) {
  std::string text;
  for (const TileChoice& choice : table)
    if (choice.family == family_or_usual(family) && choice.head_dim == head_dim)
      text += (text.empty() ? "" : ", ") + std::to_string(choice.tiling.q_rows) + "x" +
              std::to_string(choice.tiling.kv_rows) + " (" + std::to_string(choice.shared_bytes) +
              " bytes)";
  return text;
}

}  // namespace sawtooth::experiments
