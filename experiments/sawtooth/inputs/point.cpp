#include "experiments/sawtooth/inputs/point.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/model_choice.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/inputs/order_file.hpp"
#include "experiments/sawtooth/inputs/point_kernel.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"
#include "experiments/sawtooth/inputs/serving.hpp"
#include "experiments/sawtooth/inputs/sets_options.hpp"
#include "experiments/sawtooth/inputs/tile_choice.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "scheduler/memory_units.hpp"
#include "scheduler/packing.hpp"
#include "sim/schedule/limits.hpp"

namespace sawtooth::experiments {
namespace {

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
  if (keys.head_shards) {
    const int64_t gpus = *keys.head_shards;
    const int64_t kv = problem.kv_heads;
    if (problem.heads % gpus != 0 || (kv % gpus != 0 && gpus % kv != 0))
      layers.fail("head-shards", std::to_string(gpus) +
                                     " GPUs have no equal heads; allowed: divisors "
                                     "of heads, and divisors or multiples of kv-heads");
    problem = HeadShards{gpus, keys.exchange}.of_one(problem);
  } else if (layers.is_given("exchange")) {
    layers.fail("exchange", "has no effect without head-shards");
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
    layers.fail(layers.has("seq") ? "seq" : "seq-q",
                "batch x heads x seq-q x seq-kv overflows 64-bit counts; allowed: up to 2^62");
  }
  return problem;
}

void require_whole_lines(const Layers& layers, const std::string& key, int64_t rows,
                         const Problem& problem, int64_t length) {
  if (rows >= length || rows * problem.row_bytes() % line_bytes == 0) return;
  layers.fail(
      key, "tiles of " + std::to_string(rows) + " rows x " + std::to_string(problem.row_bytes()) +
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
  // Of the backward pass: Q, O and dO, their sums and numbers a row, and K, V and their gradients.
  const long double passes = problem.pass == Pass::backward ? 4 : 1;
  const long double tiles =
      passes * of_heads(problem.heads, q) * (request.log_sum_exp ? 1.5L : 1.0L) +
      passes * of_heads(problem.kv_heads, kv) + partial;
  if (tiles < most) return;
  layers.fail("tile-q", "the problem has too many tiles; allowed: fewer than 2^32 of all tensors");
}

int64_t heads_of(const Section& section, const Problem& problem, int64_t kv_split) {
  const int64_t all = problem.batch * problem.item_heads(problem.pass) * kv_split;
  if (section.all) return all;
  const int64_t heads =
      section.auto_bytes > 0 ? auto_section(problem, section.auto_bytes) * kv_split : section.heads;
  return min_of(all, heads);
}

// The sequences of a batch, in rows of Q as they are packed.
void resolve_sequences(const Layers& layers, Point& point) {
  const Keys& keys = point.keys;
  if (!keys.has_lengths()) {
    if (layers.is_given("sequence-order"))
      layers.fail("sequence-order", "has no effect without lengths or q-lengths");
    return;
  }
  sim::Request& request = point.request;
  const auto lengths = [&](const std::string& text, int64_t otherwise) {
    const auto batch = static_cast<size_t>(keys.batch);
    return text.empty() ? std::vector<int64_t>(batch, otherwise) : lengths_of(text, keys.batch);
  };
  const std::vector<int64_t> q = lengths(keys.q_lengths, *keys.seq_q);
  const std::vector<int64_t> kv = lengths(keys.lengths, *keys.seq_kv);
  SequenceLists lists;
  for (size_t i = 0; i < q.size(); ++i) {
    lists.lengths.push_back({q[i] * request.tiling.rows_a_position, kv[i]});
    lists.first_q.push_back(lists.first_q.back() + q[i]);
    lists.first_kv.push_back(lists.first_kv.back() + kv[i]);
  }
  lists.order.resize(q.size());
  std::iota(lists.order.begin(), lists.order.end(), 0);
  SequenceOrders::dispatch(keys.sequence_order.index, [&](auto policy) {
    std::stable_sort(lists.order.begin(), lists.order.end(), [&](int64_t a, int64_t b) {
      return decltype(policy)::before(lists.lengths[static_cast<size_t>(a)],
                                      lists.lengths[static_cast<size_t>(b)]);
    });
    return 0;
  });
  point.sequences = std::make_shared<const SequenceLists>(std::move(lists));
  request.sequences = {point.sequences->lengths.data(),
                       keys.order_file.empty() ? point.sequences->order.data() : nullptr};
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
    keys.section = Section{.heads = order.section};
    return;
  }
  for (const char* key : {"section", "q-order", "head-order", "sequence-order"}) {
    if (layers.is_given(key))
      layers.fail(key, "has no effect with order-file; leave one of them out");
  }
  auto list = read_order_file(keys.order_file, request.problem, request.tiling, request.schedule);
  set_order(point, std::move(list));
}

// The keys of one pass may not be given with the other, and some schedules are forward's alone.
void resolve_pass(const Layers& layers, const sim::Request& request) {
  if (request.problem.pass == Pass::forward) {
    for (const char* key : {"dq", "small-kernels"})
      if (layers.is_given(key)) layers.fail(key, "has no effect without pass = backward");
  }
  auto fault = sim::backward_fault(request);
  if (!fault) fault = sim::sequences_fault(request);
  if (fault) layers.fail(std::string(fault->key), std::string(fault->what));
}

// The rows that each GPU has, and what no ring does.
void resolve_ring(const Layers& layers, Point& point) {
  const Keys& keys = point.keys;
  if (!keys.ring) {
    for (const char* key : {"ring-order", "ring-mover", "ring-rank", "ring-step"})
      if (layers.is_given(key)) layers.fail(key, "has no effect without ring");
    return;
  }
  const Problem& problem = point.request.problem;
  const Ring& ring =
      point.ring.emplace(Ring{*keys.ring, keys.ring_order, problem.mask.kind, problem.seq_q});
  if (problem.mask.kind == MaskKind::window) layers.fail("mask", "a ring takes none or causal");
  if (problem.seq_q != problem.seq_kv)
    layers.fail("ring", "takes as many queries as keys; allowed: seq");
  if (keys.head_shards) layers.fail("head-shards", "a ring takes none");
  if (keys.pack_gqa) layers.fail("pack-gqa", "a ring packs no heads; allowed: off");
  if (keys.has_lengths())
    layers.fail(keys.lengths.empty() ? "q-lengths" : "lengths", "a ring takes one length");
  if (keys.kv_split != KvSplit{}) layers.fail("kv-split", "a ring takes 1");
  if (keys.is_served()) layers.fail("ring", "takes no shares, prefixes and pages");
  if (keys.loop != Loop::kv_inner) layers.fail("loop", "a ring takes kv-inner");
  if (!keys.order_file.empty()) layers.fail("order-file", "a ring takes none");
  if (keys.lse) layers.fail("lse", "a ring keeps the log-sum-exp anyway; leave it out");
  if (ring.seq % ring.chunks() != 0)
    layers.fail("ring", std::to_string(ring.seq) + " rows have no equal chunks; allowed: seq a " +
                            "multiple of " + std::to_string(ring.chunks()));
  for (const auto& [key, part] :
       {std::pair("ring-rank", keys.ring_rank), {"ring-step", keys.ring_step}})
    if (part && *part >= ring.ranks)
      layers.fail(key, std::to_string(*part) + " is not there; allowed: all, or below ring = " +
                           std::to_string(ring.ranks));
}

void resolve_schedule(const Layers& layers, Point& point) {
  sim::Request& request = point.request;
  const Keys& keys = point.keys;
  request.tiling = {*keys.tile_q, *keys.tile_kv};
  if (keys.pack_gqa) {
    if (request.problem.pass == Pass::backward)
      layers.fail("pack-gqa", "packs Q tiles that are items; allowed with pass = backward: off");
    request.tiling = packed(request.tiling, request.problem);
    request.problem = packed(request.problem);
  }
  resolve_sequences(layers, point);
  resolve_prefix_and_pages(layers, point);
  require_whole_lines(layers, "tile-q", request.tiling.q_rows, request.problem,
                      request.problem.seq_q);
  require_whole_lines(layers, "tile-kv", request.tiling.kv_rows, request.problem,
                      request.problem.seq_kv);
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
  schedule.dq = keys.dq;
  schedule.small_kernels = keys.small_kernels;
  resolve_pass(layers, request);
  if (schedule.launch == launch_id<BalancedLaunch> && !cuts_last_wave(schedule))
    layers.fail("launch", "balanced cuts along K/V; allowed: with loop = kv-inner, kv-split = 1");
  const int64_t parts = kv_tiles(request.problem, request.tiling);
  if (schedule.kv_split > parts) {
    layers.fail("kv-split", "allowed: up to the number of K/V tiles, " + std::to_string(parts));
  }
  require_numbered_tiles(layers, request);
  resolve_order(layers, point);
  resolve_shares(layers, point);
}

// A point without a tile takes the one that the kernels prefer where it asks for it, or where they
// were measured on its GPU.
void choose_tiles(const Layers& layers, const GpuFile* gpu, Keys& keys) {
  const bool has_tile = layers.has("tile-q") || layers.has("tile-kv");
  if (!keys.tiles && !layers.has_system() && gpu != nullptr && !gpu->judged.empty())
    keys.tiles = Tiles::of_the_kernel;
  if (keys.tiles != Tiles::of_the_kernel || has_tile) return;
  const Problem problem{.head_dim = keys.head_dim, .dtype = keys.dtype, .pass = keys.pass};
  const std::string known = known_tiles(keys.kernel, problem);
  if (known.empty()) return;  // no kernel has it: the usual tile, which measure refuses by name
  const int64_t limit =
      gpu == nullptr ? 0 : gpu->profile.shared_memory_block_bytes.value_or(int64_t{0});
  const auto* choice = choose_tile(keys.kernel, problem, limit);
  if (choice == nullptr) {
    layers.fail("head-dim", "no tile of the kernels fits the " + std::to_string(limit) +
                                " bytes of shared memory that a block has on " + gpu->profile.name +
                                "; they are: " + known);
  }
  keys.tile_q = choice->tiling.q_rows;
  keys.tile_kv = choice->tiling.kv_rows;
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
  const Keys& keys = point.keys;
  sim::Request& request = point.request;
  const bool timed = keys.timing == sim::Timing::timed;
  request.without = keys.without;
  // As `measure` and `ring` time: a launch, or a round, that loads the kernel and five that count,
  // of which the middle one is taken.
  request.load = {.launches = 3.5, .ring_rounds = 3};
  if (keys.launches > 1 && keys.ring) layers.fail("launches", "takes no ring; allowed: 1");
  request.launches = keys.launches;
  if (keys.launches > 1 && !timed) {
    layers.fail("launches", "needs timing = timed; the other models are deterministic");
  }
  resolve_sets([&](const std::string& key, const std::string& what) { layers.fail(key, what); },
               point.gpu, point.keys, request);
  if (request.sets.matrix.empty()) return;
  ContentHash content;
  for (const uint64_t row : request.sets.matrix) content.add_line(std::to_string(row));
  point.contents["l2-hash-matrix"] = content.text(content_digits);
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
  resolve_gpu(gpu, point);
  resolve_ring(layers, point);
  resolve_schedule(layers, point);
  resolve_model(layers, point);
  const KernelShape kernel = kernel_of(layers, point);
  resolve_kernel(layers, kernel, gpu, catalog, point);
}

}  // namespace

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

}  // namespace sawtooth::experiments
