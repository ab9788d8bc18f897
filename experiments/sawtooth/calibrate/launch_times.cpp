#include "experiments/sawtooth/calibrate/launch_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "experiments/sawtooth/support/statistics.hpp"
#include "scheduler/memory_units.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::experiments {
namespace {

using Values = std::vector<double>;

constexpr double normal = 1.4826;     // standard deviation over median absolute deviation
constexpr int64_t long_steps = 100;   // of a backward item that tells what an item takes
constexpr double slow = 0.1;          // items that take so much longer are in the wrong phase
constexpr double both_compute = 0.7;  // of a launch under a mask: every SM still has two CTAs

double mean_of(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

double variance_of(const Values& values, double freedom) {
  const double mean = mean_of(values);
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean);
  return square / freedom;
}

/// Sums of squares of x and of products, both beyond the means.
std::pair<double, double> square_and_product(const Values& x, const Values& y) {
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double square = 0, product = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    square += (x[i] - mean_x) * (x[i] - mean_x);
    product += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return {square, product};
}

double median_or_none(Values values) {
  return values.empty() ? not_told : median_of(std::move(values));
}

/// Where CTAs are: SMs have numbers in the order in which CTAs come to them.
struct Places {
  int64_t sms = 0;
  std::vector<std::vector<size_t>> gpcs;  // their SMs
  std::vector<size_t> older, younger;     // CTAs of each SM, of which a lone one is both

  Places(const sim::Gpu& gpu, int64_t workers) : sms(gpu.sms) {
    const std::vector<sim::PlacedSm> placed = sim::placed_sms(gpu.sms, 2, gpu.layout);
    for (size_t sm = 0; sm < placed.size(); ++sm) {
      const auto gpc = static_cast<size_t>(placed[sm].gpc);
      if (gpcs.size() <= gpc) gpcs.resize(gpc + 1);
      gpcs[gpc].push_back(sm);
    }
    older.resize(placed.size());
    std::iota(older.begin(), older.end(), size_t{0});
    younger = older;
    if (workers != 2 * sms) return;
    std::set<int64_t> taken;
    const auto order = sim::sms_of_ctas(placed, gpu.layout, workers);
    for (size_t cta = 0; cta < order.size(); ++cta)
      (taken.insert(order[cta]).second ? older : younger)[size_t(order[cta])] = cta;
  }
};

class Reduction {
 public:
  Reduction(const RecordedLaunch& launch, const sim::Gpu& gpu)
      : ctas_(launch.ctas), places_(gpu, launch.point.workers), row_(launch.point) {}

  LaunchTimes run() {
    add_items();
    const bool persistent =
        row_.launch != "grid" && ctas_.size() == size_t(row_.workers) &&
        (row_.has_ctas(1, places_.sms) || row_.has_ctas(2, places_.sms)) &&
        std::ranges::all_of(ctas_, [](auto& items) { return items.size() > 1; });
    if (!persistent) return row_;
    add_paces();
    add_lines();
    add_spreads();
    if (row_.workers == places_.sms) add_start_spread();
    if (row_.mask == "none") {
      add_variances();
      if (row_.workers == 2 * places_.sms) add_phases();
    }
    return row_;
  }

 private:
  static double ns(const std::vector<RecordedItem>& items, size_t k) {
    return double(items[k + 1].start_ns - items[k].start_ns);
  }
  double step_ns(size_t cta, size_t k) const {
    return ns(ctas_[cta], k) / double(ctas_[cta][k].steps);
  }
  Values step_times(size_t cta) const {
    Values times;
    for (size_t k = 0; k + 1 < ctas_[cta].size(); ++k) times.push_back(step_ns(cta, k));
    return times;
  }
  static int64_t steps_of(const std::vector<RecordedItem>& items) {
    int64_t steps = 0;
    for (size_t k = 0; k + 1 < items.size(); ++k) steps += items[k].steps;
    return steps;
  }
  double pace(size_t cta) const {
    const auto& items = ctas_[cta];
    return double(items.back().start_ns - items.front().start_ns) / double(steps_of(items));
  }
  Values paces(const std::vector<size_t>& ctas) const {
    Values found;
    for (const size_t cta : ctas) found.push_back(pace(cta));
    return found;
  }

