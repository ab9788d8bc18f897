#include "experiments/sawtooth/inputs/point_kernel.hpp"

#include "experiments/sawtooth/inputs/model_choice.hpp"
#include "experiments/sawtooth/support/resources.hpp"

namespace sawtooth::experiments {
namespace {

bool is_hopper(std::string_view family) {
  return family == "hopper" || family == "hopper-short";
}

// Families of this project that load tiles by TMA.
bool loads_in_bulk(std::string_view family) {
  return is_hopper(family) || family == "mma-tma";
}

}  // namespace

KernelShape kernel_of(const Layers& layers, const Point& point) {
  KernelShape kernel{.head_dim = point.request.problem.head_dim, .tiling = point.request.tiling};
  if (layers.has_system() || !point.keys.kernel_costs.empty())
    kernel.family.clear();
  else if (!point.keys.kernel.empty())
    kernel.family = point.keys.kernel;
  if (!kernel.family.empty() && point.request.problem.pass == Pass::backward)
    kernel.family += "-backward";
  return kernel;
}

void resolve_kernel(const Layers& layers, const KernelShape& kernel, const GpuFile* gpu,
                    Catalog& catalog, Point& point) {
  sim::KernelCost& cost = point.request.kernel;
  const Keys& keys = point.keys;
  point.request.bulk_loads = loads_in_bulk(keys.kernel);
  point.request.whole_tiles = point.request.atomic_words = is_hopper(keys.kernel);
  const bool timed = keys.timing == sim::Timing::timed;
  const auto read = [&](const char* kind, const std::string& name,
                        const std::string& place) -> const ProfileFile& {
    const ProfileFile& file = catalog.kernel(name, place);
    set_kernel_cost(file, kernel, cost);
    if (timed) point.contents[kind] = file.content;
    return file;
  };
  read("kernel", "mma", "kernel costs of every GPU");
  std::string costs_of = "mma";
  if (gpu != nullptr && !gpu->kernel_costs.empty()) {
    const std::string place = "gpu " + gpu->profile.name + ": kernel-costs";
    costs_of = gpu->kernel_costs.front();
    for (const std::string& name : gpu->kernel_costs) {
      // The first file serves all kernels, the others those of their family alone.
      const bool first = name == gpu->kernel_costs.front();
      if (!first && !has_costs_of(catalog.kernel(name, place), kernel)) continue;
      // A kernel that packs, takes different lengths or is served has costs in no file.
      const ProfileFile& file = read(first ? "kernel-costs" : "family-costs", name, place);
      const auto pace = gpu->paces.find(name);
      cost.pace = pace == gpu->paces.end() ? 1 : pace->second;
      const bool usual = !keys.pack_gqa && !keys.has_lengths() && !keys.is_served();
      if (has_costs_of(file, kernel) && usual) costs_of.clear();
    }
  }
  if (!keys.kernel_costs.empty()) {
    if (!timed) layers.fail("kernel-costs", "has no effect without timing = timed");
    const ProfileFile& file = catalog.kernel(keys.kernel_costs, "kernel-costs");
    set_named_kernel_cost(file, kernel, cost);
    cost.pace = 1;
    point.contents["given-costs"] = file.content;
    costs_of = stem_of(keys.kernel_costs);
  }
  if (layers.has("step-ns")) costs_of.clear();
  if (timed) point.costs = costs_of;
  const auto take = [&](const char* key, const auto& asked, auto& value) {
    if (!asked) return false;
    if (!timed) {
      if (layers.is_given(key)) layers.fail(key, "has no effect without timing = timed");
      return false;
    }
    value = *asked;
    if (layers.is_of_system(key)) return true;
    point.costs.append(point.costs.empty() ? "" : " ")
        .append(key)
        .append("=")
        .append(point.text(key));
    return true;
  };
  if (take("step-ns", keys.step_ns, cost.step_ns)) cost.pace = 1;
  take("step-exposed-ns", keys.step_exposed_ns, cost.exposed_ns);
  if (take("age-bias", keys.age_bias, cost.age_bias)) {
    cost.age_bias_prefetch.reset();
    cost.keep_step = cost.age_bias == 0;
  }
  take("stages", keys.stages, cost.stages);
  take("spill-bytes", keys.spill_bytes, cost.spill_bytes);
  point.judgement = judgement_of(gpu, keys, point.costs);
  point.hides_time = timed && point.timing_chosen && keys.kernel_costs.empty() &&
                     point.judgement.word != "measured" && !point.costs.empty();
}

}  // namespace sawtooth::experiments
