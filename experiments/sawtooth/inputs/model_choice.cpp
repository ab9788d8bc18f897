#include <algorithm>
#include <set>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/support/text.hpp"

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

// Whether `timed` has all that is launched, and costs of it.
bool followed(const Keys& keys) {
  if (keys.pass == Pass::backward && (keys.dq == Dq::separate || keys.small_kernels)) return false;
  return keys.loop == Loop::kv_inner && (element_bytes(keys.dtype) == 2 || keys.step_ns);
}

// Hashed sets soften the edge of L2, where `lru` misses all or nothing. They need a capacity of
// whole sets; the steps of a ring do not take them.
bool takes_sets(const GpuFile* gpu, const Keys& keys) {
  if (gpu == nullptr || keys.ring) return false;
  const sim::SetsParameters usual;
  const sim::Gpu& profile = gpu->profile;
  return keys.l2_bytes.value_or(profile.l2_bytes) %
             (profile.l2_ways.value_or(usual.ways) *
              profile.l2_line_bytes.value_or(usual.line_bytes)) ==
         0;
}

// Whether the point is as those of every list that judged a model. Kernels of fp16 do as those of
// bf16; several parts of a scan were measured where serving asks for them alone.
bool as_on_lists(const Keys& keys, std::string_view points) {
  const bool other_backward =
      keys.dq != Dq::atomic || keys.small_kernels || !keys.mask.listed.empty();
  return element_bytes(keys.dtype) == 2 && keys.loop == Loop::kv_inner && !keys.hints &&
         (keys.kv_split.parts == 1 || points == "serving") &&
         !(keys.pass == Pass::backward && other_backward);
}

// Keys that choose_model() looks at, those that conditions of the sweep's systems see, and what
// commands check of a whole list.
std::set<std::string, std::less<>> deciding_keys(const Settings& sweep, Catalog& catalog) {
  std::set<std::string, std::less<>> keys{"gpu",   "system",   "timing",       "l2",   "loop",
                                          "dtype", "step-ns",  "state",        "pass", "dq",
                                          "ring",  "l2-bytes", "small-kernels"};
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
  const auto best = followed(keys) ? judged_best(gpu) : std::nullopt;
  const bool timing_chosen = !keys.timing;
  if (!keys.timing)
    keys.timing =
        best && (keys.l2 == nullptr || keys.l2 == best->l2) ? best->timing : Timing::lockstep;
  if (timing_chosen && waits_for_turns(keys)) keys.timing = Timing::timed;
  if (keys.l2 != nullptr) return;
  const bool two_halves = gpu != nullptr && gpu->profile.l2_halves.value_or(1) == 2;
  // Time without the halves that a GPU has would be a model of another GPU.
  const bool halves = *keys.timing == Timing::timed || two_halves;
  keys.l2 = l2_named(halves ? "halves" : takes_sets(gpu, keys) ? "sets" : "lru");
}

Judgement judgement_of(const GpuFile* gpu, const Keys& keys, const std::string& costs_of,
                       Catalog& catalog) {
  if (gpu == nullptr) return {};
  const std::string model = name_of(*keys.timing, *keys.l2);
  const auto judged = std::ranges::find(gpu->judged, model, &Parameter::key);
  if (judged == gpu->judged.end()) return {};
  std::string_view points = keys.pass == Pass::backward ? "backward" : "forward";
  bool own_costs = true;
  for_each_feature([&]<class Feature>(Feature*) {
    if constexpr (requires { Feature::judged_points; }) {
      if (!keys.Feature::in_use()) return;
      points = Feature::judged_points;
      if constexpr (requires { Feature::own_kernels; }) own_costs = false;
    }
  });
  const bool usual = keys.kernel.empty() || keys.kernel == usual_family;
  const std::string_view kernel = !keys.kernel_costs.empty() && own_costs ? "taught"
                                  : !keys.system.empty() ? std::string_view(keys.system)
                                  : usual                ? usual_family
                                                         : std::string_view(keys.kernel);
  const bool as_it_is = (keys.without == sim::MechanismSet{} || keys.without == sim::no_repeats) &&
                        keys.l2_bytes.value_or(gpu->profile.l2_bytes) == gpu->profile.l2_bytes;
  Judgement judgement;
  if (!as_it_is || !as_on_lists(keys, points)) return judgement;
  for (const JudgedError& error : catalog.judged_errors())
    if (error.gpu == gpu->profile.name && error.model == model && error.kernel == kernel &&
        error.points == points)
      judgement.errors.push_back(error);
  if (!costs_of.empty() && (own_costs || judgement.errors.empty())) {
    judgement.borrowed = "costs of " + costs_of;
  } else if (judgement.errors.empty() && !keys.system.empty()) {
    judgement.borrowed = "judged with kernels/mma";
  }
  // Intervals are of the first model, of kernels of this project. Forward points set those of
  // counters, which hold backward ones in two columns (experiments/studies/backward/results/
  // judged.csv); times of the backward pass have widths of their own.
  const bool backward = points == "backward";
  if (!judgement.known() || judged != gpu->judged.begin() || (points != "forward" && !backward))
    return judgement;
  if (usual && keys.system.empty() && !backward) judgement.intervals = gpu->intervals;
  const auto family =
      gpu->family_intervals.find(std::string(kernel) + (backward ? "-backward" : ""));
  if (family != gpu->family_intervals.end()) judgement.intervals = family->second;
  if (backward)
    std::erase_if(judgement.intervals, [](const IntervalWidth& width) {
      return width.column != "dram_read_sectors" && width.column != "l2_read_miss_sectors" &&
             width.column != "time_us";
    });
  return judgement;
}

std::string Judgement::text(std::string_view kind) const {
  if (!borrowed.empty()) return "borrowed: " + borrowed;
  constexpr double whole_from = 0.0995;  // "18 %" of 0.184, "1.4 %" of 0.0141
  const auto percent = [](double share) { return fixed(100 * share, share < whole_from ? 1 : 0); };
  std::string said;
  for (const auto& [counter, name] :
       {std::pair{"dram_read_sectors", "DRAM reads "}, std::pair{"time_us", "time "}}) {
    const JudgedError* found = nullptr;
    for (const JudgedError& error : errors)
      if (error.counter == counter && (error.kind == kind || (!found && error.kind == "all")))
        found = &error;
    if (found != nullptr)
      said.append(said.empty() ? "" : "; ").append(name) +=
          percent(found->median) + " / " + percent(found->ninety) + " %";
  }
  return said.empty() ? "none" : said;
}

void take_lockstep_lru(Settings& settings, Catalog& catalog) {
  const Point point = resolve_or_refuse(settings, catalog);
  if (point.timing_chosen) settings["timing"] = Assignment{{"lockstep"}, {"default", 0}};
  if (point.l2_chosen) settings["l2"] = Assignment{{"lru"}, {"default", 0}};
}

std::vector<Settings> deciding_points(const PointList& points, Catalog& catalog) {
  std::vector<Settings> found;
  for (const Settings& sweep : points.sweeps()) {
    const auto keys = deciding_keys(sweep, catalog);
    Settings axes = sweep;
    for (auto& [key, assignment] : axes)
      if (find_option(key)->is_axis() && !keys.contains(key)) assignment.values.resize(1);
    const PointList deciding({"", {}, {{"", axes}}}, {});
    for (size_t i = 0; i < deciding.size(); ++i) found.push_back(deciding[i]);
  }
  return found;
}

}  // namespace sawtooth::experiments
