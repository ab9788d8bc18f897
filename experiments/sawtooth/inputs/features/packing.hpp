// Packed heads: the query heads of a group share the rows of one Q tile.
#pragma once

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::experiments {

struct PackingKeys {
  bool pack_gqa{};

  template <class Keys>
  static OptionBlocks options() {
    return {
        {"cascade",
         {{"pack-gqa", OptionGroup::schedule, OptionKind::on_off, field_of<Keys, &Keys::pack_gqa>(),
           sweep_commands, "off", "the query heads of a group share the rows of one Q tile"}}}};
  }
  static constexpr auto columns =
      std::to_array<ResultColumn>({{"pack_gqa", ColumnKind::optional, "off"}});

  template <class Point>
  static void resolve_tiles(const Layers& layers, Point& point) {
    if (!point.keys.pack_gqa) return;
    Problem& problem = point.request.problem;
    if (problem.pass == Pass::backward)
      layers.fail("pack-gqa", "packs Q tiles that are items; allowed with pass = backward: off");
    point.request.tiling = packed(point.request.tiling, problem);
    problem = packed(problem);
  }

  bool in_use() const { return pack_gqa; }
  static constexpr std::string_view judged_points = "serving";
  static constexpr bool own_kernels = true;
};

}  // namespace sawtooth::experiments
