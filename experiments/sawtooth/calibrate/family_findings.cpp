#include <algorithm>
#include <optional>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/finding_parts.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

/// Kernels of kernels/hopper find and load their items ahead, and K and V are loads of their own.
bool loads_ahead(const KernelShape& kernel) {
  return kernel.family.starts_with("hopper");
}

/// What an item waits for before its first step in the timed model: a latency, and what a lone
/// CTA's loads reach of Q and the first tile of K; of V too where K and V of a tile are one load. A
/// V that has a lead is not waited for.
double first_loads_ns(const sim::Gpu& gpu, const KernelShape& kernel, int64_t element_bytes) {
  const bool ahead = loads_ahead(kernel);
  const double rows = double(kernel.tiling.q_rows + (ahead ? 1 : 2) * kernel.tiling.kv_rows);
  const double port_bytes_a_ns =
      ahead ? gpu.tile_gb_per_s.value_or(0) : gpu.l2_gb_per_s.value_or(0) / double(gpu.sms);
  return gpu.latency_dram_ns.value_or(0) +
         (port_bytes_a_ns > 0 ? rows * double(kernel.head_dim * element_bytes) / port_bytes_a_ns
                              : 0);
}

std::vector<KernelShape> shapes_of(const std::vector<RecordedLaunch>& launches) {
  std::vector<KernelShape> shapes;
  for (const RecordedLaunch& launch : launches)
    if (std::ranges::none_of(shapes, [&](auto& known) { return same(known, launch.kernel); }))
      shapes.push_back(launch.kernel);
  return shapes;
}

bool fits_a_half(const RecordedLaunch& launch, const sim::Gpu& gpu) {
  int64_t steps = 0;
  for (const auto& items : launch.ctas)
    for (const RecordedItem& item : items) steps = std::max(steps, item.steps);
  const int64_t kv_bytes =
      2 * steps * launch.kernel.tiling.kv_rows * launch.kernel.head_dim * launch.element_bytes;
  return kv_bytes <= gpu.l2_bytes / gpu.l2_halves.value_or(1);
}

/// Lone launches of a kernel, of those whose K/V stays in a half of L2 where there are some:
/// misses, which differ between items, would be taken for steps.
template <class Chosen>
Launches undisturbed(const RecordedSms& sms, const sim::Gpu& gpu, const KernelShape& kernel,
                     Chosen chosen) {
  const auto of_kernel = [&](const RecordedLaunch& l) {
    return same(l.kernel, kernel) && l.has_ctas(1, sms.count()) && chosen(l);
  };
  Launches within =
      sms.select([&](const RecordedLaunch& l) { return of_kernel(l) && fits_a_half(l, gpu); });
  return within.empty() ? sms.select(of_kernel) : within;
}

/// What a step takes more in launches with prefetch than `time` says; nothing without launches.
std::optional<double> added_ns(const Launches& ahead, const RecordedSms& sms, ItemTime time) {
  if (ahead.empty()) return std::nullopt;
  return median_over(ahead, [&](auto& l) { return median_of(sms.paces(l)); }) - time.step_ns;
}

void add_prefetch(const RecordedSms& sms, const sim::Gpu& gpu, const KernelShape& kernel,
                  ItemTime time, std::vector<Parameter>& own) {
  const auto ahead = [&](bool linear) {
    return undisturbed(sms, gpu, kernel, [&](const RecordedLaunch& l) {
      return l.prefetch > 0 && l.mask == "none" && (l.scan == "linear") == linear;
    });
  };
  const auto usual = added_ns(ahead(true), sms, time), other = added_ns(ahead(false), sms, time);
  if (!usual) return;
  add_finding(own, "prefetch-step-ns", *usual, 1, "what a step costs more with prefetch");
  add_finding(own, "prefetch-lines-ns", 0, 0, "in prefetch-step-ns");
  if (other)
    add_finding(own, "prefetch-scan-ns", *other - *usual, 1,
                "on top, where the scan is not linear: of sawtooth");
}

/// From lone launches. Without leads steps under a mask take up to 0.6 % longer than others, which
/// a line through both would take for what an item takes: it comes from those under a mask alone,
/// and the step from the others.
ItemTime item_time(const RecordedSms& all, const sim::Gpu& gpu, const KernelShape& kernel) {
  const auto lone = [&](bool alike, bool unlike) {
    return undisturbed(all, gpu, kernel, [=](const RecordedLaunch& l) {
      return l.prefetch == 0 && (l.mask == "none" ? alike : unlike);
    });
  };
  if (loads_ahead(kernel)) return item_time_of(lone(true, true));
  const Launches masked = lone(false, true), alike = lone(true, false);
  ItemTime time = masked.empty() ? ItemTime{} : item_time_of(masked);
  if (alike.empty()) return time;
  const RecordedSms sms(all.launches(), gpu, time.item_ns);
  time.step_ns = median_over(alike, [&](auto& l) { return median_of(sms.paces(l)); });
  return time;
}

/// The exponentials' part of a step whose other part are products.
double exponentials_share(const sim::KernelCost& known, const KernelShape& kernel) {
  const double exp_rate = known.exp_tera_per_s.value_or(0),
               product_rate = known.tensor_tflops.value_or(0);
  if (exp_rate <= 0 || product_rate <= 0)
    throw std::invalid_argument(
        "two CTAs that share an SM need the rates tensor-tflops and exp-tera-per-s of the GPU's "
        "first kernel-costs");
  const double exponentials = 1 / exp_rate, products = 4 * double(kernel.head_dim) / product_rate;
  return exponentials / (exponentials + products);
}

