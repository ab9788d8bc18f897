#include "experiments/sawtooth/inputs/model_choice.hpp"

#include <algorithm>
#include <set>

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

/// Additions in an order differ from others in waits alone, which lockstep does not have.
bool waits_for_turns(const Keys& keys) {
  return keys.pass == Pass::backward && keys.dq == Dq::ordered;
}

// Which models `auto` stands for at the points of a run.
struct ChosenModels {
  std::set<Timing> timings;
  std::set<const L2Model*> l2s;
  bool needs_time = false;

  void add(const Point& point) {
    needs_time |= waits_for_turns(point.keys);
    if (point.timing_chosen) timings.insert(*point.keys.timing);
    if (point.l2_chosen) l2s.insert(point.keys.l2);
  }
};

// What all points take where it was left open; empty: each its own.
struct Agreement {
  std::string timing, l2;
  std::string note;
};

Agreement agreement_on(const ChosenModels& chosen, bool lockstep_lru) {
  Agreement agreed;
  const std::string l2 = lockstep_lru ? "lru" : "halves";
  const auto settled = [&](const auto& models, const auto& wanted) {
    return models.size() <= (lockstep_lru ? models.count(wanted) : 1);
  };
  if (!settled(chosen.timings, Timing::lockstep))
    agreed.timing = chosen.needs_time && !lockstep_lru ? "timed" : "lockstep";
  if (!settled(chosen.l2s, l2_named(l2))) agreed.l2 = l2;
  if (agreed.timing.empty() && agreed.l2.empty()) return agreed;
  agreed.note = lockstep_lru ? "miss curves and histograms are of one model, and so are all rows:"
                             : "no judged model serves all points of this run; all of them take";
  if (!agreed.timing.empty()) agreed.note += " timing = " + agreed.timing;
  if (!agreed.l2.empty()) agreed.note += " l2 = " + agreed.l2;
  return agreed;
}

// Puts the agreed model into the settings of a point that left it open, and says whether it did.
bool settle(const Point& point, const std::string& timing, const std::string& l2,
            Settings& settings) {
  const bool with_timing = point.timing_chosen && !timing.empty();
  const bool with_l2 = point.l2_chosen && !l2.empty();
  if (with_timing) settings["timing"] = Assignment{{timing}, {"default", 0}};
  if (with_l2) settings["l2"] = Assignment{{l2}, {"default", 0}};
  return with_timing || with_l2;
}

// Keys that choose_model() looks at, those that conditions of the sweep's systems see, and what
// commands check of a whole list.
std::set<std::string, std::less<>> deciding_keys(const Settings& sweep, Catalog& catalog) {
  std::set<std::string, std::less<>> keys{"gpu",   "system",  "timing", "l2",   "loop",
                                          "dtype", "step-ns", "state",  "pass", "dq"};
  const auto system = sweep.find("system");
  if (system == sweep.end()) return keys;
  for (const std::string& name : system->second.values)
    for (const GuardedSection& section :
         catalog.system(Assignment{{name}, system->second.origin}).guarded)
      for (const Condition& condition : section.conditions) keys.insert(condition.key);
  if (keys.contains("seq-q") || keys.contains("seq-kv")) keys.insert("seq");
  if (keys.contains("kv-heads")) keys.insert("heads");
  return keys;
}

}  // namespace

void choose_model(const GpuFile* gpu, Keys& keys) {
  const bool followed = keys.loop == Loop::kv_inner && keys.pass == Pass::forward &&
                        (element_bytes(keys.dtype) == 2 || keys.step_ns);
  const auto best = followed ? judged_best(gpu) : std::nullopt;
  const bool timing_chosen = !keys.timing;
  if (!keys.timing)
    keys.timing =
        best && (keys.l2 == nullptr || keys.l2 == best->l2) ? best->timing : Timing::lockstep;
  if (timing_chosen && waits_for_turns(keys)) keys.timing = Timing::timed;
  if (keys.l2 != nullptr) return;
  const bool two_halves = gpu != nullptr && gpu->profile.l2_halves.value_or(1) == 2;
  // Time without the halves that a GPU has would be a model of another GPU.
  const bool halves = *keys.timing == Timing::timed || two_halves;
  keys.l2 = l2_named(halves ? "halves" : "lru");
}

Judgement judgement_of(const GpuFile* gpu, const Keys& keys, const std::string& costs_of) {
  if (gpu == nullptr || keys.pass == Pass::backward) return {};
  const std::string model = name_of(*keys.timing, *keys.l2);
  const auto judged_in = [&](const JudgedModels& models) {
    return std::ranges::find(models.judged, model, &Parameter::key);
  };
  if (judged_in(*gpu) == gpu->judged.end()) return {};
  if (!costs_of.empty()) return {"borrowed", "costs of " + costs_of, {}};
  const bool usual = !keys.system.empty() || keys.kernel.empty() || keys.kernel == usual_family;
  const auto family = gpu->families.find(keys.kernel);
  if (!usual &&
      (family == gpu->families.end() || judged_in(family->second) == family->second.judged.end()))
    return {"none", "costs of its own, predictions not judged", {}};
  const JudgedModels& models = usual ? *gpu : family->second;
  const auto judged = judged_in(models);
  std::string_view unjudged;
  for_each_feature([&]<class Feature>(Feature*) {
    if constexpr (requires { Feature::unjudged; })
      if (unjudged.empty() && keys.Feature::in_use()) unjudged = Feature::unjudged;
  });
  if (!unjudged.empty()) return {"borrowed", std::string(unjudged), {}};
  // Intervals are of the first model as it was judged: kernels of this project, all
  // mechanisms, this L2.
  const bool as_judged = judged == models.judged.begin() && keys.system.empty() &&
                         keys.without == sim::MechanismSet{} &&
                         keys.l2_bytes.value_or(gpu->profile.l2_bytes) == gpu->profile.l2_bytes;
  return {"measured", judged->value, as_judged ? models.intervals : std::vector<IntervalWidth>()};
}

std::string give_one_model(std::vector<Settings>& points, bool lockstep_lru, Catalog& catalog) {
  ChosenModels chosen;
  for (const Settings& settings : points) chosen.add(resolve_or_refuse(settings, catalog));
  const Agreement agreed = agreement_on(chosen, lockstep_lru);
  if (agreed.note.empty()) return {};
  for (Settings& settings : points)
    settle(resolve_or_refuse(settings, catalog), agreed.timing, agreed.l2, settings);
  return agreed.note;
}

OneModel::OneModel(const PointList& points, bool lockstep_lru, Catalog& catalog) {
  ChosenModels chosen;
  for (const Settings& sweep : points.sweeps()) {
    const auto keys = deciding_keys(sweep, catalog);
    Settings axes = sweep;
    for (auto& [key, assignment] : axes)
      if (find_option(key)->is_axis() && !keys.contains(key)) assignment.values.resize(1);
    const PointList deciding({"", {}, {{"", axes}}}, {});
    for (size_t i = 0; i < deciding.size(); ++i) {
      deciding_.push_back(deciding[i]);
      chosen.add(resolve_or_refuse(deciding_.back(), catalog));
    }
  }
  const Agreement agreed = agreement_on(chosen, lockstep_lru);
  timing_ = agreed.timing;
  l2_ = agreed.l2;
  note_ = agreed.note;
}

Point OneModel::resolve(Settings settings, Catalog& catalog) const {
  Point point = resolve_or_refuse(settings, catalog);
  return settle(point, timing_, l2_, settings) ? resolve_or_refuse(settings, catalog) : point;
}

}  // namespace sawtooth::experiments
