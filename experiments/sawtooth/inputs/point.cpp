#include "experiments/sawtooth/inputs/point.hpp"

#include <algorithm>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

// Calls a function of each feature that has it (features/feature.hpp).
#define SAWTOOTH_OF_FEATURES(function)                            \
  for_each_feature([&]<class Feature>(Feature*) {                 \
    if constexpr (requires { Feature::function(layers, point); }) \
        Feature::function(layers, point);                         \
  })

Problem problem_of(const Keys& keys, const Layers& layers) {
  Problem problem{.batch = keys.batch,
                  .heads = keys.heads,
                  .kv_heads = *keys.kv_heads,
                  .seq_q = *keys.seq_q,
                  .seq_kv = *keys.seq_kv,
                  .head_dim = keys.head_dim,
                  .dtype = keys.dtype,
                  .pass = keys.pass,
                  .mask = keys.mask};
  if (problem.heads % problem.kv_heads != 0) {
    layers.fail("kv-heads", std::to_string(problem.kv_heads) +
                                " does not divide heads = " + std::to_string(problem.heads) +
                                "; each K/V head serves equally many heads");
  }
  return problem;
}

// Counters are 64-bit sums over all pairs of tiles; a row has at least one byte.
void require_countable(const Layers& layers, const Problem& problem) {
  constexpr long double most = 4611686018427387904.0L;  // 2^62
  const long double heads =
      static_cast<long double>(problem.batch) * static_cast<long double>(problem.heads);
  const long double pairs =
      heads * static_cast<long double>(problem.seq_q) * static_cast<long double>(problem.seq_kv);
  const long double longest =
      static_cast<long double>(problem.seq_q > problem.seq_kv ? problem.seq_q : problem.seq_kv);
  if (pairs > most || heads * longest * static_cast<long double>(problem.row_bytes()) > most) {
    layers.fail(layers.has("seq") ? "seq" : "seq-q",
                "batch x heads x seq-q x seq-kv overflows 64-bit counts; allowed: up to 2^62");
  }
}

void require_whole_lines(const Layers& layers, const std::string& key, int64_t rows,
                         int64_t row_bytes, int64_t length) {
  if (rows >= length || rows * row_bytes % line_bytes == 0) return;
  layers.fail(key,
              "tiles of " + std::to_string(rows) + " rows x " + std::to_string(row_bytes) +
                  " bytes share lines; allowed: rows x head-dim x element bytes a multiple of " +
                  std::to_string(line_bytes));
}

// The simulator numbers the tiles of all tensors with 32 bits (sim/schedule/atoms.hpp).
void require_numbered_tiles(const Layers& layers, const sim::Request& request) {
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
  // The backward pass has Q, O and dO, their sums and numbers a row, and K, V and their gradients.
  const long double passes = problem.pass == Pass::backward ? 4 : 1;
  const long double tiles =
      passes * of_heads(problem.heads, q) * (request.log_sum_exp ? 1.5L : 1.0L) +
      passes * of_heads(problem.kv_heads, kv) + partial;
  if (tiles >= most)
    layers.fail("tile-q",
                "the problem has too many tiles; allowed: fewer than 2^32 of all tensors");
  // Each tile of a side may visit all rows of up to four tensors of the other one.
  constexpr long double most_sectors = 4611686018427387904.0L;  // 2^62
  const long double visited =
      static_cast<long double>(q) * static_cast<long double>(problem.seq_kv) +
      static_cast<long double>(kv) * static_cast<long double>(problem.seq_q);
  const int64_t widest = std::max(
      {problem.row_bytes(), problem.k_row_bytes(), problem.v_row_bytes(), problem.o_row_bytes()});
  const auto row_sectors = static_cast<long double>(widest / sector_bytes + 1);
  if (2 * of_heads(problem.heads, 1) * visited * row_sectors > most_sectors)
    layers.fail("tile-q", "SMs may move more sectors than 64-bit counts hold; allowed: up to 2^62");
}

int64_t heads_of(const Section& section, const Problem& problem, int64_t kv_split) {
  const int64_t all = problem.batch * problem.item_heads(problem.pass) * kv_split;
  if (section.all) return all;
  const int64_t heads =
      section.auto_bytes > 0 ? auto_section(problem, section.auto_bytes) * kv_split : section.heads;
  return min_of(all, heads);
}

