#include "experiments/sawtooth/inputs/point.hpp"

#include <array>

#include "experiments/sawtooth/inputs/die_file.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/inputs/order_file.hpp"
#include "experiments/sawtooth/inputs/resident_ctas.hpp"
#include "experiments/sawtooth/inputs/sets_options.hpp"
#include "experiments/sawtooth/inputs/tile_choice.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

// The settings of a point while it is resolved: typed access, and messages that name the place.
class Resolver {
 public:
  explicit Resolver(Settings& settings) : settings_(settings) {}

  bool has(const std::string& key) const { return settings_.contains(key); }
  const std::string& text(const std::string& key) const { return settings_.at(key).values.front(); }
  int64_t number(const std::string& key) const { return std::stoll(text(key)); }
  void set(const std::string& key, const std::string& value) {
    settings_[key] = {{value}, {"default", 0}};
  }
  void set(const std::string& key, int64_t value) { set(key, std::to_string(value)); }
  void set_if_missing(const std::string& key, const std::string& value) {
    if (!has(key)) set(key, value);
  }
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    const auto found = settings_.find(key);
    const bool written = found != settings_.end() && found->second.origin.file != "default";
    throw UsageError((written ? place_of(key, found->second.origin) : key) + ": " + what);
  }

 private:
  Settings& settings_;
};

ElementType element_type(const std::string& text) {
  return text == "bf16"   ? ElementType::bf16
         : text == "fp16" ? ElementType::fp16
                          : ElementType::fp32;
}

// seq becomes seq-q and seq-kv, and every problem key that is left out its default.
void complete_problem(Resolver& point) {
  for (const char* key : {"seq-q", "seq-kv"}) {
    if (point.has(key)) continue;
    if (!point.has("seq")) {
      point.fail("seq",
                 std::string("not given; give seq, or seq-q and seq-kv (") + key + " is missing)");
    }
    point.set(key, point.text("seq"));
  }
  for (const OptionSpec& option : option_table()) {
    if (option.group == OptionGroup::problem && !option.default_text.empty()) {
      point.set_if_missing(std::string(option.key), std::string(option.default_text));
    }
  }
  if (!point.has("kv-heads")) point.set("kv-heads", point.text("heads"));
}

Problem problem_of(const Resolver& point) {
  Problem problem{.batch = point.number("batch"),
                  .heads = point.number("heads"),
                  .kv_heads = point.number("kv-heads"),
                  .seq_q = point.number("seq-q"),
                  .seq_kv = point.number("seq-kv"),
                  .head_dim = point.number("head-dim"),
                  .dtype = element_type(point.text("dtype")),
                  .mask = parse_mask(point.text("mask"))};
  if (problem.heads % problem.kv_heads != 0) {
    point.fail("kv-heads", point.text("kv-heads") + " does not divide heads = " +
                               point.text("heads") + "; each K/V head serves equally many heads");
  }
  // Counters are 64-bit sums over all pairs of tiles; a row has at least one byte.
  constexpr long double most = 4611686018427387904.0L;  // 2^62
  const long double heads =
      static_cast<long double>(problem.batch) * static_cast<long double>(problem.heads);
  const long double pairs =
      heads * static_cast<long double>(problem.seq_q) * static_cast<long double>(problem.seq_kv);
  const long double longest =
      static_cast<long double>(problem.seq_q > problem.seq_kv ? problem.seq_q : problem.seq_kv);
  if (pairs > most || heads * longest * static_cast<long double>(problem.row_bytes()) > most) {
    point.fail(point.has("seq") ? "seq" : "seq-q",
               "batch x heads x seq-q x seq-kv overflows 64-bit counts; allowed: up to 2^62");
  }
  return problem;
}

void require_whole_lines(const Resolver& point, const std::string& key, int64_t rows,
                         const Problem& problem, int64_t length) {
  if (rows >= length || rows * problem.row_bytes() % line_bytes == 0) return;
  point.fail(key,
             "tiles of " + std::to_string(rows) + " rows x " + std::to_string(problem.row_bytes()) +
                 " bytes share lines; allowed: rows x head-dim x element bytes a multiple of " +
                 std::to_string(line_bytes));
}

