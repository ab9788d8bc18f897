#include <algorithm>
#include <optional>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/finding_parts.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t element_bytes = 2;

int64_t row_bytes(const KernelShape& kernel) {
  return kernel.head_dim * element_bytes;
}

/// What an item waits for before its first step in the timed model: a latency, and Q and the first
/// tile of K through what a lone CTA's loads reach. V, which has a lead too, is not waited for.
double first_loads_ns(const sim::Gpu& gpu, const KernelShape& kernel) {
  const double rows = double(kernel.tiling.q_rows + kernel.tiling.kv_rows);
  const double port_bytes_a_ns = gpu.tile_gb_per_s.value_or(0);
  return gpu.latency_dram_ns.value_or(0) +
         (port_bytes_a_ns > 0 ? rows * double(row_bytes(kernel)) / port_bytes_a_ns : 0);
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
  const int64_t kv_bytes = 2 * steps * launch.kernel.tiling.kv_rows * row_bytes(launch.kernel);
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

}  // namespace

std::vector<ProfileSection> family_findings(const std::vector<RecordedLaunch>& launches,
                                            const sim::Gpu& gpu) {
  ItemFindings found;
  auto& every = kernel_findings(found, std::string(every_kernel));
  const auto assume = [&](const char* key, const char* value, const char* why) {
    every.push_back({key, value, "assumed", why, 0});
  };
  assume("item-begin-ns", "0", "the next item is found and loaded while one is computed");
  assume("item-spread-ns", "0", "not told apart from the jitter of steps");
  assume("lead-k-steps", "1",
         "K has two stages (kernels/attention/variants.inc), and one is computed with");
  assume("lead-v-steps", "1", "and V");
  const RecordedSms all(launches, gpu, 0);
  bool any = false;
  for (const KernelShape& kernel : shapes_of(launches)) {
    const ItemTime time = item_time_of(
        undisturbed(all, gpu, kernel, [](const RecordedLaunch& l) { return l.prefetch == 0; }));
    const RecordedSms sms(launches, gpu, time.item_ns);
    const Launches alone = sms.steady(kernel, 1, false);
    if (alone.empty()) continue;
    any = true;
    auto& own = kernel_findings(found, kernel);
    add_finding(own, "step-ns", time.step_ns, 1, "a step of a CTA alone on its SM");
    add_finding(own, "exposed-ns", 0, 0, "in step-ns, for an SM holds one CTA");
    const double loads_ns = first_loads_ns(gpu, kernel);
    add_finding(own, "item-end-ns", std::max(0.0, time.item_ns - loads_ns), 0,
                "items take " + fixed(time.item_ns, 0) +
                    " ns beyond their steps, of which first loads are " + fixed(loads_ns, 0));
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
  }
  if (!any)
    throw std::invalid_argument("no launch without a mask and prefetch of " +
                                std::to_string(all.count()) +
                                " persistent CTAs, one an SM, with items of at least " +
                                std::to_string(long_steps) + " steps");
  return found.kernels;
}

}  // namespace sawtooth::experiments