  void add_items() {
    row_.least_steps = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    Values x, y;
    const int64_t least = row_.kernel.family.ends_with("-backward") ? long_steps : 0;
    for (const auto& items : ctas_) {
      for (const RecordedItem& item : items) {
        row_.least_steps = std::min(row_.least_steps, item.steps);
        row_.most_steps = std::max(row_.most_steps, item.steps);
        end = std::max(end, item.start_ns);
      }
      for (size_t k = 0; k + 1 < items.size(); ++k) {
        if (items[k].steps <= least) continue;
        x.push_back(double(items[k].steps));
        y.push_back(ns(items, k));
      }
    }
    row_.line_items = double(x.size());
    if (x.empty()) return;
    row_.line_steps = mean_of(x);
    row_.line_ns = mean_of(y);
    std::tie(row_.line_square, row_.line_product) = square_and_product(x, y);
    if (row_.mask == "none" || row_.workers != 2 * places_.sms) return;
    for (const auto& items : ctas_)
      for (size_t k = 0; k + 1 < items.size(); ++k) {
        if (double(items[k + 1].start_ns) >= both_compute * double(end)) continue;
        ++row_.early_items;
        row_.early_steps += double(items[k].steps);
        row_.early_ns += ns(items, k);
      }
  }

  void add_paces() {
    const Values older = paces(places_.older), younger = paces(places_.younger);
    row_.older_ns = median_of(older);
    row_.younger_ns = median_of(younger);
    row_.older_mean_ns = mean_of(older);
    row_.younger_mean_ns = mean_of(younger);
    Values items_a_step, all, means;
    for (size_t cta = 0; cta < ctas_.size(); ++cta) {
      items_a_step.push_back(double(ctas_[cta].size() - 1) / double(steps_of(ctas_[cta])));
      const Values own = step_times(cta);
      means.push_back(mean_of(own));
      all.insert(all.end(), own.begin(), own.end());
    }
    row_.items_a_step = median_of(items_a_step);
    row_.mean_ns = mean_of(all);
    std::ranges::sort(means);
    const auto half = means.begin() + static_cast<std::ptrdiff_t>(means.size() / 2);
    const double first = std::accumulate(means.begin(), half, 0.0),
                 second = std::accumulate(half, means.end(), 0.0);
    row_.sorted_ahead = (second - first) / (first + second);
  }

  /// Whether lines of a tile fall to this CTA to prefetch (scheduler/prefetch.hpp, one head).
  bool has_lines(size_t cta) const {
    const int64_t lines =
        row_.kernel.tiling.kv_rows * row_.kernel.head_dim * row_.element_bytes() / line_bytes;
    const auto at = static_cast<int64_t>(cta);
    return at * lines / row_.workers < (at + 1) * lines / row_.workers;
  }

  void add_lines() {
    if (row_.prefetch == 0) return;
    if (row_.workers == places_.sms) {
      Values with, without;
      for (size_t cta = 0; cta < ctas_.size(); ++cta)
        (has_lines(cta) ? with : without).push_back(pace(cta));
      row_.lines_ns = median_or_none(with);
      row_.no_lines_ns = median_or_none(without);
      return;
    }
    std::map<std::pair<bool, bool>, std::pair<Values, Values>> times;
    for (size_t sm = 0; sm < places_.older.size(); ++sm) {
      const size_t older = places_.older[sm], younger = places_.younger[sm];
      auto& [of_older, of_younger] = times[{has_lines(older), has_lines(younger)}];
      of_older.push_back(pace(older));
      of_younger.push_back(pace(younger));
    }
    if (times.size() < 4) return;
    const auto mean = [&](bool has) {
      const auto& [older, younger] = times[{has, has}];
      return (median_of(older) + median_of(younger)) / 2;
    };
    const auto ratio = [&](bool older_has) {
      const auto& [older, younger] = times[{older_has, !older_has}];
      return median_of(older) / median_of(younger);
    };
    row_.both_lines_ns = mean(true);
    row_.neither_lines_ns = mean(false);
    row_.lines_bias = std::log(ratio(true) / ratio(false)) / 4;
  }

  void add_spreads() {
    const Values of_sms = paces(places_.older);
    Values of_gpcs, deviations;
    for (const std::vector<size_t>& gpc : places_.gpcs) {
      Values own;
      for (const size_t sm : gpc) own.push_back(of_sms[sm]);
      of_gpcs.push_back(median_of(std::move(own)));
      for (size_t i = 0; i + 2 < gpc.size(); i += 4) {  // items at the same place of their CTAs
        const size_t here = places_.older[gpc[i]], there = places_.older[gpc[i + 2]];
        for (size_t k = 0; k + 1 < std::min(ctas_[here].size(), ctas_[there].size()); ++k) {
          const double steps = double(ctas_[here][k].steps + ctas_[there][k].steps) / 2;
          deviations.push_back(std::abs(step_ns(here, k) / step_ns(there, k) - 1) *
                               std::sqrt(steps / 2));
        }
      }
    }
    row_.jitter = normal * median_of(std::move(deviations));
    row_.gpc_spread = std::sqrt(variance_of(of_gpcs, double(of_gpcs.size()))) / mean_of(of_gpcs);
    double differences = 0;
    for (size_t sm = 0; sm + 1 < of_sms.size(); sm += 2)
      differences += (of_sms[sm] - of_sms[sm + 1]) / 2;
    row_.tpc_spread = differences / double(of_sms.size() / 2) / mean_of(of_sms);
  }

