#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/listed_mask.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "kernels/attention/automatic.hpp"
#include "kernels/attention/variant_choices.hpp"

namespace sawtooth::experiments {
namespace {

using Rows = std::span<const kernels::VariantRow>;

// The driver's part of a CTA's shared memory; CUDA C++ Programming Guide, since 8.0.
constexpr int reserved_bytes = 1024;

Rows rows_of(Pass pass) {
  if (pass == Pass::forward) return kernels::variant_list;
  return kernels::backward_variant_list;
}

std::vector<const kernels::VariantRow*> offered(std::string_view family, const Problem& problem) {
  const auto of_family = [&](std::string_view name) {
    std::vector<const kernels::VariantRow*> rows;
    for (const kernels::VariantRow& row : rows_of(problem.pass))
      if (row.family == name && row.head_dims == kernels::HeadDims(problem)) rows.push_back(&row);
    return rows;
  };
  if (!family.empty()) return of_family(family);
  if (problem.dtype == ElementType::fp32)
    if (auto rows = of_family(kernels::families::mma_fp32); !rows.empty()) return rows;
  return of_family(kernels::families::mma);
}

// The keys of a preset say what its kernel is; other points are of kernels/mma, unless they name
// another family. The backward pass of a family has costs of its own, as FAMILY-backward.
KernelShape kernel_of(const Layers& layers, const Point& point) {
  KernelShape kernel{.head_dim = point.request.problem.head_dim, .tiling = point.request.tiling};
  if (layers.has_system() || !point.keys.kernel_costs.empty())
    kernel.family.clear();
  else if (!point.keys.kernel.empty() && point.keys.kernel != unknown_kernel)
    kernel.family = point.keys.kernel;
  if (!kernel.family.empty() && point.request.problem.pass == Pass::backward)
    kernel.family += "-backward";
  return kernel;
}

bool uses_features(Keys keys) {
  keys.head_dim_v.reset();  // some kernels have two widths
  if (keys.ring == 1) keys.ring.reset();
  if (!keys.mask.listed.empty()) keys.mask = {};  // some kernels take lists of tiles
  bool used = false;
  for_each_feature([&]<class Feature>(Feature*) {
    const auto& one = static_cast<const Feature&>(keys);
    if constexpr (requires(const Feature& feature) { feature.in_use(); }) used |= one.in_use();
  });
  return used;
}

// A program with some kernels calls one of them; one without any predicts what all of them do.
bool is_offered([[maybe_unused]] const kernels::VariantRow& row, [[maybe_unused]] Pass pass) {
#if defined(SAWTOOTH_HAVE_KERNELS)
  const std::span<const kernels::KernelVariant> built =
      pass == Pass::forward ? kernels::kernel_variants() : kernels::backward_variants();
  return std::ranges::any_of(built, [&](const kernels::KernelVariant& one) {
    return one.family == row.family && one.head_dims() == row.head_dims &&
           one.tiling.q_rows == row.tiling.q_rows && one.tiling.kv_rows == row.tiling.kv_rows;
  });
#else
  return true;
#endif
}

// Whether the row's kernel runs the problem under this mask.
bool takes_mask(const kernels::VariantRow& row, const Problem& problem, const NamedMask& mask) {
  return mask.listed.empty() ||
         (problem.pass == Pass::forward && kernels::takes_lists(row.family, row.name) &&
          divides_blocks(row.tiling, mask.listed));
}

const kernels::VariantChoice& choice_of(const kernels::VariantRow& row, Pass pass) {
  const auto at = static_cast<size_t>(&row - rows_of(pass).data());
  return pass == Pass::forward ? kernels::variant_choices[at]
                               : kernels::backward_variant_choices[at];
}

struct ServingKernel {
  const kernels::VariantRow* row;
  kernels::TileCost cost;
};

// Kernels of the family; without a name those that choose_variant() (kernels/attention/choice.cpp)
// has to choose from: made for the GPU, else of one family.
std::vector<ServingKernel> serving_kernels(std::string_view family, const Problem& problem,
                                           const GpuFile& gpu, bool listed = false) {
  const int64_t shared_bytes = gpu.profile.shared_memory_block_bytes.value_or(0);
  std::vector<ServingKernel> of_this_gpu, of_any;
  for (const kernels::VariantRow& row : rows_of(problem.pass)) {
    const kernels::VariantChoice& choice = choice_of(row, problem.pass);
    const bool made_for_it = kernels::memory_of(row.family).atomic_words;
    const bool measured =
        !made_for_it || std::ranges::any_of(gpu.kernel_costs, [&](const auto& file) {
          return file.starts_with(row.family);
        });
    const bool asked = family.empty()
                           ? row.set != kernels::VariantSet::study &&
                                 kernels::takes_keys(choice.most_keys, problem.seq_kv, listed)
                           : row.family == family;
    if (!asked || !measured || row.head_dims != kernels::HeadDims(problem) ||
        !is_offered(row, problem.pass) || !choice.serves(problem.dtype) ||
        row.shared_bytes > shared_bytes)
      continue;
    if (made_for_it)
      of_this_gpu.push_back({&row, choice.cost});
    else if (of_any.empty() || of_any.front().row->family == row.family)
      of_any.push_back({&row, choice.cost});
  }
  return of_this_gpu.empty() ? of_any : of_this_gpu;
}

// The one with the least estimated time, else the first.
ServingKernel kernel_of_plain_call(const Problem& problem, const GpuFile& gpu,
                                   const NamedMask& mask = {}) {
  ServingKernel chosen{};
  double least_us = std::numeric_limits<double>::infinity();
  for (const ServingKernel& kernel : serving_kernels("", problem, gpu, !mask.listed.empty())) {
    if (!takes_mask(*kernel.row, problem, mask)) continue;
    // Lists of tiles are known once the tile is.
    const double us = !mask.listed.empty()     ? kernels::place_for_lists(kernel.row->family)
                      : kernel.cost.measured() ? kernels::estimated_us(problem, kernel.row->tiling,
                                                                       kernel.cost, gpu.profile.sms)
                                               : std::numeric_limits<double>::infinity();
    if (chosen.row != nullptr && !(us < least_us)) continue;
    chosen = kernel;
    least_us = us;
  }
  return chosen;
}

constexpr std::string_view plain_call_keys[] = {
    "kernel", "kernel-costs", "tiles",      "tile-q",   "tile-kv", "section",
    "launch", "ctas-per-sm",  "workers",    "scan",     "q-order", "head-order",
    "loop",   "prefetch",     "order-file", "kv-split", "hints"};

}  // namespace

bool decides_plain_call(std::string_view key) {
  return std::ranges::find(plain_call_keys, key) != std::end(plain_call_keys);
}

std::vector<KernelOption> kernels_to_search(std::string_view family, const Problem& problem,
                                            const GpuFile& gpu) {
  std::vector<KernelOption> options;
  const int64_t block_bytes = gpu.profile.shared_memory_block_bytes.value_or(0);
  const kernels::VariantRow* const usual = kernel_of_plain_call(problem, gpu).row;
  for (const auto& [row, cost] : serving_kernels(family, problem, gpu)) {
    const int64_t fit = (block_bytes + reserved_bytes) / (row->shared_bytes + reserved_bytes);
    for (int64_t ctas = min_of(fit, row->ctas_per_sm); ctas > 0; --ctas)
      options.push_back({row, ctas});
  }
  std::stable_partition(options.begin(), options.end(),
                        [&](const KernelOption& option) { return option.row == usual; });
  return options;
}

bool choose_plain_call(const Layers& layers, const GpuFile* gpu, const Problem& problem,
                       Keys& keys) {
  const bool named =
      std::ranges::any_of(plain_call_keys, [&](std::string_view key) { return layers.has(key); });
  if (named || gpu == nullptr || gpu->judged.empty() || layers.has_system() ||
      !gpu->profile.shared_memory_block_bytes || uses_features(keys))
    return false;
  const auto shared_bytes = static_cast<int>(*gpu->profile.shared_memory_block_bytes);
  const auto [row, cost] = kernel_of_plain_call(problem, *gpu, keys.mask);
  if (row == nullptr) return false;
  kernels::KernelVariant variant{};
  variant.family = row->family.data();
  variant.tiling = row->tiling;
  variant.cost = cost;
  variant.shared_bytes = row->shared_bytes;
  variant.ctas_per_sm = row->ctas_per_sm;
  kernels::DeviceLimits device;
  device.sms = static_cast<int>(gpu->profile.sms);
  device.shared_bytes_per_sm = shared_bytes + reserved_bytes;
  device.reserved_shared_bytes = reserved_bytes;
  Schedule asked = kernels::automatic_schedule;
  asked.dq = keys.dq;
  const Schedule schedule = kernels::complete_schedule(asked, problem, variant, device, 0);
  keys.kernel = row->family;
  keys.tile_q = row->tiling.q_rows;
  keys.tile_kv = row->tiling.kv_rows;
  keys.section = Section{.heads = schedule.order.section};
  keys.q_order = schedule.order.q_order;
  keys.launch = schedule.launch;
  keys.scan = schedule.scan;
  keys.kv_split.parts = schedule.kv_split;
  keys.ctas_per_sm = schedule.workers / gpu->profile.sms;
  return true;
}

bool serves(const kernels::VariantRow& row, const Problem& problem) {
  return choice_of(row, problem.pass).serves(problem.dtype);
}

const kernels::VariantRow* choose_tile(std::string_view family, const Problem& problem,
                                       int64_t shared_memory_bytes) {
  for (const kernels::VariantRow* row : offered(family, problem))
    if (shared_memory_bytes == 0 || row->shared_bytes <= shared_memory_bytes) return row;
  return nullptr;
}

const kernels::VariantRow* kernel_with_tile(std::string_view family, const Problem& problem,
                                            const Tiling& tiling) {
  for (const kernels::VariantRow* row : offered(family, problem))
    if (row->tiling.q_rows == tiling.q_rows && row->tiling.kv_rows == tiling.kv_rows) return row;
  return nullptr;
}

// Whether the point's kernel is one that no file has costs of. Rows of two widths have some in the
// table.
static bool has_own_kernels(const Point& point) {
  const Keys& keys = point.keys;
  const Problem& problem = point.request.problem;
  const bool two_widths = keys.head_dim_v && !keys.kv_latent && keys.kv_dtype == KvType::as_q;
  const bool in_table =
      two_widths && kernel_with_tile(keys.kernel, problem, point.request.tiling) != nullptr;
  bool own = false;
  for_each_feature([&]<class Feature>(Feature*) {
    if constexpr (requires { Feature::own_kernels; })
      own = own || (keys.Feature::in_use() && !(std::is_same_v<Feature, WidthKeys> && in_table));
  });
  return own;
}

// The pipes of an SM have a step's tensor products and exponentials at once. FlashAttention-3 keeps
// them busy for three quarters of its time (740 of 989 TFLOP/s, arXiv 2407.08608). The other two
// numbers are assumed: with waits they make times lie within a factor of about three.
static std::vector<sim::KernelCost> ends_of_kernels(const Point& point) {
  constexpr double best_share = 0.75, slower = 2.3, deepest_lead_steps = 2;
  const sim::Gpu& gpu = point.gpu;
  const sim::KernelCost& usual = point.request.kernel;
  if (!gpu.bf16_tflops || !gpu.sm_clock_mhz || usual.exp_per_clock <= 0) return {};
  const Problem& problem = point.request.problem;
  const Tiling& tiling = point.request.tiling;
  const auto scores = double(tiling.q_rows * tiling.kv_rows);
  const double flop_a_ns = *gpu.bf16_tflops * 1e3 / double(gpu.sms);
  const double exp_a_ns = usual.exp_per_clock * *gpu.sm_clock_mhz / 1e3;
  const double pipes_ns = std::max(
      2 * scores * double(problem.head_dim + problem.v_dim()) / flop_a_ns, scores / exp_a_ns);
  sim::KernelCost hides = usual;
  hides.step_ns = pipes_ns / best_share;
  hides.exposed_ns = 0;
  hides.pace = 1;
  hides.lead_k_steps = hides.lead_v_steps = deepest_lead_steps;
  sim::KernelCost waits = hides;
  waits.step_ns = *hides.step_ns * slower;
  waits.lead_k_steps = waits.lead_v_steps = 0;
  return {hides, waits};
}

std::string known_tiles(std::string_view family, const Problem& problem) {
  std::string text;
  for (const kernels::VariantRow* row : offered(family, problem))
    text += (text.empty() ? "" : ", ") + std::to_string(row->tiling.q_rows) + "x" +
            std::to_string(row->tiling.kv_rows) + " (" + std::to_string(row->shared_bytes) +
            " bytes)";
  return text;
}

void choose_tiles(const Layers& layers, const GpuFile* gpu, Keys& keys) {
  if (layers.has("tile-q") || layers.has("tile-kv") || (!keys.tiles && layers.has_system())) return;
  const Problem problem{.head_dim = keys.head_dim,
                        .dtype = keys.dtype,
                        .pass = keys.pass,
                        .head_dim_v = int32_t(keys.head_dim_v.value_or(0))};
  const bool measured_there = gpu != nullptr && !gpu->judged.empty();
  if (keys.tiles ? keys.tiles != Tiles::of_the_kernel
                 : !measured_there &&
                       kernel_with_tile(keys.kernel, problem, {*keys.tile_q, *keys.tile_kv}))
    return;
  const std::string known = known_tiles(keys.kernel, problem);
  if (known.empty()) return;  // no kernel has it: the usual tile, which measure refuses by name
  const int64_t limit =
      gpu == nullptr ? 0 : gpu->profile.shared_memory_block_bytes.value_or(int64_t{0});
  const auto* choice = choose_tile(keys.kernel, problem, limit);
  if (choice == nullptr && !keys.tiles && !measured_there) return;
  if (choice == nullptr)
    layers.fail("head-dim", "no tile of the kernels fits the " + std::to_string(limit) +
                                " bytes of shared memory that a block has on " + gpu->profile.name +
                                "; they are: " + known);
  keys.tile_q = choice->tiling.q_rows;
  keys.tile_kv = choice->tiling.kv_rows;
}

void resolve_kernel(const Layers& layers, const GpuFile* gpu, Catalog& catalog, Point& point) {
  const KernelShape kernel = kernel_of(layers, point);
  sim::KernelCost& cost = point.request.kernel;
  const Keys& keys = point.keys;
  const kernels::FamilyMemory memory = kernels::memory_of(keys.kernel);
  point.request.bulk_loads = memory.bulk_loads;
  point.request.whole_tiles = memory.whole_tiles;
  point.request.atomic_words = memory.atomic_words;
  const bool timed = keys.timing == sim::Timing::timed;
  const bool unknown = keys.kernel == unknown_kernel;
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
      const ProfileFile& file = read(first ? "kernel-costs" : "family-costs", name, place);
      const auto pace = gpu->paces.find(name);
      cost.pace = pace == gpu->paces.end() ? 1 : pace->second;
      if (has_costs_of(file, kernel) && !has_own_kernels(point) && !unknown) costs_of.clear();
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
  if (!layers.costs().sections.empty() && timed && keys.kernel_costs.empty()) {
    set_kernel_cost(layers.costs(), kernel, cost);
    cost.pace = 1;
    costs_of.clear();
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
    cost.keep_step = cost.age_bias == 0;
  }
  take("stages", keys.stages, cost.stages);
  take("spill-bytes", keys.spill_bytes, cost.spill_bytes);
  point.judgement = judgement_of(gpu, keys, point.costs, catalog);
  point.unjudged = gpu != nullptr && point.judgement.text() == "none";
  point.hides_time = timed && point.timing_chosen && keys.kernel_costs.empty() && !unknown &&
                     !point.costs.empty() && (!point.judgement.known() || has_own_kernels(point));
  if (keys.pass != Pass::forward ||
      !((unknown && (timed || point.spans_models())) || point.hides_time))
    return;
  point.kernel_ends = ends_of_kernels(point);
  if (timed && gpu != nullptr) point.end_widths = gpu->intervals;
}

}  // namespace sawtooth::experiments
