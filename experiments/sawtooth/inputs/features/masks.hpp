// Which keys a query sees; a mask whose tiles are no ranges has them as lists.
#pragma once

#include <memory>
#include <stdexcept>

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "experiments/sawtooth/inputs/listed_mask.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"

namespace sawtooth::experiments {

struct MaskKeys {
  NamedMask mask;

  // Behind the features that change rows and sequences.
  template <class Point>
  static void resolve_tiles(const Layers& layers, Point& point) {
    const std::string& text = point.keys.mask.listed;
    if (text.empty()) return;
    auto& request = point.request;
    try {
      point.listed_mask = std::make_shared<const ListedMask>(text, request.problem, request.tiling);
    } catch (const std::invalid_argument& error) {
      layers.fail("mask", error.what());
    }
    request.problem.mask = point.listed_mask->mask();
    if (is_file_of_blocks(text)) point.contents["mask"] = point.listed_mask->content();
  }

  template <class Point>
  static void resolve_items(const Layers& layers, Point& point) {
    layers.fail_for(sim::listed_fault(point.request));
  }

  bool in_use() const { return !mask.listed.empty(); }
  static constexpr std::string_view judged_points = "masks";
};

}  // namespace sawtooth::experiments
