#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/launch_times.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

using Launches = std::vector<const LaunchTimes*>;
using Sections = std::vector<ProfileSection>;

constexpr double least_bias = 0.002;  // of an older CTA; below it two CTAs alternate
constexpr double full_clock_tb_per_s = 0.2, least_tb_per_s = 0.8;  // of what dram-slowness is from

// The kernels from whose paces products, exponentials and the rest are told apart.
const KernelShape narrow{64, {128, 128}}, thin{64, {128, 64}}, wide{128, {128, 64}},
    large{128, {128, 128}};

std::string name_of(const KernelShape& kernel) {
  return kernel_section(kernel.head_dim, kernel.tiling);
}
bool same(const KernelShape& a, const KernelShape& b) {
  return name_of(a) == name_of(b);
}

std::vector<Parameter>& section(Sections& sections, const std::string& name) {
  const auto known = std::ranges::find(sections, name, &ProfileSection::name);
  if (known != sections.end()) return known->parameters;
  return sections.emplace_back(ProfileSection{name, {}, 0}).parameters;
}

void add(std::vector<Parameter>& own, std::string key, double value, int decimals,
         const std::string& note) {
  own.push_back(
      {std::move(key), fixed(value, decimals), "measured", "records of items: " + note, 0});
}
void assume(std::vector<Parameter>& own, std::string key, std::string value, std::string note) {
  own.push_back({std::move(key), std::move(value), "assumed", std::move(note), 0});
}

template <class Value>
double median_over(const Launches& launches, Value value) {
  std::vector<double> values;
  for (const LaunchTimes* launch : launches) values.push_back(value(*launch));
  return median_of(std::move(values));
}

/// Phases of two CTAs that alternate on an SM: in the wrong one both are slower
/// (docs/models/backward.md). Adds wrong-phase-... from launches whose items are alike, in which
/// CTAs meet once, and from `masked` ones, in which each item meets another; false where no launch
/// has slow items. `item_ns` pass between two items.
bool add_phases(std::vector<Parameter>& own, const Launches& pairs, const Launches& masked,
                double item_ns) {
  std::vector<double> right, slowness, wrong_steps;
  for (const LaunchTimes* l : pairs) {
    if (std::isnan(l->phase_ns)) continue;
    right.push_back(l->without_items(l->phase_ns, item_ns));
    slowness.push_back(l->phase_slowness * l->phase_ns / right.back());
    wrong_steps.push_back(l->phase_share * l->line_items * l->line_steps / double(l->workers));
  }
  if (right.empty()) return false;
  const double slower = median_of(slowness), wrong = median_of(wrong_steps);
  add(own, "jitter-in-step", 0, 0, "in their phases");
  add(own, "wrong-phase-slowness", slower, 4,
      "what the slow items take longer than the fastest tenth");
  std::vector<double> lasts;
  for (const LaunchTimes* l : masked) {
    if (l->early_items == 0) continue;
    const double pace = (l->early_ns - item_ns * l->early_items) / l->early_steps;
    const double steps = l->early_steps / l->early_items;
    const double slow = (pace / median_of(right) - 1) / slower;  // of the steps of these items
    if (slow > 0 && slow * steps < wrong)
      lasts.push_back(-steps / std::log1p(-slow * steps / wrong));
  }
  if (lasts.empty()) return true;
  const double steps = median_of(lasts);
  add(own, "wrong-phase-steps", steps, 0,
      "until CTAs leave the wrong phase: items under a mask lose as much as items of that length "
      "can of " +
          fixed(wrong, 0) + " slow steps a CTA without a mask");
  add(own, "wrong-phase-met-share", wrong / steps, 2, "items that begin in it, from the same");
  return true;
}

struct ItemTime {
  double item_ns = 0, step_ns = 0;
};

/// The line through the items of all launches; items of one length are all steps.
ItemTime line_through(const Launches& launches) {
  double items = 0, steps = 0, ns = 0, square = 0, product = 0;
  for (const LaunchTimes* l : launches) {
    items += l->line_items;
    steps += l->line_items * l->line_steps;
    ns += l->line_items * l->line_ns;
  }
  if (items == 0) return {};
  steps /= items;
  ns /= items;
  for (const LaunchTimes* l : launches) {
    square += l->line_square + l->line_items * (l->line_steps - steps) * (l->line_steps - steps);
    product += l->line_product + l->line_items * (l->line_steps - steps) * (l->line_ns - ns);
  }
  const double slope = square > 0 ? product / square : ns / steps;
  return {ns - slope * steps, slope};
}

