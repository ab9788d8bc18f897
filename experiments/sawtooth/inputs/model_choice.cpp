#include "experiments/sawtooth/inputs/model_choice.hpp"

#include <algorithm>
#include <map>

#include "experiments/sawtooth/inputs/models.hpp"

namespace sawtooth::experiments {
namespace {

using sim::Timing;

struct Model {
  Timing timing = Timing::lockstep;
  const L2Model* l2 = nullptr;
};

const L2Model* l2_named(std::string_view name) {
  return &model_named(l2_models, name);
}

// "timed-halves", as keys of [judged] spell a model.
std::string name_of(Timing timing, const L2Model& l2) {
  const auto entry = std::ranges::find(timing_models, timing, &TimingModel::timing);
  return std::string(entry->name).append("-").append(l2.name);
}

// The first of [judged].
std::optional<Model> judged_best(const GpuFile* gpu) {
  if (gpu == nullptr || gpu->judged.empty()) return std::nullopt;
  for (const TimingModel& timing : timing_models)
    for (const L2Model& l2 : l2_models)
      if (name_of(timing.timing, l2) == gpu->judged.front().key) return Model{timing.timing, &l2};
  return std::nullopt;  // read_gpu_file() refuses it
}

}  // namespace

void choose_model(const GpuFile* gpu, Keys& keys) {
  const bool followed = keys.sample == 1 && keys.loop == Loop::kv_inner &&
                        (keys.dtype != ElementType::fp32 || keys.step_ns);
  const auto best = followed ? judged_best(gpu) : std::nullopt;
  if (!keys.timing)
    keys.timing =
        best && (keys.l2 == nullptr || keys.l2 == best->l2) ? best->timing : Timing::lockstep;
  if (keys.l2 != nullptr) return;
  const bool two_halves = gpu != nullptr && gpu->profile.l2_halves.value_or(1) == 2;
  // Time without the halves that a GPU has would be a model of another GPU.
  const bool halves = *keys.timing == Timing::timed || (two_halves && keys.sample == 1);
  keys.l2 = l2_named(halves ? "halves" : "lru");
}

Judgement judgement_of(const GpuFile* gpu, const Keys& keys, const std::string& costs_of) {
  if (gpu == nullptr) return {"none", ""};
  const auto judged =
      std::ranges::find(gpu->judged, name_of(*keys.timing, *keys.l2), &Parameter::key);
  if (judged == gpu->judged.end()) return {"none", ""};
  if (!costs_of.empty()) return {"borrowed", "costs of " + costs_of};
  return {"measured", judged->value};
}

std::string give_one_model(std::vector<Settings>& points, bool lockstep_lru, Catalog& catalog) {
  std::map<Timing, std::vector<Settings*>> timings;  // that were chosen, and for which points
  std::map<const L2Model*, std::vector<Settings*>> l2s;
  for (Settings& settings : points) {
    const Point point = resolve_or_refuse(settings, catalog);
    if (point.timing_chosen) timings[*point.keys.timing].push_back(&settings);
    if (point.l2_chosen) l2s[point.keys.l2].push_back(&settings);
  }
  const auto settle = [&](const char* key, const auto& chosen, const auto& wanted,
                          std::string_view name) {
    const size_t settled = lockstep_lru ? chosen.count(wanted) : 1;
    if (chosen.size() <= settled) return std::string();
    for (const auto& [model, its_points] : chosen)
      for (Settings* settings : its_points)
        (*settings)[key] = Assignment{{std::string(name)}, {"default", 0}};
    return std::string(" ").append(key).append(" = ").append(name);
  };
  const std::string_view l2 = lockstep_lru ? "lru" : "halves";
  const std::string given =
      settle("timing", timings, Timing::lockstep, "lockstep") + settle("l2", l2s, l2_named(l2), l2);
  if (given.empty()) return {};
  return (lockstep_lru ? "miss curves and histograms are of one model, and so are all rows:"
                       : "no judged model serves all points of this run; all of them take") +
         given;
}

}  // namespace sawtooth::experiments