  void add_start_spread() {
    Values spreads;
    for (const std::vector<size_t>& gpc : places_.gpcs) {
      std::vector<int64_t> starts;
      for (size_t i = 0; i < gpc.size(); i += 2) starts.push_back(ctas_[gpc[i]].front().start_ns);
      const auto [low, high] = std::ranges::minmax(starts);
      spreads.push_back(double(high - low));
    }
    row_.start_spread_ns = median_of(std::move(spreads));
  }

  /// How items of a CTA differ beyond what all items at their place differ by.
  void add_variances() {
    size_t places = std::numeric_limits<size_t>::max();
    for (const auto& own : ctas_) places = std::min(places, own.size() - 1);
    if (places < 2) return;
    Values of_place(places, 0), variances;
    for (size_t cta = 0; cta < ctas_.size(); ++cta) {
      const Values own = step_times(cta);
      for (size_t k = 0; k < places; ++k) of_place[k] += own[k] / double(ctas_.size());
    }
    for (size_t cta = 0; cta < ctas_.size(); ++cta) {
      Values beyond;
      for (size_t k = 0; k < places; ++k) beyond.push_back(step_ns(cta, k) / of_place[k]);
      variances.push_back(variance_of(beyond, double(places - 1)));
    }
    row_.jitter_of_all = std::sqrt(mean_of(variances) * double(ctas_.front().front().steps));
  }

  void add_phases() {
    Values all, slow_ones, shares;
    for (size_t cta = 0; cta < ctas_.size(); ++cta) {
      const Values own = step_times(cta);
      all.insert(all.end(), own.begin(), own.end());
    }
    std::ranges::sort(all);
    const double right = all[all.size() / 10];
    for (const double pace : all)
      if (pace > (1 + slow) * right) slow_ones.push_back(pace / right - 1);
    if (slow_ones.empty()) return;
    const double slowness = median_of(slow_ones);
    for (const double pace : all)
      shares.push_back(std::clamp((1 - right / pace) * (1 + slowness) / slowness, 0.0, 1.0));
    row_.phase_ns = right;
    row_.phase_slowness = slowness;
    row_.phase_share = mean_of(shares);
  }

  const std::vector<std::vector<RecordedItem>>& ctas_;
  Places places_;
  LaunchTimes row_;
};

/// What was launched, and what its items took: columns with the names of members.
TypedColumns<LaunchTimes> launch_columns() {
  TypedColumns<LaunchTimes> columns = point_columns();
#define COLUMN(member) TypedColumn<LaunchTimes>(#member, &LaunchTimes::member)
  columns.insert(columns.end(),
                 {COLUMN(dram_tb_per_s),    COLUMN(least_steps),     COLUMN(most_steps),
                  COLUMN(items_a_step),     COLUMN(older_ns),        COLUMN(younger_ns),
                  COLUMN(older_mean_ns),    COLUMN(younger_mean_ns), COLUMN(mean_ns),
                  COLUMN(lines_ns),         COLUMN(no_lines_ns),     COLUMN(both_lines_ns),
                  COLUMN(neither_lines_ns), COLUMN(lines_bias),      COLUMN(sorted_ahead),
                  COLUMN(jitter),           COLUMN(jitter_of_all),   COLUMN(gpc_spread),
                  COLUMN(tpc_spread),       COLUMN(start_spread_ns), COLUMN(line_items),
                  COLUMN(line_steps),       COLUMN(line_ns),         COLUMN(line_square),
                  COLUMN(line_product),     COLUMN(phase_ns),        COLUMN(phase_slowness),
                  COLUMN(phase_share),      COLUMN(early_items),     COLUMN(early_steps),
                  COLUMN(early_ns)});
#undef COLUMN
  return columns;
}

}  // namespace

