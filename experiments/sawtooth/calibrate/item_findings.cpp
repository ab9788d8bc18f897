#include "experiments/sawtooth/calibrate/item_findings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>

#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/timed/cta_order.hpp"
#include "sim/timed/placement.hpp"
#include "sim/timed/start_order.hpp"

namespace sawtooth::experiments {
namespace {

using Launches = std::vector<const RecordedLaunch*>;

constexpr double apart = 0.002;    // a TPC further from its GPC's median has a speed of its own
constexpr double normal = 1.4826;  // standard deviation of a normal distribution over its median
                                   // absolute deviation
constexpr int lockstep_items = 2;  // the first of a launch, in which CTAs are where they started

// The kernels from whose paces products, exponentials and the rest are told apart.
const KernelShape narrow{64, {128, 128}}, thin{64, {128, 64}}, wide{128, {128, 64}},
    large{128, {128, 128}};

bool same(const KernelShape& a, const KernelShape& b) {
  return kernel_section(a.head_dim, a.tiling) == kernel_section(b.head_dim, b.tiling);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

/// Median of what `value` gives for each launch.
template <class Value>
double median_over(const Launches& launches, Value value) {
  std::vector<double> values;
  for (const RecordedLaunch* launch : launches) values.push_back(value(*launch));
  return median_of(std::move(values));
}

/// The SMs of a GPU as records number them, and the launches on them.
class Reader {
 public:
  Reader(const std::vector<RecordedLaunch>& launches, const sim::Gpu& gpu, double item_ns)
      : launches_(launches), sms_(gpu.sms), item_ns_(item_ns) {
    const std::vector<sim::PlacedSm> placed = sim::placed_sms(gpu.sms, 2, gpu.layout);
    turns_ = sim::turns_of(placed, gpu.layout.tpc_turns);
    for (int64_t sm = 0; sm < sms_; ++sm) {
      const auto gpc = static_cast<size_t>(placed[static_cast<size_t>(sm)].gpc);
      if (gpcs_.size() <= gpc) gpcs_.resize(gpc + 1);
      gpcs_[gpc].push_back(sm);
    }
    sharers_.resize(static_cast<size_t>(sms_));
    const auto order = sim::sms_of_ctas(placed, gpu.layout, 2 * sms_);
    std::set<int64_t> taken;
    for (size_t cta = 0; cta < order.size(); ++cta) {
      auto& [older, younger] = sharers_[static_cast<size_t>(order[cta])];
      (taken.insert(order[cta]).second ? older : younger) = static_cast<int64_t>(cta);
    }
  }

  ItemFindings findings() const {
    ItemFindings found;
    found.die.name = "die";
    const Launches lone =
        select([&](const RecordedLaunch& l) { return is_lone(l) && l.is_steady(); });
    if (lone.empty())
      throw std::invalid_argument("no launch of " + std::to_string(sms_) +
                                  " persistent CTAs, one an SM, without a mask and with items of "
                                  "at least " +
                                  std::to_string(long_steps) + " steps");
    add(found.gpu, "start-spread-ns", median_over(lone, [&](auto& l) { return start_spread(l); }),
        0, "from the first TPC of a GPC to its last");
    add_halves(found);
    add_speeds(found, lone);
    add_step_costs(found);
    add(section(found, std::string(every_kernel)), "jitter",
        median_over(lone, [&](auto& l) { return jitter(l); }), 4,
        "standard deviation of a step of a lone CTA, from items of the same SMs");
    add_tpc_spreads(found);
    add_biases(found);
    add_prefetch_costs(found);
    add_items(found);
    return found;
  }

 private:
  template <class Chosen>
  Launches select(Chosen chosen) const {
    Launches selected;
    for (const RecordedLaunch& launch : launches_)
      if (chosen(launch)) selected.push_back(&launch);
    return selected;
  }

  /// Steady ones of a kernel with so many CTAs an SM.
  Launches steady(const KernelShape& kernel, int64_t an_sm, bool prefetches) const {
    return select([&](const RecordedLaunch& l) {
      return l.has_ctas(an_sm, sms_) && l.is_steady() && (l.prefetch > 0) == prefetches &&
             same(l.kernel, kernel);
    });
  }

  bool is_lone(const RecordedLaunch& l) const { return l.has_ctas(1, sms_) && l.prefetch == 0; }

  static void add(std::vector<Parameter>& parameters, std::string key, double value, int decimals,
                  std::string note) {
    parameters.push_back(
        {std::move(key), fixed(value, decimals), "measured", "records of items: " + note, 0});
  }
  static std::vector<Parameter>& section(ItemFindings& found, const std::string& name) {
    const auto known = std::ranges::find(found.kernels, name, &ProfileSection::name);
    if (known != found.kernels.end()) return known->parameters;
    return found.kernels.emplace_back(ProfileSection{name, {}, 0}).parameters;
  }
  static std::vector<Parameter>& section(ItemFindings& found, const KernelShape& kernel) {
    return section(found, kernel_section(kernel.head_dim, kernel.tiling));
  }

  std::vector<double> paces(const RecordedLaunch& launch, bool younger = false) const {
    std::vector<double> paces;
    for (int64_t sm = 0; sm < sms_; ++sm) {
      const auto& [first, second] = sharers_[static_cast<size_t>(sm)];
      const int64_t cta = launch.workers == sms_ ? sm : younger ? second : first;
      paces.push_back(launch.pace(cta, item_ns_));
    }
    return paces;
  }

  /// Of each SM, as a share of a step of its CTA: the median over the TPCs of its GPC, and of a TPC
  /// that is apart from that its own; the two SMs of a TPC count alike.
  std::vector<double> slowness(const RecordedLaunch& launch, bool younger) const {
    const std::vector<double> paces_of_sms = paces(launch, younger);
    const double usual = median_of(paces_of_sms);
    std::vector<double> shares(paces_of_sms.size());
    for (const std::vector<int64_t>& gpc : gpcs_) {
      std::vector<double> tpcs;
      for (size_t i = 0; i + 1 < gpc.size(); i += 2)
        tpcs.push_back(
            (paces_of_sms[size_t(gpc[i])] + paces_of_sms[size_t(gpc[i + 1])]) / 2 / usual - 1);
      const double of_gpc = median_of(tpcs);
      for (size_t i = 0; i < gpc.size(); ++i) {
        const double own = tpcs[i / 2];
        shares[size_t(gpc[i])] = std::abs(own - of_gpc) > apart ? own : of_gpc;
      }
    }
    const double middle = median_of(shares);
    for (double& share : shares) share -= middle;
    return shares;
  }

  void add_slowness(std::vector<Parameter>& parameters, const std::string& key,
                    const Launches& launches, bool younger) const {
    std::vector<std::vector<double>> of_launches;
    for (const RecordedLaunch* launch : launches) of_launches.push_back(slowness(*launch, younger));
    std::string text;
    for (size_t sm = 0; sm < size_t(sms_); ++sm) {
      std::vector<double> values;
      for (const auto& shares : of_launches) values.push_back(shares[sm]);
      text += (sm == 0 ? "" : ",") + fixed(median_of(std::move(values)), 6);
    }
    parameters.push_back({key, text, "measured",
                          "median of " + std::to_string(launches.size()) +
                              " launches; in the order in which CTAs come to SMs",
                          0});
  }

  void add_speeds(ItemFindings& found, const Launches& lone) const {
    std::map<std::string, KernelShape> kernels;
    for (const RecordedLaunch& l : launches_)
      kernels.emplace(kernel_section(l.kernel.head_dim, l.kernel.tiling), l.kernel);
    auto& all = found.speeds.emplace_back(ProfileSection{std::string(every_kernel), {}, 0});
    add_slowness(all.parameters, "slowness", lone, false);
    for (const auto& [name, kernel] : kernels) {
      ProfileSection own{name, {}, 0};
      const Launches alone = steady(kernel, 1, false), shared = steady(kernel, 2, false);
      if (!alone.empty()) add_slowness(own.parameters, "slowness", alone, false);
      if (!shared.empty()) {
        add_slowness(own.parameters, "slowness-older", shared, false);
        add_slowness(own.parameters, "slowness-younger", shared, true);
      }
      if (!own.parameters.empty()) found.speeds.push_back(std::move(own));
    }
  }

  double start_spread(const RecordedLaunch& launch) const {
    std::vector<double> spreads;
    for (const std::vector<int64_t>& gpc : gpcs_) {
      std::vector<int64_t> starts;
      for (size_t i = 0; i < gpc.size(); i += 2) starts.push_back(first(launch, gpc[i]).start_ns);
      const auto [low, high] = std::ranges::minmax(starts);
      spreads.push_back(double(high - low));
    }
    return median_of(std::move(spreads));
  }

  static const RecordedItem& first(const RecordedLaunch& launch, int64_t cta) {
    return launch.ctas.at(static_cast<size_t>(cta)).front();
  }

  /// Standard deviation of a step: items of a GPC's SMs two apart, taken at the same place of their
  /// CTAs.
  double jitter(const RecordedLaunch& launch) const {
    std::vector<double> values;
    for (const std::vector<int64_t>& gpc : gpcs_) {
      for (size_t i = 0; i + 2 < gpc.size(); i += 4) {
        const auto& here = launch.ctas[size_t(gpc[i])];
        const auto& there = launch.ctas[size_t(gpc[i + 2])];
        for (size_t k = 0; k + 1 < std::min(here.size(), there.size()); ++k) {
          const auto step_ns = [&](const std::vector<RecordedItem>& items) {
            return (double(items[k + 1].start_ns - items[k].start_ns) - item_ns_) /
                   double(items[k].steps);
          };
          const double steps = double(here[k].steps + there[k].steps) / 2;
          values.push_back(std::abs(step_ns(here) / step_ns(there) - 1) * std::sqrt(steps / 2));
        }
      }
    }
    return normal * median_of(std::move(values));
  }

  double tpc_spread(const RecordedLaunch& launch) const {
    const std::vector<double> of_sms = paces(launch);
    double differences = 0;
    for (size_t sm = 0; sm + 1 < of_sms.size(); sm += 2)
      differences += (of_sms[sm] - of_sms[sm + 1]) / 2;
    return differences / double(of_sms.size() / 2) / mean_of(of_sms);
  }

  void add_tpc_spreads(ItemFindings& found) const {
    std::vector<double> all;
    for (const KernelShape& kernel : {narrow, thin, wide, large}) {
      const auto spread = [&](auto& l) { return tpc_spread(l); };
      if (const Launches alone = steady(kernel, 1, false); !alone.empty()) {
        all.push_back(median_over(alone, spread));
        add(section(found, kernel), "tpc-spread", all.back(), 6,
            "by it the first SM of a TPC is slower than the mean of both");
      }
      if (const Launches ahead = steady(kernel, 1, true); !ahead.empty())
        add(same(kernel, wide) ? section(found, std::string(every_kernel)) : section(found, kernel),
            "tpc-spread-prefetch", median_over(ahead, spread), 6, "the same with prefetch");
    }
    if (!all.empty())
      add(section(found, std::string(every_kernel)), "tpc-spread", mean_of(all), 6,
          "mean of the recorded kernels");
  }

  /// ns a step of a kernel without prefetch, of the older and the younger CTA alike.
  std::optional<double> pace_of(const KernelShape& kernel, int64_t an_sm) const {
    const Launches launches = steady(kernel, an_sm, false);
    if (launches.empty()) return std::nullopt;
    return median_over(launches, [&](auto& l) {
      return (median_of(paces(l)) + median_of(paces(l, an_sm > 1))) / 2;
    });
  }

  /// (younger - older) / (younger + older), times of a step of the two CTAs of an SM.
  double bias(const RecordedLaunch& launch) const {
    const double older = mean_of(paces(launch)), younger = mean_of(paces(launch, true));
    return (younger - older) / (younger + older);
  }

  // Exponentials of a 128 x 128 tile, in ns: between 128x128 at head dim 64 and 128x64 at 128 half
  // of them alone differ.
  std::optional<double> exp_ns() const {
    const auto of_narrow = pace_of(narrow, 1), of_wide = pace_of(wide, 1);
    if (!of_narrow || !of_wide) return std::nullopt;
    return 2 * (*of_narrow - *of_wide);
  }

  // The parts of a step (sim/timed/step_cost.hpp) from paces alone and with two CTAs. Between the
  // two kernels of head dim 64 half of all products and exponentials differ; two CTAs take twice
  // the pipes' time, and what a lone one takes beyond it is exposed.
  void add_step_costs(ItemFindings& found) const {
    constexpr double pairs = 128 * 128, flop_a_pair = 4 * 64;  // of the kernel `narrow`
    const auto exp = exp_ns();
    const auto of_thin = pace_of(thin, 1), of_large = pace_of(large, 1);
    if (!exp || !of_thin || !of_large) return;
    const double tensor = 2 * (*pace_of(narrow, 1) - *of_thin) - *exp;
    struct Work {
      KernelShape kernel;
      double products, exponentials;
    };
    const Work works[] = {{narrow, 1, 1}, {thin, 0.5, 0.5}, {wide, 1, 0.5}, {large, 2, 1}};
    double fixed_wide = 0;  // of `large` too, of which an SM holds one CTA
    auto& every = section(found, std::string(every_kernel));
    add(every, "tensor-tflops", pairs * flop_a_pair * double(sms_) / tensor / 1000, 1, "products");
    add(every, "exp-tera-per-s", pairs * double(sms_) / *exp / 1000, 2, "exponentials");
    for (const Work& work : works) {
      const auto shared = pace_of(work.kernel, 2);
      if (!shared && !same(work.kernel, large)) continue;
      const double busy = work.products * tensor + work.exponentials * *exp;
      const double fixed = shared ? std::max(0.0, *shared / 2 - busy) : fixed_wide;
      const double alone = *pace_of(work.kernel, 1);
      const bool usual = same(work.kernel, wide);
      if (usual) fixed_wide = fixed;
      auto& own = usual ? section(found, std::string(every_kernel)) : section(found, work.kernel);
      const std::string paces_text =
          "a step of " + kernel_section(work.kernel.head_dim, work.kernel.tiling) + " takes " +
          sawtooth::experiments::fixed(alone, 0) + " ns alone" +
          (shared ? " and " + sawtooth::experiments::fixed(*shared, 0) + " with two CTAs" : "");
      add(own, "fixed-ns", fixed, 0, paces_text);
      add(own, "exposed-ns", alone - busy - fixed, 0, paces_text);
    }
  }

  // As a share of the exponentials' part of a step of two CTAs.
  void add_biases(ItemFindings& found) const {
    const auto exp = exp_ns();
    if (!exp) return;
    const auto add_bias = [&](const KernelShape& kernel, const std::string& name, bool prefetches) {
      const Launches shared = steady(kernel, 2, prefetches);
      const auto pace = pace_of(kernel, 2);
      if (shared.empty() || !pace) return;
      const double found_bias = median_over(shared, [&](auto& l) { return bias(l); });
      const double share = *exp * double(kernel.tiling.kv_rows) / 128 / (*pace / 2);
      add(section(found, name), prefetches ? "age-bias-prefetch" : "age-bias", found_bias / share,
          4,
          "the older one of two CTAs is " + fixed(100 * found_bias, 2) +
              " % faster than their mean");
    };
    add_bias(narrow, std::string(every_kernel), false);
    add_bias(wide, "d>64", false);
    add_bias(narrow, kernel_section(narrow.head_dim, narrow.tiling), true);
  }

  void add_prefetch_costs(ItemFindings& found) const {
    for (const KernelShape& kernel : {wide, large}) {
      const Launches ahead = steady(kernel, 1, true);
      const auto usual = pace_of(kernel, 1);
      if (ahead.empty() || !usual) continue;
      const auto with = [&](bool lines) {
        return [this, lines](const RecordedLaunch& l) {
          std::vector<double> chosen;
          for (int64_t cta = 0; cta < sms_; ++cta)
            if (l.has_lines(cta) == lines) chosen.push_back(l.pace(cta, item_ns_));
          return chosen.empty() ? 0 : median_of(std::move(chosen));
        };
      };
      const double lines = median_over(ahead, with(true)),
                   without = median_over(ahead, with(false));
      const double step = (without > 0 ? without : lines) - *usual;
      auto& own =
          same(kernel, wide) ? section(found, std::string(every_kernel)) : section(found, kernel);
      add(own, "prefetch-step-ns", step, 1, "what a step takes longer with prefetch");
      add(own, "prefetch-lines-ns", without > 0 ? lines - without : 0, 1,
          "on top, of CTAs that have lines to prefetch");
    }
    for (const KernelShape& kernel : {narrow, thin}) add_shared_prefetch_costs(found, kernel);
  }

  // Of two CTAs on an SM: where neither has lines; on top, where both have; and by which share a
  // step of a CTA with lines beside one without is the longer one, where the older and the younger
  // one are such CTAs equally often.
  void add_shared_prefetch_costs(ItemFindings& found, const KernelShape& kernel) const {
    const Launches ahead = steady(kernel, 2, true);
    const auto usual = pace_of(kernel, 2);
    std::vector<double> step, lines, bias;
    for (const RecordedLaunch* l : ahead) {
      std::map<std::pair<bool, bool>, std::pair<std::vector<double>, std::vector<double>>> times;
      for (const auto& [older, younger] : sharers_) {
        auto& [of_older, of_younger] = times[{l->has_lines(older), l->has_lines(younger)}];
        of_older.push_back(l->pace(older, item_ns_));
        of_younger.push_back(l->pace(younger, item_ns_));
      }
      if (times.size() < 4 || !usual) return;
      const auto mean = [&](bool has) {
        const auto& [older, younger] = times[{has, has}];
        return (median_of(older) + median_of(younger)) / 2;
      };
      const auto ratio = [&](bool older_has) {
        const auto& [older, younger] = times[{older_has, !older_has}];
        return median_of(older) / median_of(younger);
      };
      step.push_back(mean(false) - *usual);
      lines.push_back(mean(true) - mean(false));
      bias.push_back(std::log(ratio(true) / ratio(false)) / 4);
    }
    if (step.empty()) return;
    auto& own =
        same(kernel, narrow) ? section(found, std::string(every_kernel)) : section(found, kernel);
    add(own, "prefetch-step-shared-ns", median_of(step), 1,
        "of two CTAs neither of which has lines");
    add(own, "prefetch-lines-shared-ns", median_of(lines), 1, "on top, where both have lines");
    add(own, "prefetch-lines-bias", median_of(bias), 4,
        "a CTA with lines beside one without takes so much longer, and the other so much less");
  }

  /// At 0, and slope.
  static std::pair<double, double> line_through(
      const std::vector<std::pair<double, double>>& points) {
    double x_mean = 0, y_mean = 0, square = 0, product = 0;
    for (const auto& [x, y] : points) {
      x_mean += x / double(points.size());
      y_mean += y / double(points.size());
    }
    for (const auto& [x, y] : points) {
      square += (x - x_mean) * (x - x_mean);
      product += (x - x_mean) * (y - y_mean);
    }
    return {y_mean - product / square * x_mean, product / square};
  }

  /// One CTA an SM, with enough items, of lengths that differ.
  bool is_unequal(const RecordedLaunch& launch) const {
    std::set<int64_t> lengths;
    size_t items = 0;
    for (const auto& of_cta : launch.ctas) {
      items += of_cta.size();
      for (const RecordedItem& item : of_cta) lengths.insert(item.steps);
    }
    return is_lone(launch) && lengths.size() > 2 && items > size_t((lockstep_items + 2) * sms_);
  }

  struct ItemTime {
    int64_t sm = 0;
    size_t number = 0;
    double steps = 0;
    double ns = 0;
  };

  /// By how much more an item takes beyond its steps in the TPC of a GPC that starts last than in
  /// the first; the first items, in which CTAs stay together, are not used.
  std::pair<double, double> item_times(const RecordedLaunch& launch) const {
    std::vector<ItemTime> times;
    std::vector<std::pair<double, double>> of_steps;
    for (int64_t sm = 0; sm < sms_; ++sm) {
      const auto& items = launch.ctas[size_t(sm)];
      for (size_t k = 0; k + 1 < items.size(); ++k) {
        times.push_back(
            {sm, k, double(items[k].steps), double(items[k + 1].start_ns - items[k].start_ns)});
        of_steps.emplace_back(times.back().steps, times.back().ns);
      }
    }
    const auto [item_ns, step_ns] = line_through(of_steps);
    std::map<std::pair<size_t, size_t>, std::vector<std::pair<double, double>>> groups;
    for (size_t gpc = 0; gpc < gpcs_.size(); ++gpc)
      for (const ItemTime& time : times)
        if (time.number >= lockstep_items && std::ranges::count(gpcs_[gpc], time.sm) > 0)
          groups[{gpc, time.number}].emplace_back(turns_[size_t(time.sm)],
                                                  time.ns - step_ns * time.steps);
    std::vector<std::pair<double, double>> late;
    for (const auto& [key, own] : groups) {
      std::vector<double> values, deviations;
      for (const auto& [turn, ns] : own) values.push_back(ns);
      const double middle = median_of(values);
      for (const double ns : values) deviations.push_back(std::abs(ns - middle));
      const double usual = normal * median_of(deviations);
      for (const auto& [turn, ns] : own)  // no TPC that is apart
        if (std::abs(ns - middle) < 3 * usual) late.emplace_back(turn, ns - middle);
    }
    return {item_ns, line_through(late).second};
  }

  void add_items(ItemFindings& found) const {
    const Launches unequal = select([&](const RecordedLaunch& l) { return is_unequal(l); });
    if (unequal.empty()) return;
    const double item_ns = median_over(unequal, [&](auto& l) { return item_times(l).first; });
    add(section(found, std::string(every_kernel)), "item-spread-ns",
        median_over(unequal, [&](auto& l) { return item_times(l).second; }), 0,
        "what an item takes longer in the TPC of a GPC that starts last than in the first; an item "
        "takes " +
            fixed(item_ns, 0) + " ns beyond its steps");
  }

  /// SMs of the GPCs that draw the first tickets: those at the half of L2 that has the counter.
  std::set<int64_t> near_tickets(const Launches& dynamic) const {
    std::set<int64_t> near;
    for (const std::vector<int64_t>& gpc : gpcs_) {
      const double mean = median_over(dynamic, [&](const RecordedLaunch& launch) {
        double sum = 0;
        for (const int64_t cta : gpc) sum += double(first(launch, cta).item);
        return sum / double(gpc.size());
      });
      if (mean < double(sms_ - 1) / 2) near.insert(gpc.begin(), gpc.end());
    }
    if (static_cast<int64_t>(near.size()) != sms_ / 2)
      throw std::invalid_argument(
          "first tickets do not tell the halves of L2 apart: " + std::to_string(near.size()) +
          " SMs draw early ones, where a half has " + std::to_string(sms_ / 2) +
          "; record more launches with tickets");
    return near;
  }

  void add_halves(ItemFindings& found) const {
    const Launches dynamic = select(
        [&](const RecordedLaunch& l) { return l.has_ctas(1, sms_) && l.launch == "dynamic"; });
    if (dynamic.empty()) return;
    const std::set<int64_t> near = near_tickets(dynamic);
    const double hop = median_over(dynamic, [&](const RecordedLaunch& l) {
      double far_ns = 0, near_ns = 0;
      for (int64_t cta = 0; cta < sms_; ++cta)
        (near.contains(cta) ? near_ns : far_ns) += double(first(l, cta).start_ns);
      return (far_ns - near_ns) / (double(sms_) / 2);
    });
    add(found.gpu, "ticket-hop-ns", hop, 0,
        "how much later the first items of the far half's SMs begin");
    std::string halves;
    for (int64_t sm = 0; sm < sms_; ++sm)
      halves +=
          std::string(sm == 0 ? "" : ",") + (near.contains(sm) != near.contains(0) ? "1" : "0");
    found.die.parameters = {
        {"cta-half", halves, "measured",
         "GPCs that draw the first tickets in " + std::to_string(dynamic.size()) +
             " launches sit at one half of L2; 0 is that of the first CTA",
         0},
        {"ticket-half", near.contains(0) ? "0" : "1", "measured",
         "half whose SMs draw the first tickets", 0}};
  }

  const std::vector<RecordedLaunch>& launches_;
  int64_t sms_;
  double item_ns_;
  std::vector<double> turns_;
  std::vector<std::vector<int64_t>> gpcs_;            // SMs of each
  std::vector<std::pair<int64_t, int64_t>> sharers_;  // the older and the younger CTA of each SM
};

}  // namespace

ItemFindings findings_of(const std::vector<RecordedLaunch>& launches, const sim::Gpu& gpu,
                         double item_ns) {
  return Reader(launches, gpu, item_ns).findings();
}

}  // namespace sawtooth::experiments
