#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/finding_parts.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

// Of an item as the timed model counts it: the latencies of its first loads, 1.2 us on an H200.
constexpr double first_loads_ns = 1200;

std::vector<KernelShape> shapes_of(const std::vector<RecordedLaunch>& launches) {
  std::vector<KernelShape> shapes;
  for (const RecordedLaunch& launch : launches)
    if (std::ranges::none_of(shapes, [&](auto& known) { return same(known, launch.kernel); }))
      shapes.push_back(launch.kernel);
  return shapes;
}

/// Of the launches whose K/V stays in a half of L2: misses, which differ between items, would be
/// taken for steps.
std::optional<double> item_ns_within_l2(const RecordedSms& sms, const sim::Gpu& gpu) {
  return item_ns_of(sms.select([&](const RecordedLaunch& l) {
    constexpr int64_t bytes_a_pair = 4;  // of a row of K and V, an element each of two bytes
    int64_t steps = 0;
    for (const auto& items : l.ctas)
      for (const RecordedItem& item : items) steps = std::max(steps, item.steps);
    const int64_t kv_bytes = steps * l.kernel.tiling.kv_rows * l.kernel.head_dim * bytes_a_pair;
    return is_unequal(sms, l) && kv_bytes <= gpu.l2_bytes / gpu.l2_halves.value_or(1);
  }));
}

}  // namespace

std::vector<ProfileSection> family_findings(const std::vector<RecordedLaunch>& launches,
                                            const sim::Gpu& gpu) {
  ItemFindings found;
  auto& every = kernel_findings(found, std::string(every_kernel));
  const double item_ns = item_ns_within_l2(RecordedSms(launches, gpu, 0), gpu).value_or(0);
  add_finding(every, "item-begin-ns", 0, 0,
              "the next item is found and loaded while one is computed");
  add_finding(every, "item-end-ns", std::max(0.0, item_ns - first_loads_ns), 0,
              "items take " + fixed(item_ns, 0) + " ns beyond their steps");
  add_finding(every, "item-spread-ns", 0, 0, "not told apart from the jitter of steps");
  const RecordedSms sms(launches, gpu, item_ns);
  bool any = false;
  for (const KernelShape& kernel : shapes_of(launches)) {
    const Launches alone = sms.steady(kernel, 1, false), ahead = sms.steady(kernel, 1, true);
    if (alone.empty()) continue;
    any = true;
    const double pace = *sms.pace_of(kernel, 1);
    auto& own = kernel_findings(found, kernel);
    add_finding(own, "step-ns", pace, 1, "a step of a CTA alone on its SM");
    add_finding(own, "exposed-ns", 0, 0, "in step-ns, for an SM holds one CTA");
    add_finding(own, "jitter", median_over(alone, [&](auto& l) { return jitter(sms, l); }), 4,
                "standard deviation of a step, from items of the same SMs");
    add_finding(own, "tpc-spread", median_over(alone, [&](auto& l) { return tpc_spread(sms, l); }),
                6, "by it the first SM of a TPC is slower than the mean of both");
    if (ahead.empty()) continue;
    add_finding(own, "prefetch-step-ns",
                median_over(ahead, [&](auto& l) { return median_of(sms.paces(l)); }) - pace, 1,
                "what a step costs more with prefetch");
    add_finding(own, "prefetch-lines-ns", 0, 0, "in prefetch-step-ns");
  }
  if (!any)
    throw std::invalid_argument("no launch without a mask and prefetch of " +
                                std::to_string(sms.count()) +
                                " persistent CTAs, one an SM, with items of at least " +
                                std::to_string(long_steps) + " steps");
  return found.kernels;
}

}  // namespace sawtooth::experiments