TypedColumns<LaunchTimes> point_columns() {
  using L = LaunchTimes;
  return {{"kernel", &L::kernel, &KernelShape::family},
          {"head_dim", &L::kernel, &KernelShape::head_dim},
          {"tile_q", &L::kernel, &KernelShape::tiling, &Tiling::q_rows},
          {"tile_kv", &L::kernel, &KernelShape::tiling, &Tiling::kv_rows},
          {"dtype", &L::dtype},
          {"mask", &L::mask},
          {"launch", &L::launch},
          {"scan", &L::scan},
          {"workers", &L::workers},
          {"prefetch", &L::prefetch}};
}

LaunchTimes launch_times(const RecordedLaunch& launch, const sim::Gpu& gpu) {
  return Reduction(launch, gpu).run();
}

std::string launch_times_csv(const std::vector<LaunchTimes>& launches) {
  return typed_csv(launches, launch_columns());
}

std::vector<LaunchTimes> read_launch_times(const std::string& path) {
  return typed_rows(read_csv(path), launch_columns(),
                    "launches.csv of calibrate --items ROWS.csv ITEMS.csv, or both of these files");
}

// Records of items, as `measure` writes them.

namespace {

/// What a row of `measure` says beside its launch.
struct MeasuredRow {
  std::string run_id, pass;
  std::optional<int64_t> dram_read_sectors;
  double time_us = not_told;
};

std::map<std::string, LaunchTimes> points_of(const std::string& path) {
  using M = MeasuredRow;
  const CsvTable table = read_csv(path);
  const TypedColumns<M> columns{{"run_id", &M::run_id},
                                {"pass", &M::pass},
                                {"dram_read_sectors", &M::dram_read_sectors},
                                {"time_us", &M::time_us}};
  typed_rows(table, TypedColumns<M>{columns.front()});  // without the others it is a table, too
  std::map<std::string, LaunchTimes> points;
  size_t number = 0;
  for (LaunchTimes& launch : typed_rows(table, point_columns())) {
    const M row = typed_row(table, number++, columns);
    if (row.pass == "backward") launch.kernel.family += "-backward";
    if (row.dram_read_sectors && !std::isnan(row.time_us))
      launch.dram_tb_per_s = double(*row.dram_read_sectors * sector_bytes) / row.time_us / 1e6;
    LaunchTimes& known = points.try_emplace(row.run_id, launch).first->second;
    if (std::isnan(known.dram_tb_per_s)) known.dram_tb_per_s = launch.dram_tb_per_s;
  }
  return points;
}

struct ItemRow {
  std::string run_id, repetition;
  int64_t worker = 0;
  RecordedItem item;
};

}  // namespace

std::vector<RecordedLaunch> read_item_records(const std::string& points_path,
                                              const std::string& items_path) {
  const std::map<std::string, LaunchTimes> points = points_of(points_path);
  using I = ItemRow;
  const TypedColumns<I> columns{{"run_id", &I::run_id},
                                {"repetition", &I::repetition},
                                {"worker", &I::worker},
                                {"start_ns", &I::item, &RecordedItem::start_ns},
                                {"item", &I::item, &RecordedItem::item},
                                {"steps", &I::item, &RecordedItem::steps}};
  std::map<std::pair<std::string, std::string>, size_t> launch_numbers;
  std::vector<RecordedLaunch> launches;
  const std::vector<ItemRow> rows = typed_rows(read_csv(items_path), columns);
  std::map<std::pair<std::string, std::string>, int64_t> items_of;
  for (const ItemRow& row : rows) ++items_of[{row.run_id, row.repetition}];
  for (const ItemRow& row : rows) {
    // The cell says how much memory a launch takes.
    const int64_t items = items_of[{row.run_id, row.repetition}];
    if (row.worker < 0 || row.worker >= items)
      throw UsageError(items_path + ": worker " + std::to_string(row.worker) + " of a launch of " +
                       std::to_string(items) + " items; CTAs are numbered from 0 on");
    const auto point = points.find(row.run_id);
    if (point == points.end())
      throw UsageError(items_path + ": has launches of a point that " + points_path +
                       " has not: run_id " + row.run_id);
    const auto [number, fresh] =
        launch_numbers.try_emplace({row.run_id, row.repetition}, launches.size());
    if (fresh) launches.push_back({point->second, {}});
    auto& ctas = launches[number->second].ctas;
    const auto cta = static_cast<size_t>(row.worker);
    if (ctas.size() <= cta) ctas.resize(cta + 1);
    ctas[cta].push_back(row.item);
  }
  for (RecordedLaunch& launch : launches)
    for (auto& items : launch.ctas) std::ranges::sort(items, {}, &RecordedItem::start_ns);
  return launches;
}

}  // namespace sawtooth::experiments