// The simulator numbers the tiles of all tensors with 32 bits (sim/schedule/atoms.hpp).
void require_numbered_tiles(const Resolver& point, const sim::Request& request) {
  constexpr long double most = 4294967295.0L;  // 2^32 - 1
  const Problem& problem = request.problem;
  const auto of_heads = [&](int64_t heads, int64_t tiles) {
    return 2 * static_cast<long double>(problem.batch * heads) * static_cast<long double>(tiles);
  };
  const int64_t q = q_tiles(problem, request.tiling);
  const int64_t kv = kv_tiles(problem, request.tiling);
  const long double partial =
      request.schedule.kv_split > 1
          ? of_heads(problem.heads, q) * static_cast<long double>(request.schedule.kv_split)
          : 0;
  const long double tiles = of_heads(problem.heads, q) * (request.log_sum_exp ? 1.5L : 1.0L) +
                            of_heads(problem.kv_heads, kv) + partial;
  if (tiles < most) return;
  point.fail("tile-q", "the problem has too many tiles; allowed: fewer than 2^32 of all tensors");
}

int64_t section_of(const std::string& text, const Problem& problem, int64_t kv_split) {
  const int64_t all = problem.batch * problem.heads * kv_split;
  if (text == "all") return all;
  if (text.starts_with(auto_prefix)) {
    const int64_t heads = auto_section(problem, parse_bytes(text.substr(auto_prefix.size())));
    return min_of(all, heads * kv_split);
  }
  return min_of(all, parse_count(text));
}

// An order from a file has no sections, so their keys may not be given beside it.
void resolve_order(Resolver& point, Point& result, const Settings& given) {
  sim::Request& request = result.request;
  Order& order = request.schedule.order;
  if (!point.has("order-file")) {
    order.section = section_of(point.text("section"), request.problem, request.schedule.kv_split);
    order.q_order = {*QOrders::find(point.text("q-order"))};
    order.head_order =
        point.text("head-order") == "batch-major" ? HeadOrder::batch_major : HeadOrder::head_major;
    point.set("section", order.section);
    return;
  }
  for (const char* key : {"section", "q-order", "head-order"}) {
    if (given.contains(key))
      point.fail(key, "has no effect with order-file; leave one of them out");
    result.settings.erase(key);
  }
  const std::string path = point.text("order-file");
  auto list = read_order_file(path, request.problem, request.tiling, request.schedule);
  result.order_list = std::make_shared<const std::vector<WorkCoordinates>>(std::move(list));
  order.list = result.order_list->data();
  point.set("q-order", "file:" + path);
}

void resolve_schedule(Resolver& point, Point& result, const Settings& given) {
  sim::Request& request = result.request;
  request.tiling = {point.number("tile-q"), point.number("tile-kv")};
  require_whole_lines(point, "tile-q", request.tiling.q_rows, request.problem,
                      request.problem.seq_q);
  require_whole_lines(point, "tile-kv", request.tiling.kv_rows, request.problem,
                      request.problem.seq_kv);
  Schedule& schedule = request.schedule;
  schedule.launch = {*Launches::find(point.text("launch"))};
  schedule.scan = {*Scans::find(point.text("scan"))};
  schedule.loop = point.text("loop") == "kv-outer" ? Loop::kv_outer : Loop::kv_inner;
  schedule.workers = point.number("workers");
  schedule.kv_split = point.number("kv-split");
  schedule.prefetch = point.number("prefetch");
  schedule.seed = static_cast<uint64_t>(point.number("seed"));
  request.log_sum_exp = point.text("lse") == "on";
  if (schedule.loop == Loop::kv_outer) {
    if (schedule.kv_split > 1) point.fail("kv-split", "has no effect with loop = kv-outer");
    if (schedule.prefetch > 0) point.fail("prefetch", "has no effect with loop = kv-outer");
  }
  if (schedule.launch == launch_id<BalancedLaunch> && !cuts_last_wave(schedule))
    point.fail("launch", "balanced cuts along K/V; allowed: with loop = kv-inner, kv-split = 1");
  const int64_t parts = kv_tiles(request.problem, request.tiling);
  if (schedule.kv_split > parts) {
    point.fail("kv-split", "allowed: up to the number of K/V tiles, " + std::to_string(parts));
  }
  require_numbered_tiles(point, request);
  resolve_order(point, result, given);
}

