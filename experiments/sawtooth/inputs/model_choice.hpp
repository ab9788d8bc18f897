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

/// Words of the column `judged`. `costs_of` names whose costs the steps of a timed point have where
/// they are not its kernel's own.
Judgement judgement_of(const GpuFile* gpu, const Keys& keys, const std::string& costs_of);

/// Points of one run have one model, unless the keys name several: where `auto` means several
/// timings, or several models of L2, all of its points take lockstep, or halves (which is lru where
/// L2 has one part). With `lockstep_lru` it means those. Returns a note for people on what was
/// chosen so; empty where nothing was.
std::string give_one_model(std::vector<Settings>& points, bool lockstep_lru, Catalog& catalog);

/// The same for a list whose points are made one at a time: only points that differ in what the
/// choice depends on are looked at beforehand.
class OneModel {
 public:
  OneModel(const PointList& points, bool lockstep_lru, Catalog& catalog);

  const std::string& note() const { return note_; }
  /// Those points: between them they have all gpus, systems and models of the list.
  const std::vector<Settings>& deciding() const { return deciding_; }
  /// resolve_or_refuse() with that model.
  Point resolve(Settings settings, Catalog& catalog) const;

 private:
  std::string timing_, l2_;  // empty: each point's own
  std::string note_;
  std::vector<Settings> deciding_;
};

}  // namespace sawtooth::experiments
