// What the keys of a point say, typed. The table of options (point_options.cpp) reads each from its
// text and prints it again; nothing else does either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/sawtooth/inputs/features/backward.hpp"
#include "experiments/sawtooth/inputs/features/head_shards.hpp"
#include "experiments/sawtooth/inputs/features/lengths.hpp"
#include "experiments/sawtooth/inputs/features/masks.hpp"
#include "experiments/sawtooth/inputs/features/packing.hpp"
#include "experiments/sawtooth/inputs/features/ring.hpp"
#include "experiments/sawtooth/inputs/features/serving.hpp"
#include "experiments/sawtooth/inputs/features/sets.hpp"
#include "experiments/sawtooth/inputs/features/widths.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

enum class Tiles : uint8_t { of_64, of_the_kernel };
/// What L2 holds before a launch.
enum class L2Content : uint8_t { cold, warm, as_is };

/// The features, in the order of their columns and of their parts of resolution.
using Features = FeatureList<WidthKeys, BackwardKeys, PackingKeys, LengthsKeys, ServingKeys,
                             MaskKeys, RingKeys, HeadShardKeys, SetsKeys>;

template <class Function>
constexpr void for_each_feature(Function function) {
  Features::for_each(function);
}

/// Value of the key kernel for one that no file describes.
inline constexpr std::string_view unknown_kernel = "unknown";

/// Those of the features, and what every point has. The defaults stand in the table; an optional
/// without a value is a key without one.
struct Keys : Features {
  int64_t batch{}, heads{}, head_dim{};
  std::optional<int64_t> kv_heads, seq, seq_q, seq_kv;
  ElementType dtype{};

  std::optional<int64_t> tile_q, tile_kv;
  std::optional<Tiles> tiles;
  std::optional<Section> section;
  QOrderId q_order{};
  std::optional<HeadOrder> head_order;
  std::string order_file;
  LaunchId launch{};
  std::optional<int64_t> workers;
  int64_t ctas_per_sm{};
  ScanId scan{};
  Loop loop{};
  int64_t prefetch{};
  bool lse{};

  std::string gpu, system, kernel, kernel_costs;
  L2Content state{};

  std::optional<sim::Timing> timing;  // both of them are there once a point is resolved
  const L2Model* l2 = nullptr;
  sim::MechanismSet without{};
  bool exact = false;
  std::optional<int64_t> step_ns, step_exposed_ns, stages, spill_bytes;
  std::optional<double> age_bias;
  std::optional<int64_t> l2_bytes;
  int64_t launches{};
  uint64_t seed{};
};

}  // namespace sawtooth::experiments
