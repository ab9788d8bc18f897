// Which model `timing = auto` and `l2 = auto` stand for, and how a prediction's model was judged.
// What was judged on a GPU stands in its profile, in [judged].
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"

namespace sawtooth::experiments {

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