// An order from a file has no sections, so their keys may not be given beside it.
void resolve_order(const Layers& layers, Point& point) {
  sim::Request& request = point.request;
  Order& order = request.schedule.order;
  Keys& keys = point.keys;
  if (keys.order_file.empty()) {
    order.section = heads_of(*keys.section, request.problem, request.schedule.kv_split);
    order.q_order = keys.q_order;
    order.head_order = *keys.head_order;
    if (!keys.section->by_part) {
      keys.section = Section{.heads = order.section};
      return;
    }
    const L2Parts parts{point.gpu.l2_parts.value_or(1), point.gpu.l2_part_run.value_or(1)};
    if (parts.count < 2)
      layers.fail("section", "part needs a GPU whose L2 has private parts (l2-parts)");
    const auto head_order = keys.head_order;
    const int64_t items = whole_item_count(request.problem, request.tiling, request.schedule);
    std::vector<WorkCoordinates> list;
    for (int64_t i = 0; i < items; ++i)
      list.push_back(work_at(
          request.problem, order, item_tiles(request.problem, request.tiling, request.problem.pass),
          request.schedule.kv_split, parts.item_by_part(i, items), request.problem.pass));
    set_order(point, std::move(list));
    keys.section = Section{.by_part = true};
    keys.head_order = head_order;
    return;
  }
  for (const char* key : {"section", "q-order", "head-order", "sequence-order"})
    if (layers.is_given(key))
      layers.fail(key, "has no effect with order-file; leave one of them out");
  auto list = read_order_file(keys.order_file, request.problem, request.tiling, request.schedule);
  set_order(point, std::move(list));
}

void resolve_schedule(const Layers& layers, Point& point) {
  sim::Request& request = point.request;
  const Keys& keys = point.keys;
  request.tiling = {*keys.tile_q, *keys.tile_kv};
  SAWTOOTH_OF_FEATURES(resolve_tiles);
  const Problem& problem = request.problem;
  for (const int64_t bytes : {problem.row_bytes(), problem.o_row_bytes()})
    require_whole_lines(layers, "tile-q", request.tiling.q_rows, bytes, problem.seq_q);
  for (const int64_t bytes : {problem.k_row_bytes(), problem.v_row_bytes()})
    require_whole_lines(layers, "tile-kv", request.tiling.kv_rows, bytes, problem.seq_kv);
  Schedule& schedule = request.schedule;
  schedule.launch = keys.launch;
  schedule.scan = keys.scan;
  schedule.loop = keys.loop;
  schedule.workers = *keys.workers;
  schedule.kv_split = keys.kv_split.parts;
  schedule.prefetch = keys.prefetch;
  schedule.seed = keys.seed;
  request.log_sum_exp = keys.lse;
  request.timing = *keys.timing;
  if (schedule.loop == Loop::kv_outer) {
    if (schedule.kv_split > 1) layers.fail("kv-split", "has no effect with loop = kv-outer");
    if (schedule.prefetch > 0) layers.fail("prefetch", "has no effect with loop = kv-outer");
  }
  SAWTOOTH_OF_FEATURES(check_schedule);
  if (schedule.launch == launch_id<BalancedLaunch> && !cuts_last_wave(schedule))
    layers.fail("launch", "balanced cuts along K/V; allowed: with loop = kv-inner, kv-split = 1");
  const int64_t parts = kv_tiles(request.problem, request.tiling);
  if (schedule.kv_split > parts && request.problem.pass == Pass::forward)
    layers.fail("kv-split", "allowed: up to the number of K/V tiles, " + std::to_string(parts));
  require_numbered_tiles(layers, request);
  resolve_order(layers, point);
  SAWTOOTH_OF_FEATURES(resolve_items);
}

void resolve_gpu(const GpuFile* gpu, Point& point) {
  Keys& keys = point.keys;
  if (gpu != nullptr) {
    point.gpu = gpu->profile;
    point.contents["gpu"] = gpu->content;
    keys.gpu = gpu->profile.name;
    if (!keys.l2_bytes) keys.l2_bytes = gpu->profile.l2_bytes;
    if (!keys.workers) keys.workers = gpu->profile.sms * keys.ctas_per_sm;
  } else if (!keys.l2_bytes || !keys.workers) {
    throw UsageError(
        "gpu: not given; name one of `sawtooth gpus`, or give both l2-bytes and workers");
  }
  point.request.l2_bytes = *keys.l2_bytes;
  point.gpu.l2_bytes = *keys.l2_bytes;
}

void resolve_model(const Layers& layers, Point& point) {
  Keys& keys = point.keys;
  if (keys.exact && keys.timing == sim::Timing::timed) {
    if (keys.without != sim::MechanismSet{} && keys.without != sim::no_repeats)
      layers.fail("exact", "takes no other mechanism away; leave `without` out");
    keys.without = sim::no_repeats;
  }
  point.request.without = keys.without;
  // As `measure` and `ring` time: a launch, or a round, that loads the kernel and five that count,
  // of which the middle one is taken.
  point.request.load = {.launches = 3.5, .ring_rounds = 3};
  point.request.launches = keys.launches;
  if (keys.launches > 1 && keys.timing != sim::Timing::timed)
    layers.fail("launches", "needs timing = timed; the other models are deterministic");
  SAWTOOTH_OF_FEATURES(resolve_model);
}