/// Launches of one kernel, whose items take `item_ns` beyond their steps.
class OfKernel {
 public:
  OfKernel(const std::vector<LaunchTimes>& launches, const sim::Gpu& gpu, KernelShape kernel,
           double item_ns = 0)
      : launches_(launches), gpu_(gpu), kernel_(std::move(kernel)), item_ns_(item_ns) {}

  template <class Chosen>
  Launches select(Chosen chosen) const {
    Launches selected;
    for (const LaunchTimes& l : launches_)
      if (same(l.kernel, kernel_) && chosen(l)) selected.push_back(&l);
    return selected;
  }
  Launches steady(int64_t an_sm, bool prefetches) const {
    return select([&](auto& l) {
      return l.has_ctas(an_sm, gpu_.sms) && l.is_steady() && (l.prefetch > 0) == prefetches;
    });
  }
  /// Lone ones, of those whose K/V stays in a half of L2 where there are some: misses, which differ
  /// between items, would be taken for steps.
  template <class Chosen>
  Launches undisturbed(Chosen chosen) const {
    const auto lone = [&](auto& l) { return is_lone(l) && chosen(l); };
    Launches within = select([&](auto& l) {
      const int64_t kv_bytes = 2 * l.most_steps * l.kernel.tiling.kv_rows * l.kernel.head_dim;
      return lone(l) && kv_bytes * l.element_bytes() <= gpu_.l2_bytes / gpu_.l2_halves.value_or(1);
    });
    return within.empty() ? select(lone) : within;
  }

  bool is_lone(const LaunchTimes& l) const { return l.has_ctas(1, gpu_.sms); }
  double item_ns() const { return item_ns_; }
  double older_ns(const LaunchTimes& l) const { return l.without_items(l.older_ns, item_ns_); }
  /// The pace is the mean of both CTAs of an SM.
  double pace(const LaunchTimes& l) const {
    return l.without_items((l.older_ns + l.younger_ns) / 2, item_ns_);
  }
  double mean(const LaunchTimes& l) const { return l.without_items(l.mean_ns, item_ns_); }
  double of_step(double share, const LaunchTimes& l) const { return l.of_step(share, item_ns_); }
  std::optional<double> pace(int64_t an_sm) const {
    const Launches found = steady(an_sm, false);
    if (found.empty()) return std::nullopt;
    return median_over(found, [&](auto& l) { return pace(l); });
  }
  double bias(const LaunchTimes& l) const {
    const double both = l.older_mean_ns + l.younger_mean_ns;
    return (l.younger_mean_ns - l.older_mean_ns) / (2 * l.without_items(both / 2, item_ns_));
  }

 private:
  const std::vector<LaunchTimes>& launches_;
  const sim::Gpu& gpu_;
  KernelShape kernel_;
  double item_ns_;
};

bool is_backward(const KernelShape& kernel) {
  return kernel.family.ends_with("-backward");
}
/// Kernels of kernels/hopper find and load their items ahead, and K and V are loads of their own.
bool finds_ahead(const KernelShape& kernel) {
  return kernel.family.starts_with("hopper");
}
bool loads_ahead(const KernelShape& kernel) {
  return finds_ahead(kernel) && !is_backward(kernel);
}

/// What an item waits for before its first step in the timed model: a latency, and what a lone
/// CTA's loads reach of Q and the first tile of K, of V too where K and V of a tile are one load
/// (a V that has a lead is not waited for); backward of K, V and the first tiles of Q and dO.
double first_loads_ns(const sim::Gpu& gpu, const LaunchTimes& launch) {
  const KernelShape& kernel = launch.kernel;
  const bool ahead = loads_ahead(kernel);
  const int64_t rows = is_backward(kernel)
                           ? 2 * (kernel.tiling.q_rows + kernel.tiling.kv_rows)
                           : kernel.tiling.q_rows + (ahead ? 1 : 2) * kernel.tiling.kv_rows;
  const double port_bytes_a_ns =
      ahead ? gpu.tile_gb_per_s.value_or(0) : gpu.l2_gb_per_s.value_or(0) / double(gpu.sms);
  const double bytes = double(rows * kernel.head_dim * launch.element_bytes());
  return gpu.latency_dram_ns.value_or(0) + (port_bytes_a_ns > 0 ? bytes / port_bytes_a_ns : 0);
}