/// A step of a lone CTA; of two that share an SM what half of both take, and what is left of the
/// lone one's is exposed.
void add_step(const RecordedSms& sms, const KernelShape& kernel, ItemTime time,
              std::vector<Parameter>& own) {
  const auto shared = sms.pace_of(kernel, 2);
  if (!shared) {
    add_finding(own, "step-ns", time.step_ns, 1, "a step of a CTA alone on its SM");
    add_finding(own, "exposed-ns", 0, 0, "in step-ns, for an SM holds one CTA");
    return;
  }
  add_finding(own, "step-ns", *shared / 2, 1, "half of a step of two CTAs that share an SM");
  add_finding(own, "exposed-ns", std::max(0.0, time.step_ns - *shared / 2), 1,
              "a CTA alone takes " + fixed(time.step_ns, 1) + " ns");
  own.push_back({"fixed-ns", "0", "assumed", "in step-ns", 0});
}

/// How two CTAs share an SM: the older one is preferred, or they alternate.
void add_sharing(const RecordedSms& sms, const sim::KernelCost& known, const KernelShape& kernel,
                 std::vector<Parameter>& own) {
  constexpr double least_bias = 0.002;  // as of the backward kernels (studies/backward/costs.py)
  const Launches pairs = sms.steady(kernel, 2, false);
  if (pairs.empty()) return;
  const double ahead = median_over(pairs, [&](auto& l) { return bias(sms, l); });
  const double spread = median_over(pairs, [&](auto& l) { return jitter(sms, l); });
  const std::string note =
      "the older one of two CTAs is " + fixed(100 * ahead, 2) + " % faster than their mean";
  const bool alternate = ahead < least_bias;
  own.push_back(
      {"keep-step", alternate ? "on" : "off", "measured", "records of items: " + note, 0});
  if (!alternate)
    add_finding(own, "age-bias", ahead / exponentials_share(known, kernel), 4,
                note + ", as a share of the exponentials' part");
  add_finding(own, alternate ? "jitter-in-step" : "jitter-shared", spread, 4,
              "standard deviation of a step of one of the two");
  if (!alternate) own.push_back({"jitter-by-age", "0", "assumed", "not told apart", 0});
  const Launches ahead_of_use = sms.steady(kernel, 2, true);
  if (ahead_of_use.empty()) return;
  const double with = median_over(ahead_of_use, [&](auto& l) {
    return (median_of(sms.paces(l)) + median_of(sms.paces(l, true))) / 2;
  });
  add_finding(own, "prefetch-step-shared-ns", with - *sms.pace_of(kernel, 2), 1,
              "what a step of one of two CTAs costs more with prefetch");
  add_finding(own, "prefetch-lines-shared-ns", 0, 0, "in prefetch-step-shared-ns");
  own.push_back({"prefetch-lines-bias", "0", "assumed", "not told apart", 0});
}

/// What holds for all kernels of a family whose items are found and loaded ahead.
void add_leads(ItemFindings& found) {
  auto& every = kernel_findings(found, std::string(every_kernel));
  const auto assume = [&](const char* key, const char* value, const char* why) {
    every.push_back({key, value, "assumed", why, 0});
  };
  assume("item-begin-ns", "0", "the next item is found and loaded while one is computed");
  assume("item-spread-ns", "0", "not told apart from the jitter of steps");
  assume("lead-k-steps", "1",
         "K has two stages (kernels/attention/variants.inc), and one is computed with");
  assume("lead-v-steps", "1", "and V");
}

}  // namespace

std::vector<ProfileSection> family_findings(const std::vector<RecordedLaunch>& launches,
                                            const sim::Gpu& gpu, const sim::KernelCost& known) {
  ItemFindings found;
  if (!launches.empty() && loads_ahead(launches.front().kernel)) add_leads(found);
  const RecordedSms all(launches, gpu, 0);
  bool any = false;
  for (const KernelShape& kernel : shapes_of(launches)) {
    const ItemTime time = item_time(all, gpu, kernel);
    const RecordedSms sms(launches, gpu, time.item_ns);
    const Launches alone = sms.steady(kernel, 1, false);
    if (alone.empty()) continue;
    any = true;
    auto& own = kernel_findings(found, kernel);
    add_step(sms, kernel, time, own);
    const double loads_ns = first_loads_ns(gpu, kernel, alone.front()->element_bytes);
    const double begin_ns = loads_ahead(kernel) ? 0 : known.item_begin_ns;
    add_finding(own, "item-end-ns", std::max(0.0, time.item_ns - loads_ns - begin_ns), 0,
                "items take " + fixed(time.item_ns, 0) +
                    " ns beyond their steps, of which first loads are " + fixed(loads_ns, 0) +
                    (begin_ns > 0 ? " and item-begin-ns " + fixed(begin_ns, 0) : ""));
    add_finding(own, "jitter", median_over(alone, [&](auto& l) { return jitter(sms, l); }), 4,
                "standard deviation of a step, from items of the same SMs");
    const Launches equal = sms.select([&](const RecordedLaunch& l) {
      return same(l.kernel, kernel) && sms.is_lone(l) && l.mask == "none";
    });
    add_finding(own, "sm-spread", mean_over(equal, [&](auto& l) { return sm_spread(sms, l); }), 4,
                "standard deviation of GPCs' slowness under this kernel, mean over its launches");
    add_finding(own, "tpc-spread", median_over(alone, [&](auto& l) { return tpc_spread(sms, l); }),
                6, "by it the first SM of a TPC is slower than the mean of both");
    add_prefetch(sms, gpu, kernel, time, own);
    add_sharing(sms, known, kernel, own);
  }
  if (!any)
    throw std::invalid_argument("no launch without a mask and prefetch of " +
                                std::to_string(all.count()) +
                                " persistent CTAs, one an SM, with items of at least " +
                                std::to_string(long_steps) + " steps");
  return found.kernels;
}

}  // namespace sawtooth::experiments