// With tiles = kernel, a point without a tile takes the one that the kernels prefer.
void choose_tiles(Resolver& point, const GpuFile* gpu) {
  const bool chosen = point.has("tiles") && point.text("tiles") == "kernel";
  if (!chosen || point.has("tile-q") || point.has("tile-kv")) return;
  const std::string family = point.has("kernel") ? point.text("kernel") : "";
  const int64_t head_dim = point.number("head-dim");
  const std::string known = known_tiles(family, head_dim);
  if (known.empty()) return;  // no kernel has it: the usual tile, which measure refuses by name
  const int64_t limit =
      gpu == nullptr ? 0 : gpu->profile.shared_memory_block_bytes.value_or(int64_t{0});
  const auto* choice = choose_tile(family, head_dim, limit);
  if (choice == nullptr) {
    point.fail("head-dim", "no tile of the kernels fits the " + std::to_string(limit) +
                               " bytes of shared memory that a block has on " + gpu->profile.name +
                               "; they are: " + known);
  }
  point.set("tile-q", choice->tiling.q_rows);
  point.set("tile-kv", choice->tiling.kv_rows);
}

void resolve_gpu(Resolver& point, Point& result, const GpuFile* gpu) {
  if (gpu != nullptr) {
    result.gpu = gpu->profile;
    point.set("gpu", gpu->profile.name);
    point.set_if_missing("l2-bytes", std::to_string(gpu->profile.l2_bytes));
    point.set_if_missing("workers", std::to_string(gpu->profile.sms * point.number("ctas-per-sm")));
  } else if (!point.has("l2-bytes") || !point.has("workers")) {
    point.fail("gpu", "not given; name one of `sawtooth gpus`, or give both l2-bytes and workers");
  }
  result.request.l2_bytes = point.number("l2-bytes");
  result.gpu.l2_bytes = result.request.l2_bytes;
}

// The keys of a preset say what its kernel is; other points are of kernels/mma, unless they name
// another family.
bool is_of_mma(Resolver& point, bool preset) {
  return !preset && (!point.has("kernel") || point.text("kernel") == "mma");
}

// Facts of one GPU.
void resolve_die(Resolver& point, bool mma, Point& result) {
  if (!point.has("die")) return;
  if (result.request.timing != sim::Timing::timed)
    point.fail("die", "has no effect without timing = timed");
  const std::string path = point.text("die");
  const DieFile die = read_die_file(path);
  const auto check_count = [&](const char* what, size_t known) {
    if (known != 0 && static_cast<int64_t>(known) != result.gpu.sms)
      point.fail("die", path + " has the " + what + " of " + std::to_string(known) +
                            " SMs, gpu = " + result.gpu.name + " has " +
                            std::to_string(result.gpu.sms));
  };
  const SmSpeeds speeds =
      mma ? speeds_of(die, result.request.problem.head_dim, result.request.tiling) : die.speeds;
  for (const auto* known : {&speeds.slowness, &speeds.older, &speeds.younger})
    check_count("speeds", known->size());
  check_count("halves", die.cta_half.size());
  result.gpu.sm_slowness = speeds.slowness;
  result.gpu.sm_slowness_older = speeds.older;
  result.gpu.sm_slowness_younger = speeds.younger;
  result.gpu.cta_half = die.cta_half;
  result.gpu.ticket_half = die.ticket_half;
  result.die = stem_of(path);
}