/// Without leads steps under a mask take up to 0.6 % longer than others, which a line through both
/// would take for what an item takes: it comes from those under a mask alone, and the step from the
/// others.
ItemTime item_time(const OfKernel& all, const KernelShape& shape) {
  if (is_backward(shape))
    return line_through(all.select([&](auto& l) { return all.is_lone(l) && l.mask != "none"; }));
  const auto lone = [&](bool alike, bool unlike) {
    return all.undisturbed([=](const LaunchTimes& l) {
      return l.prefetch == 0 && (l.mask == "none" ? alike : unlike);
    });
  };
  if (loads_ahead(shape)) return line_through(lone(true, true));
  const Launches masked = lone(false, true), alike = lone(true, false);
  ItemTime time = masked.empty() ? ItemTime{} : line_through(masked);
  if (!alike.empty())
    time.step_ns =
        median_over(alike, [&](auto& l) { return l.without_items(l.older_ns, time.item_ns); });
  return time;
}

/// The exponentials' part of a step; products are 2 of forward and 5 of backward steps.
double exponentials_share(const sim::KernelCost& known, const KernelShape& kernel, double sms) {
  if (!known.exp_tera_per_s || !known.tensor_tflops)
    throw std::invalid_argument(
        "two CTAs that share an SM need the rates tensor-tflops and exp-tera-per-s of the GPU's "
        "first kernel-costs");
  const double pairs = double(kernel.tiling.q_rows * kernel.tiling.kv_rows) * sms / 1000;
  const double exponentials = pairs / *known.exp_tera_per_s;
  const double flop_a_pair = double(is_backward(kernel) ? 10 : 4) * double(kernel.head_dim);
  const double products = pairs * flop_a_pair / *known.tensor_tflops;
  return exponentials / (exponentials + products + (is_backward(kernel) ? known.fixed_ns : 0));
}

/// A step of a lone CTA; of two that share an SM what half of both take, and what is left of the
/// lone one's is exposed.
void add_step(std::vector<Parameter>& own, double alone_ns, std::optional<double> shared_ns,
              bool has_fixed) {
  if (!shared_ns) {
    add(own, "step-ns", alone_ns, 1, "a step of a CTA alone on its SM");
    add(own, "exposed-ns", 0, 0, "in step-ns, for an SM holds one CTA");
    return;
  }
  add(own, "step-ns", *shared_ns / 2, 1, "half of a step of two CTAs that share an SM");
  add(own, "exposed-ns", std::max(0.0, alone_ns - *shared_ns / 2), 1,
      "a CTA alone takes " + fixed(alone_ns, 1) + " ns");
  if (has_fixed) assume(own, "fixed-ns", "0", "in step-ns");
}

/// The mean of linear scans and of others, where there are some.
void add_prefetch(std::vector<Parameter>& own, const OfKernel& kernel, double step_ns) {
  double sum_ns = 0;
  int kinds = 0;
  for (const bool linear : {true, false}) {
    const Launches ahead = kernel.undisturbed([&](const LaunchTimes& l) {
      return l.prefetch > 0 && l.mask == "none" && (l.scan == "linear") == linear;
    });
    if (ahead.empty()) continue;
    sum_ns += median_over(ahead, [&](auto& l) { return kernel.older_ns(l); });
    ++kinds;
  }
  if (kinds == 0) return;
  add(own, "prefetch-step-ns", sum_ns / kinds - step_ns, 1,
      "what a step costs more with prefetch, mean of linear and sawtooth scans");
  add(own, "prefetch-lines-ns", 0, 0, "in prefetch-step-ns");
}

