#include "experiments/sawtooth/inputs/sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"
#include "scheduler/memory_units.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/brute_force.hpp"

namespace sawtooth::fuzz {
namespace {

using namespace experiments;

using Words = std::array<std::string_view, 8>;
constexpr Words gpus{"gb10", "h200", "a100-sxm-40gb", "h100-sxm", "l40", "b200", "rtx5090", "h200"};
constexpr Words l2s{"lru", "sets", "opt", "halves", "lru", "halves", "halves", "lru"};
constexpr Words timings{"lockstep", "lockstep-wave", "timed",    "timed",
                        "lockstep", "timed",         "lockstep", "lockstep"};
constexpr Words launches{"static", "dynamic", "grid", "balanced",
                         "static", "dynamic", "grid", "static"};
constexpr Words scans{"linear",        "reverse", "sawtooth", "sawtooth-item",
                      "sawtooth-wave", "attach",  "random",   "sawtooth"};
constexpr Words policies{"lru", "plru", "fifo", "random", "opt", "lru", "lru", "lru"};
constexpr Words hashes{"balanced", "xor",      "modulo",   "balanced",
                       "balanced", "balanced", "balanced", "balanced"};

// A point or two, as a user would write them.
std::string configuration_of(Choices& choices) {
  std::string text;
  const auto key = [&](const char* name, const std::string& value) {
    text += std::string(name) + " = " + value + "\n";
  };
  const auto number = [&](const char* name, int64_t least, int64_t count) {
    key(name, std::to_string(least + choices.below(count)));
  };
  key("gpu", std::string(choices.of(gpus)));
  const int64_t kv_heads = 1 + choices.below(2);
  key("kv-heads", std::to_string(kv_heads));
  key("heads", std::to_string(kv_heads * (1 + choices.below(3))));
  number("batch", 1, 2);
  number("seq-q", 1, 120);
  number("seq-kv", 1, 120);
  key("head-dim", choices.below(2) == 0 ? "64" : "128");
  const std::string_view timing = choices.of(timings);
  key("timing", std::string(timing));
  const bool timed = timing == "timed";
  key("dtype", !timed && choices.below(4) == 0 ? "fp32" : "bf16");
  const int64_t mask = choices.below(3);
  key("mask", mask == 0   ? "none"
              : mask == 1 ? "causal"
                          : "window:" + std::to_string(1 + choices.below(99)));
  key("tile-q", std::to_string(16 << choices.below(3)));
  key("tile-kv", std::to_string(16 << choices.below(3)));
  number("section", 1, 6);
  const std::string_view launch = choices.of(launches);
  key("launch", std::string(launch));
  number("workers", 1, 16);
  number("ctas-per-sm", 1, 2);
  key("scan", "linear, " + std::string(choices.of(scans)));
  if (!timed && launch != "balanced" && choices.below(8) == 7) {
    key("loop", "kv-outer");
  } else {
    number("prefetch", 0, 3);
    if (launch != "balanced") number("kv-split", 1, 2);
  }
  key("lse", choices.below(2) == 0 ? "off" : "on");
  const std::string l2(timed ? "halves" : choices.of(l2s));
  key("l2", l2);
  const int64_t ways = int64_t{1} << choices.below(5);
  key("l2-bytes", std::to_string((1 + choices.below(64)) * ways * 128 * 4));
  if (l2 == "sets") {
    key("l2-ways", std::to_string(ways));
    key("l2-policy", std::string(choices.of(policies)));
    key("l2-hash", std::string(choices.of(hashes)));
  }
  number("seed", 0, 100);
  key("pack-gqa", choices.below(2) == 0 ? "off" : "on");
  return text;
}

sim::Prediction predict(const Point& point) {
  return experiments::predict(point.request, point.gpu, *point.keys.l2);
}

// K has as many as V: each item, or head under kv-outer, reads every tile that it sees once.
int64_t k_sectors(const Point& point) {
  const Problem& problem = point.request.problem;
  const Tiling& tiling = point.request.tiling;
  const bool outer = point.request.schedule.loop == Loop::kv_outer;
  int64_t sectors = 0;
  for (int64_t kv = 0; kv < kv_tiles(problem, tiling); ++kv) {
    int64_t items = 0;
    for (int64_t q = 0; q < q_tiles(problem, tiling); ++q)
      items += tests::tile_sees(problem, tiling, q, kv) ? 1 : 0;
    if (outer) items = std::min<int64_t>(items, 1);
    const int64_t first = kv * tiling.kv_rows;
    const int64_t rows = std::min(tiling.kv_rows, problem.seq_kv - first);
    sectors += items * ceil_div(rows * problem.row_bytes(), sector_bytes);
  }
  return sectors * problem.batch * problem.heads;
}

double misses(const sim::Counters& counters) {
  return double(counters.dram_read_sectors.value_or(0)) +
         double(counters.l2_write_miss_sectors.value_or(0));
}

bool same(const sim::Prediction& one, const sim::Prediction& other) {
  return one.time_us == other.time_us &&
         std::ranges::all_of(sim::counter_columns, [&](const sim::CounterColumn& column) {
           return one.total.*column.member == other.total.*column.member;
         });
}

void check_counts(const Point& point, const sim::Prediction& prediction) {
  const sim::Counters& all = prediction.total;
  for (const sim::CounterColumn& column : sim::counter_columns)
    require((all.*column.member).value_or(0) >= 0, "no counter is negative");
  for (const sim::Tensor tensor : {sim::Tensor::k, sim::Tensor::v}) {
    // In time K and V of a tile are one unit, counted together.
    const sim::Counters& k = prediction.by_tensor[static_cast<size_t>(sim::Tensor::k)];
    const sim::Counters& v = prediction.by_tensor[static_cast<size_t>(sim::Tensor::v)];
    if (point.request.timing == sim::Timing::timed)
      require(k.sm_read_sectors.value_or(0) + v.sm_read_sectors.value_or(0) == 2 * k_sectors(point),
              "SMs read K and V of every tile that their items see");
    else
      require(prediction.by_tensor[static_cast<size_t>(tensor)].sm_read_sectors == k_sectors(point),
              "SMs read every tile that their items see");
  }
  if (!all.dram_read_sectors) return;
  // What a launch reads beside its tensors is no near miss.
  const bool timed = point.request.timing == sim::Timing::timed;
  const int64_t of_launch = timed ? point.gpu.launch_dram_read_sectors : 0;
  const int64_t over_fabric =
      timed && all.fabric_read_sectors ? point.gpu.launch_fabric_read_sectors : 0;
  const int64_t missed = all.l2_read_miss_sectors.value_or(-1) -
                         (all.fabric_read_sectors.value_or(0) - over_fabric) +
                         all.fabric_read_miss_sectors.value_or(0);
  // What a prefetch brings to one of two halves is no miss.
  const bool prefetched = point.request.schedule.prefetch > 0 && all.fabric_read_sectors;
  require(prefetched ? *all.dram_read_sectors - of_launch >= missed
                     : *all.dram_read_sectors - of_launch == missed,
          "DRAM reads are near misses less fabric reads and fabric misses");
  require(*all.dram_read_sectors >= all.cold_read_sectors.value_or(0),
          "nothing is read that did not come from memory");
}

void check_time(const Point& point, const sim::Prediction& prediction) {
  if (!prediction.time_us || !point.gpu.dram_gb_per_s) return;
  require(std::isfinite(*prediction.time_us) && *prediction.time_us > 0, "a launch takes time");
  const double dram_us = double(prediction.total.dram_read_sectors.value_or(0)) * sector_bytes /
                         (*point.gpu.dram_gb_per_s * 1e3);
  require(*prediction.time_us >= dram_us * (1 - 1e-9), "DRAM is no faster than it is");
}

// The optimum is one of lines, and of sectors where no line has fewer than others.
bool has_full_lines(const Point& point) {
  const sim::Request& request = point.request;
  constexpr int64_t numbers_a_line = line_bytes / 4;  // of log-sum-exp
  return (!request.log_sum_exp && request.schedule.kv_split == 1) ||
         (request.problem.seq_q % numbers_a_line == 0 &&
          request.tiling.q_rows % numbers_a_line == 0);
}

// The bound of every replacement, and more of the same replacement.
void check_capacities(const Point& point, const sim::Prediction& prediction) {
  const std::string_view l2 = point.keys.l2->name;
  if (point.request.timing == sim::Timing::timed || l2 == "halves") return;
  Point other = point;
  other.request.l2_bytes *= 2;
  other.request.sets.ways *= 2;
  const bool sets = l2 == "sets", full = has_full_lines(point);
  const sim::SetPolicy policy = point.request.sets.policy;
  const bool optimal = l2 == "opt" || (sets && policy == sim::SetPolicy::opt);
  const bool stack = optimal ? full : !sets || policy == sim::SetPolicy::lru;
  if (stack)
    require(misses(predict(other).total) <= misses(prediction.total), "more L2 misses no more");
  if (!full) return;
  other = point;
  other.keys.l2 = &model_named(l2_models, "opt");
  require(misses(predict(other).total) <= misses(prediction.total), "opt is the bound");
}

// Starting threads takes longer than all else, so not every input does.
void check(const std::vector<Point>& points, bool by_threads) {
  std::vector<sim::Prediction> alone;
  for (const Point& point : points) alone.push_back(predict(point));
  if (by_threads)
    run_in_order(
        points.size(), 2, [&](size_t i) { return predict(points[i]); },
        [&](size_t i, const sim::Prediction& prediction) {
          require(same(prediction, alone[i]), "threads change nothing");
        },
        [] {});
  for (size_t i = 0; i < points.size(); ++i) {
    check_counts(points[i], alone[i]);
    check_time(points[i], alone[i]);
    check_capacities(points[i], alone[i]);
  }
}

}  // namespace

void sweep(std::span<const char> bytes) {
  static Catalog catalog;
  catalog.gpu({{"gb10"}, {}});  // throws where no profiles are found, and nothing would be tried
  Choices choices(bytes);
  try {
    std::vector<Point> points;
    const Configuration configuration = parse_configuration(configuration_of(choices), "input");
    const bool by_threads = choices.below(16) == 0;
    for (const Settings& settings : expand(configuration, {}))
      points.push_back(resolve(settings, catalog));
    check(points, by_threads);
  } catch (const UsageError&) {
  } catch (const std::invalid_argument&) {  // what a model cannot do
  }
}

}  // namespace sawtooth::fuzz