// The costs are those that are not the preset's own: the row's column `system` names the preset.
void resolve_speed(Resolver& point, const Settings& given, const Settings& preset, Point& result) {
  sim::KernelSpeed& speed = result.request.speed;
  const auto read = [&]<class Value>(const char* key, std::optional<Value>& value) {
    if (!point.has(key)) return;
    if (result.request.timing != sim::Timing::timed) {
      if (given.contains(key)) point.fail(key, "has no effect without timing = timed");
      return;
    }
    value = static_cast<Value>(std::stod(point.text(key)));
    const auto usual = preset.find(key);
    if (usual != preset.end() && usual->second.values.front() == point.text(key)) return;
    result.costs += (result.costs.empty() ? "" : " ") + std::string(key) + "=" + point.text(key);
  };
  read("step-ns", speed.step_ns);
  read("step-exposed-ns", speed.exposed_ns);
  read("age-bias", speed.age_bias);
  read("stages", speed.stages);
  read("spill-bytes", speed.spill_bytes);
}

// What is known of the kernel of kernels/mma that the point is of.
void resolve_kernel(const GpuFile* gpu, Point& result) {
  sim::Request& request = result.request;
  if (gpu != nullptr)
    set_kernel_parameters(*gpu, request.problem.head_dim, request.tiling, result.gpu);
  const ResidentCtas* row = resident_ctas(request.problem.head_dim, request.tiling);
  if (row == nullptr) return;
  request.resident_ctas = row->ctas;
  if (row->keep_step && !request.speed.age_bias) request.speed.age_bias = 0;
}

}  // namespace

std::string Point::text(std::string_view key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string() : found->second.values.front();
}

Point resolve(const Settings& given, Catalog& catalog) {
  Point result;
  Settings& settings = result.settings;
  const SystemFile* system =
      given.contains("system") ? &catalog.system(given.at("system")) : nullptr;
  if (system != nullptr) settings = system->settings;
  overlay(settings, given);
  Resolver point(settings);
  complete_problem(point);
  Settings preset;
  if (system != nullptr) {
    Settings merged = system->settings;
    overlay(merged, guarded_settings(*system, settings));
    preset = merged;
    overlay(merged, given);
    settings = std::move(merged);
    complete_problem(point);
  }
  // Time without the halves that a GPU has would be a model of another GPU.
  const bool timed = point.has("timing") && point.text("timing") == "timed";
  if (timed) point.set_if_missing("l2", "halves");
  const GpuFile* gpu = given.contains("gpu") ? &catalog.gpu(given.at("gpu")) : nullptr;
  choose_tiles(point, gpu);
  for (const OptionSpec& option : option_table()) {
    const bool of_points = option.group != OptionGroup::output && !option.default_text.empty();
    if (of_points) point.set_if_missing(std::string(option.key), std::string(option.default_text));
  }
  result.request.problem = problem_of(point);
  resolve_gpu(point, result, gpu);
  resolve_schedule(point, result, given);
  result.request.sample = std::stod(point.text("sample"));
  const bool samples = result.request.sample < 1;
  if (samples && (point.text("l2") != "lru" || point.text("timing") == "timed")) {
    point.fail("sample", "only l2 = lru in lockstep follows a share of the tiles; leave it out");
  }
  result.request.launches = std::stoll(point.text("launches"));
  result.request.timing = model_named(timing_models, point.text("timing")).timing;
  if (result.request.launches > 1 && result.request.timing != sim::Timing::timed) {
    point.fail("launches", "only timing = timed has luck; leave it out");
  }
  resolve_sets(settings, result.gpu, result.request);
  for (const auto& entry : sim::mechanism_names) {
    if (entry.name == point.text("without")) result.request.without.add(entry.mechanism);
  }
  resolve_speed(point, given, preset, result);
  const bool mma = is_of_mma(point, system != nullptr);
  resolve_die(point, mma, result);
  if (mma) resolve_kernel(gpu, result);
  settings.erase("seq");
  return result;
}

}  // namespace sawtooth::experiments