/// How two CTAs share an SM: the older one is preferred, or they alternate, in phases of which one
/// is slower.
void add_sharing(std::vector<Parameter>& own, const OfKernel& kernel, const KernelShape& shape,
                 const sim::Gpu& gpu, const sim::KernelCost& known) {
  const Launches pairs = kernel.steady(2, false);
  if (pairs.empty()) return;
  const bool backward = is_backward(shape);
  double ahead = median_over(pairs, [&](auto& l) { return kernel.bias(l); });
  const bool alternate = ahead < least_bias;
  // Where some CTAs are not where the layout has them the faster ones are the older ones.
  if (backward && !alternate)
    ahead = median_over(pairs, [&](auto& l) { return kernel.of_step(l.sorted_ahead, l); });
  const std::string note =
      "the older one of two CTAs is " + fixed(100 * ahead, 2) + " % faster than their mean";
  own.push_back(
      {"keep-step", alternate ? "on" : "off", "measured", "records of items: " + note, 0});
  if (alternate && add_phases(own, pairs, kernel.select([&](auto& l) {
        return l.mask != "none" && l.has_ctas(2, gpu.sms);
      }),
                              kernel.item_ns()))
    return;
  if (!alternate)
    add(own, "age-bias", ahead / exponentials_share(known, shape, double(gpu.sms)), 4,
        note + ", as a share of the exponentials' part");
  const double spread = median_over(
      pairs, [&](auto& l) { return kernel.of_step(backward ? l.jitter_of_all : l.jitter, l); });
  add(own, alternate ? "jitter-in-step" : "jitter-shared", spread, 4,
      "standard deviation of a step of one of the two");
  if (backward) return;
  const Launches ahead_of_use = kernel.steady(2, true);
  if (ahead_of_use.empty()) return;
  const double with = median_over(ahead_of_use, [&](auto& l) { return kernel.pace(l); });
  add(own, "prefetch-step-shared-ns", with - *kernel.pace(2), 1,
      "what a step of one of two CTAs costs more with prefetch");
  add(own, "prefetch-lines-shared-ns", 0, 0, "in prefetch-step-shared-ns");
  assume(own, "prefetch-lines-bias", "0", "not told apart");
}

/// What a step takes longer while DRAM reads, as a share a TB/s, for the clock falls with it.
void add_dram_slowness(std::vector<Parameter>& own, const Launches& equal) {
  const auto least = std::ranges::min_element(equal, {}, [](auto* l) {
    return std::isnan(l->dram_tb_per_s) ? full_clock_tb_per_s : l->dram_tb_per_s;
  });
  if (!((*least)->dram_tb_per_s < full_clock_tb_per_s)) return;
  std::vector<double> slower;
  for (const LaunchTimes* l : equal)
    if (l->dram_tb_per_s >= least_tb_per_s)
      slower.push_back((l->mean_ns / (*least)->mean_ns - 1) / l->dram_tb_per_s);
  if (!slower.empty())
    add(own, "dram-slowness", median_of(slower), 3,
        "of launches that read 0.8 TB/s and more, a TB/s");
}

/// What holds for all kernels of a family whose items are found ahead.
void add_leads(Sections& sections, bool loads) {
  auto& every = section(sections, std::string(every_kernel));
  assume(every, "item-begin-ns", "0", "the next item is found and loaded while one is computed");
  if (!loads) return;
  assume(every, "lead-k-steps", "1",
         "K has two stages (kernels/attention/variants.inc), and one is computed with");
  assume(every, "lead-v-steps", "1", "and V");
}

void add_kernel(Sections& sections, const std::vector<LaunchTimes>& launches,
                const KernelShape& shape, const sim::Gpu& gpu, const sim::KernelCost& known) {
  const bool backward = is_backward(shape);
  const ItemTime time = item_time({launches, gpu, shape}, shape);
  const OfKernel kernel(launches, gpu, shape, time.item_ns);
  const Launches alone = kernel.steady(1, false);
  if (alone.empty()) return;
  auto& own = section(sections, name_of(shape));
  std::optional<double> shared_ns = kernel.pace(2);
  double alone_ns = time.step_ns;
  if (backward) {
    alone_ns = median_over(alone, [&](auto& l) { return kernel.mean(l); });
    if (shared_ns)
      shared_ns = median_over(kernel.steady(2, false), [&](auto& l) {
        return l.without_items(std::isnan(l.phase_ns) ? l.mean_ns : l.phase_ns, time.item_ns);
      });
  }
  add_step(own, alone_ns, shared_ns, !backward);
  const double loads_ns = first_loads_ns(gpu, *alone.front());
  const double begin_ns = finds_ahead(shape) ? 0 : known.item_begin_ns;
  add(own, "item-end-ns", std::max(0.0, time.item_ns - loads_ns - begin_ns), 0,
      "items take " + fixed(time.item_ns, 0) + " ns beyond their steps, of which first loads are " +
          fixed(loads_ns, 0) +
          (begin_ns > 0 ? " and item-begin-ns " + fixed(begin_ns, 0) : std::string()));
  add(own, "jitter",
      median_over(
          alone, [&](auto& l) { return kernel.of_step(backward ? l.jitter_of_all : l.jitter, l); }),
      4, "standard deviation of a step of a CTA alone");
  const Launches equal = kernel.select(
      [&](auto& l) { return l.has_ctas(1, gpu.sms) && l.prefetch == 0 && l.mask == "none"; });
  double sum = 0;
  for (const LaunchTimes* l : equal) sum += kernel.of_step(l->gpc_spread, *l);
  add(own, "sm-spread", sum / double(equal.size()), 4,
      "standard deviation of GPCs' slowness under this kernel, mean over its launches");
  add(own, "tpc-spread",
      median_over(alone, [&](auto& l) { return kernel.of_step(l.tpc_spread, l); }), 6,
      "by it the first SM of a TPC is slower than the mean of both");
  if (!backward) {
    if (loads_ahead(shape)) add_dram_slowness(own, equal);
    add_prefetch(own, kernel, time.step_ns);
  }
  add_sharing(own, kernel, shape, gpu, known);
  own.push_back({"resident-ctas", shared_ns ? "2" : "1", "measured",
                 "of registers and shared memory (kernels/attention/variants.inc)", 0});
}

