// Which kernel a point is of: its tile where a configuration names none, and its costs. The list of
// kernels (kernels/attention/variants.inc) has all of them, so that a build without CUDA predicts
// what another one measures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "kernels/attention/variant_list.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

/// The first row of this family and of the problem's pass and head dim that fits
/// `shared_memory_bytes` (0: not known, all fit); null when there is none. No name stands for mma,
/// and for mma-fp32 where that has kernels of the pass, head dim and type.
const kernels::VariantRow* choose_tile(std::string_view family, const Problem& problem,
                                       int64_t shared_memory_bytes);

/// The row with this tile of a family, or where that has no name, of what runs without one; null
/// when there is none.
const kernels::VariantRow* kernel_with_tile(std::string_view family, const Problem& problem,
                                            const Tiling& tiling);

/// Whether the row's kernel has the problem's type.
bool serves(const kernels::VariantRow& row, const Problem& problem);

/// The tiles of a family and head dim with their bytes, for a message; empty when there are none.
std::string known_tiles(std::string_view family, const Problem& problem);

/// Where kernels were measured, a point that names neither kernel nor schedule is the plain call of
/// the API (kernels/attention/attention.hpp): sets the keys of the kernel and the schedule that
/// this takes there. False, and nothing set, for other points.
bool choose_plain_call(const Layers& layers, const GpuFile* gpu, const Problem& problem,
                       Keys& keys);

/// Whether a point that has this key is no such call.
bool decides_plain_call(std::string_view key);

struct KernelOption {
  const kernels::VariantRow* row;
  int64_t ctas_per_sm;
};

/// The kernels that `search` chooses from, each with every number of CTAs an SM that fits: of the
/// family, or without a name those that a plain call chooses from, what that takes first.
std::vector<KernelOption> kernels_to_search(std::string_view family, const Problem& problem,
                                            const GpuFile& gpu);

/// A point without a tile takes the one that the kernels prefer where it asks for it, or where they
/// were measured on its GPU. Throws a Refusal where none fits.
void choose_tiles(const Layers& layers, const GpuFile* gpu, Keys& keys);

/// What steps cost, from the files of all GPUs and of this one, and then what the point says. The
/// row's costs are those that are not the preset's own: its column `system` names the preset.
/// Throws a Refusal, or UsageError for a file.
void resolve_kernel(const Layers& layers, const GpuFile* gpu, Catalog& catalog, Point& point);

// Which model `timing = auto` and `l2 = auto` stand for, and how a prediction's model was judged.
// What was judged on a GPU stands in its profile, in [judged].

/// Puts a model in the place of what `keys` leave open: the one that [judged] of the GPU names
/// first; without it lockstep, with halves where L2 has two and lru elsewhere. What that model
/// cannot do (l2 = lru alone, loop = kv-outer) is left to lockstep.
void choose_model(const GpuFile* gpu, Keys& keys);

/// How the model of `keys` was judged. `costs_of` names whose costs the steps of a timed point have
/// where they are not its kernel's own.
Judgement judgement_of(const GpuFile* gpu, const Keys& keys, const std::string& costs_of,
                       Catalog& catalog);

/// Lockstep and lru in the place of what a point leaves open, as tables over capacities need them.
void take_lockstep_lru(Settings& settings, Catalog& catalog);

/// Points that between them have all gpus, systems and models of a list.
std::vector<Settings> deciding_points(const PointList& points, Catalog& catalog);

}  // namespace sawtooth::experiments