// Keys that have an effect beside others only.
void refuse_idle_keys(const Layers& layers, const Keys& keys) {
  for (const OptionSpec& option : option_table()) {
    const KeyField& field = option.field;
    if (field.met != nullptr && option.key != field.needs && layers.is_given(option.key) &&
        !field.met(keys))
      layers.fail(std::string(option.key), "has no effect without " + std::string(field.needs));
  }
}

}  // namespace

std::string Point::text(std::string_view key) const {
  return find_option(key)->field.print(keys);
}

void set_order(Point& point, std::vector<WorkCoordinates> list) {
  ContentHash content;
  for (const WorkCoordinates& at : list)
    content.add_number(at.batch).add_number(at.head).add_number(at.own_tile).add_number(at.part);
  point.contents["order"] = content.text(content_digits);
  point.keys.section.reset();
  point.keys.head_order.reset();
  point.order_list = std::make_shared<const std::vector<WorkCoordinates>>(std::move(list));
  point.request.schedule.order.list = point.order_list->data();
}

namespace {

void resolve_from(const Layers& layers, const Settings& given, Catalog& catalog, Point& point) {
  Keys& keys = point.keys;
  const GpuFile* gpu = given.contains("gpu") ? &catalog.gpu(given.at("gpu")) : nullptr;
  point.timing_chosen = !keys.timing;
  point.l2_chosen = keys.l2 == nullptr;
  choose_model(gpu, keys);
  choose_tiles(layers, gpu, keys);
  point.request.problem = problem_of(keys, layers);
  SAWTOOTH_OF_FEATURES(resolve_problem);
  require_countable(layers, point.request.problem);
  point.plain_call = choose_plain_call(layers, gpu, point.request.problem, keys);
  resolve_gpu(gpu, point);
  refuse_idle_keys(layers, keys);
  resolve_schedule(layers, point);
  resolve_model(layers, point);
  resolve_kernel(layers, gpu, catalog, point);
}

}  // namespace

#undef SAWTOOTH_OF_FEATURES

Point resolve_or_refuse(const Settings& given, Catalog& catalog) {
  const Layers layers(given, catalog);
  Point point;
  point.keys = layers.keys();
  if (given.contains("system"))
    point.contents["system"] = catalog.system(given.at("system")).content;
  try {
    resolve_from(layers, given, catalog, point);
  } catch (const Refusal& refusal) {
    point.refusal = refusal.what();
  }
  point.keys.seq.reset();
  return point;
}

Point resolve(const Settings& given, Catalog& catalog) {
  Point point = resolve_or_refuse(given, catalog);
  if (!point.refusal.empty()) throw Refusal(point.refusal);
  return point;
}

namespace {

template <class File, class Read>
const File& read_once(std::map<std::string, File>& files, const std::string& name, Read read) {
  const auto known = files.find(name);
  return known != files.end() ? known->second : files.emplace(name, read()).first->second;
}

}  // namespace

const GpuFile& Catalog::gpu(const Assignment& assignment) {
  const std::string& name = assignment.values.front();
  return read_once(gpus_, name, [&] {
    return read_gpu_file(resource_path("profiles/gpus", name, place_of("gpu", assignment.origin)));
  });
}

const ProfileFile& Catalog::kernel(const std::string& name, const std::string& place) {
  return read_once(kernels_, name, [&] {
    return read_kernel_file(resource_path("profiles/kernels", name, place));
  });
}

const std::vector<JudgedError>& Catalog::judged_errors() {
  using Error = JudgedError;
  if (!judged_errors_)
    judged_errors_ = typed_rows<Error>(read_csv(resource_file("profiles/judged.csv")),
                                       {{"gpu", &Error::gpu},
                                        {"model", &Error::model},
                                        {"kernel", &Error::kernel},
                                        {"points", &Error::points},
                                        {"kind", &Error::kind},
                                        {"counter", &Error::counter},
                                        {"median", &Error::median},
                                        {"ninety", &Error::ninety}});
  return *judged_errors_;
}

const SystemFile& Catalog::read_system(const std::string& path) {
  return read_once(systems_, path, [&] { return read_system_file(path); });
}

const SystemFile& Catalog::system(const Assignment& assignment) {
  const std::string& name = assignment.values.front();
  const std::string place = place_of("system", assignment.origin);
  const SystemFile& named = read_system(resource_path("profiles/systems", name, place));
  if (!named.limits.empty()) limits_[name] = named.limits;
  if (named.alias_of.empty()) return named;
  const SystemFile& meant =
      read_system(resource_path("profiles/systems", named.alias_of, named.path + ": alias-of"));
  if (!meant.alias_of.empty())
    throw UsageError(named.path + ": alias-of: '" + named.alias_of + "' is an alias itself");
  if (!meant.limits.empty()) limits_[named.alias_of] = meant.limits;
  return meant;
}

}  // namespace sawtooth::experiments