/// kernels/mma forward: the parts of a step (sim/timed/step_cost.hpp) from paces alone and with two
/// CTAs. Between 128x128 at head dim 64 and 128x64 at 128 half of the exponentials alone differ,
/// between the two kernels of head dim 64 half of all; two CTAs take twice the pipes' time, and
/// what a lone one takes beyond it is exposed.
class Pipes {
 public:
  Pipes(const std::vector<LaunchTimes>& launches, const sim::Gpu& gpu, double item_ns)
      : launches_(launches), gpu_(gpu), item_ns_(item_ns) {}

  Sections run() {
    add_steps();
    for (const KernelShape& shape : {narrow, thin, wide, large}) add_spreads(shape);
    std::vector<double> jitters;
    for (const LaunchTimes& l : launches_)
      if (l.has_ctas(1, gpu_.sms) && l.prefetch == 0 && l.is_steady())
        jitters.push_back(l.of_step(l.jitter, item_ns_));
    if (!jitters.empty())
      add(every(), "jitter", median_of(jitters), 4, "standard deviation of a step of a lone CTA");
    return std::move(sections_);
  }

 private:
  OfKernel of(const KernelShape& shape) const { return {launches_, gpu_, shape, item_ns_}; }
  std::vector<Parameter>& every() { return section(sections_, std::string(every_kernel)); }
  std::vector<Parameter>& own(const KernelShape& shape, const KernelShape& usual) {
    return same(shape, usual) ? every() : section(sections_, name_of(shape));
  }

  void add_steps() {
    const auto of_narrow = of(narrow).pace(1), of_thin = of(thin).pace(1),
               of_wide = of(wide).pace(1), of_large = of(large).pace(1);
    if (!of_narrow || !of_wide) return;
    exp_ns_ = 2 * (*of_narrow - *of_wide);
    if (!of_thin || !of_large) return;
    constexpr double pairs = 128 * 128, flop_a_pair = 4 * 64;  // of `narrow`
    const double tensor = 2 * (*of_narrow - *of_thin) - exp_ns_;
    add(every(), "tensor-tflops", pairs * flop_a_pair * double(gpu_.sms) / tensor / 1000, 1,
        "products");
    add(every(), "exp-tera-per-s", pairs * double(gpu_.sms) / exp_ns_ / 1000, 2, "exponentials");
    struct Work {
      KernelShape kernel;
      double products, exponentials;
    };
    double fixed_ns = 0;  // of `wide`, and of `large`, of which an SM holds one CTA
    for (const Work& work :
         {Work{wide, 1, 0.5}, Work{narrow, 1, 1}, Work{thin, 0.5, 0.5}, Work{large, 2, 1}}) {
      const auto shared = of(work.kernel).pace(2);
      if (!shared && !same(work.kernel, large)) continue;
      const double busy = work.products * tensor + work.exponentials * exp_ns_;
      const double here = shared ? std::max(0.0, *shared / 2 - busy) : fixed_ns;
      if (same(work.kernel, wide)) fixed_ns = here;
      const double alone = *of(work.kernel).pace(1);
      const std::string note = "a step of " + name_of(work.kernel) + " takes " + fixed(alone, 0) +
                               " ns alone" +
                               (shared ? " and " + fixed(*shared, 0) + " with two CTAs" : "");
      if (shared) add(own(work.kernel, wide), "fixed-ns", here, 0, note);
      add(own(work.kernel, wide), "exposed-ns", alone - busy - here, 0, note);
    }
  }

  void add_spreads(const KernelShape& shape) {
    const OfKernel kernel = of(shape);
    const Launches alone = kernel.steady(1, false), ahead = kernel.steady(1, true);
    const auto spread = [&](auto& l) { return kernel.of_step(l.tpc_spread, l); };
    if (!alone.empty()) {
      add(section(sections_, name_of(shape)), "tpc-spread", median_over(alone, spread), 6,
          "by it the first SM of a TPC is slower than the mean of both");
    }
    if (!ahead.empty()) {
      add(own(shape, wide), "tpc-spread-prefetch", median_over(ahead, spread), 6,
          "the same with prefetch");
      if (!alone.empty()) add_lone_prefetch(shape, kernel, ahead);
    }
    const Launches shared = kernel.steady(2, false), shared_ahead = kernel.steady(2, true);
    if (shared.empty()) return;
    add_bias(shape, kernel, shared);
    if (!shared_ahead.empty() && !std::isnan(shared_ahead.front()->lines_bias))
      add_shared_prefetch(shape, kernel, shared_ahead);
  }

  void add_lone_prefetch(const KernelShape& shape, const OfKernel& kernel, const Launches& ahead) {
    const auto time = [&](double LaunchTimes::*ns) {
      return median_over(ahead, [&](auto& l) { return l.without_items(l.*ns, item_ns_); });
    };
    const double lines = time(&LaunchTimes::lines_ns);
    const double without =
        std::isnan(ahead.front()->no_lines_ns) ? lines : time(&LaunchTimes::no_lines_ns);
    add(own(shape, wide), "prefetch-step-ns", without - *kernel.pace(1), 1,
        "what a step takes longer with prefetch");
    add(own(shape, wide), "prefetch-lines-ns", lines - without, 1,
        "on top, of CTAs that have lines to prefetch");
  }

  void add_shared_prefetch(const KernelShape& shape, const OfKernel& kernel,
                           const Launches& ahead) {
    auto& into = own(shape, narrow);
    add(into, "prefetch-step-shared-ns",
        median_over(ahead, [&](auto& l) { return l.without_items(l.neither_lines_ns, item_ns_); }) -
            *kernel.pace(2),
        1, "of two CTAs neither of which has lines");
    add(into, "prefetch-lines-shared-ns",
        median_over(ahead, [](auto& l) { return l.both_lines_ns - l.neither_lines_ns; }), 1,
        "on top, where both have lines");
    add(into, "prefetch-lines-bias", median_over(ahead, [](auto& l) { return l.lines_bias; }), 4,
        "a CTA with lines beside one without takes so much longer, and the other so much less");
  }

  /// The bias is a share of the exponentials' part of a step of two CTAs.
  void add_bias(const KernelShape& shape, const OfKernel& kernel, const Launches& shared) {
    if (exp_ns_ == 0 || same(shape, thin)) return;
    const double share = exp_ns_ * double(shape.tiling.kv_rows) / 128 / (*kernel.pace(2) / 2);
    const double bias = median_over(shared, [&](auto& l) { return kernel.bias(l); });
    auto& into = same(shape, narrow) ? every() : section(sections_, "d>64");
    add(into, "age-bias", bias / share, 4,
        "the older one of two CTAs is " + fixed(100 * bias, 2) + " % faster than their mean");
    add(into, "jitter-shared",
        median_over(shared, [&](auto& l) { return kernel.of_step(l.jitter, l); }), 4,
        "standard deviation of a step of one of the two");
  }

  const std::vector<LaunchTimes>& launches_;
  const sim::Gpu& gpu_;
  double item_ns_, exp_ns_ = 0;
  Sections sections_;
};

}  // namespace

std::vector<ProfileSection> item_costs(const std::vector<LaunchTimes>& launches,
                                       const sim::Gpu& gpu, const sim::KernelCost& known) {
  Sections sections;
  if (!launches.empty() && launches.front().kernel.family == usual_family) {
    sections = Pipes(launches, gpu, known.item_end_ns).run();
  } else {
    std::vector<KernelShape> shapes;
    for (const LaunchTimes& launch : launches)
      if (std::ranges::none_of(shapes,
                               [&](auto& known_one) { return same(known_one, launch.kernel); }))
        shapes.push_back(launch.kernel);
    for (const KernelShape& shape : shapes) add_kernel(sections, launches, shape, gpu, known);
    if (!sections.empty() && finds_ahead(shapes.front()))
      add_leads(sections, loads_ahead(shapes.front()));
  }
  if (sections.empty())
    throw std::invalid_argument("no launch without a mask and prefetch of " +
                                std::to_string(gpu.sms) +
                                " persistent CTAs, one an SM, with items of at least 500 steps");
  return sections;
}

}  // namespace sawtooth::experiments
