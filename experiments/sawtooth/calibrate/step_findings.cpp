#include <algorithm>
#include <cmath>

#include "experiments/sawtooth/calibrate/finding_parts.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

/// Standard deviation of a step: items of a GPC's SMs two apart, taken at the same place of their
/// CTAs.
double jitter(const RecordedSms& sms, const RecordedLaunch& launch) {
  std::vector<double> values;
  for (const std::vector<int64_t>& gpc : sms.gpcs()) {
    for (size_t i = 0; i + 2 < gpc.size(); i += 4) {
      const auto& here = launch.ctas[size_t(sms.cta_of(launch, gpc[i], false))];
      const auto& there = launch.ctas[size_t(sms.cta_of(launch, gpc[i + 2], false))];
      for (size_t k = 0; k + 1 < std::min(here.size(), there.size()); ++k) {
        const auto step_ns = [&](const std::vector<RecordedItem>& items) {
          return (double(items[k + 1].start_ns - items[k].start_ns) - sms.item_ns()) /
                 double(items[k].steps);
        };
        const double steps = double(here[k].steps + there[k].steps) / 2;
        values.push_back(std::abs(step_ns(here) / step_ns(there) - 1) * std::sqrt(steps / 2));
      }
    }
  }
  return normal * median_of(std::move(values));
}

double sm_spread(const RecordedSms& sms, const RecordedLaunch& launch) {
  const std::vector<double> of_sms = sms.paces(launch);
  std::vector<double> of_gpcs;
  for (const std::vector<int64_t>& gpc : sms.gpcs()) {
    std::vector<double> own;
    for (const int64_t sm : gpc) own.push_back(of_sms[size_t(sm)]);
    of_gpcs.push_back(median_of(std::move(own)));
  }
  const double mean = mean_of(of_gpcs);
  double square = 0;
  for (const double pace : of_gpcs) square += (pace - mean) * (pace - mean);
  return std::sqrt(square / double(of_gpcs.size())) / mean;
}

double tpc_spread(const RecordedSms& sms, const RecordedLaunch& launch) {
  const std::vector<double> of_sms = sms.paces(launch);
  double differences = 0;
  for (size_t sm = 0; sm + 1 < of_sms.size(); sm += 2)
    differences += (of_sms[sm] - of_sms[sm + 1]) / 2;
  return differences / double(of_sms.size() / 2) / mean_of(of_sms);
}

double bias(const RecordedSms& sms, const RecordedLaunch& launch) {
  const double older = mean_of(sms.paces(launch)), younger = mean_of(sms.paces(launch, true));
  return (younger - older) / (younger + older);
}

void add_jitter(const RecordedSms& sms, ItemFindings& found, const Launches& lone) {
  add_finding(kernel_findings(found, std::string(every_kernel)), "jitter",
              median_over(lone, [&](auto& l) { return jitter(sms, l); }), 4,
              "standard deviation of a step of a lone CTA, from items of the same SMs");
}

void add_tpc_spreads(const RecordedSms& sms, ItemFindings& found) {
  std::vector<double> all;
  for (const KernelShape& kernel : {narrow, thin, wide, large}) {
    const auto spread = [&](auto& l) { return tpc_spread(sms, l); };
    if (const Launches alone = sms.steady(kernel, 1, false); !alone.empty()) {
      all.push_back(median_over(alone, spread));
      add_finding(kernel_findings(found, kernel), "tpc-spread", all.back(), 6,
                  "by it the first SM of a TPC is slower than the mean of both");
    }
    if (const Launches ahead = sms.steady(kernel, 1, true); !ahead.empty())
      add_finding(same(kernel, wide) ? kernel_findings(found, std::string(every_kernel))
                                     : kernel_findings(found, kernel),
                  "tpc-spread-prefetch", median_over(ahead, spread), 6, "the same with prefetch");
  }
  if (!all.empty())
    add_finding(kernel_findings(found, std::string(every_kernel)), "tpc-spread", mean_of(all), 6,
                "mean of the recorded kernels");
}

// The parts of a step (sim/timed/step_cost.hpp) from paces alone and with two CTAs. Between the
// two kernels of head dim 64 half of all products and exponentials differ; two CTAs take twice
// the pipes' time, and what a lone one takes beyond it is exposed.
void add_step_costs(const RecordedSms& sms, ItemFindings& found) {
  constexpr double pairs = 128 * 128, flop_a_pair = 4 * 64;  // of the kernel `narrow`
  const auto exp = sms.exp_ns();
  const auto of_thin = sms.pace_of(thin, 1), of_large = sms.pace_of(large, 1);
  if (!exp || !of_thin || !of_large) return;
  const double tensor = 2 * (*sms.pace_of(narrow, 1) - *of_thin) - *exp;
  struct Work {
    KernelShape kernel;
    double products, exponentials;
  };
  const Work works[] = {{narrow, 1, 1}, {thin, 0.5, 0.5}, {wide, 1, 0.5}, {large, 2, 1}};
  double fixed_wide = 0;  // of `large` too, of which an SM holds one CTA
  auto& every = kernel_findings(found, std::string(every_kernel));
  add_finding(every, "tensor-tflops", pairs * flop_a_pair * double(sms.count()) / tensor / 1000, 1,
              "products");
  add_finding(every, "exp-tera-per-s", pairs * double(sms.count()) / *exp / 1000, 2,
              "exponentials");
  for (const Work& work : works) {
    const auto shared = sms.pace_of(work.kernel, 2);
    if (!shared && !same(work.kernel, large)) continue;
    const double busy = work.products * tensor + work.exponentials * *exp;
    const double fixed = shared ? std::max(0.0, *shared / 2 - busy) : fixed_wide;
    const double alone = *sms.pace_of(work.kernel, 1);
    const bool usual = same(work.kernel, wide);
    if (usual) fixed_wide = fixed;
    auto& own = usual ? kernel_findings(found, std::string(every_kernel))
                      : kernel_findings(found, work.kernel);
    const std::string paces_text =
        "a step of " + kernel_section(work.kernel.head_dim, work.kernel.tiling) + " takes " +
        experiments::fixed(alone, 0) + " ns alone" +
        (shared ? " and " + experiments::fixed(*shared, 0) + " with two CTAs" : "");
    add_finding(own, "fixed-ns", fixed, 0, paces_text);
    add_finding(own, "exposed-ns", alone - busy - fixed, 0, paces_text);
  }
}

// As a share of the exponentials' part of a step of two CTAs.
void add_biases(const RecordedSms& sms, ItemFindings& found) {
  const auto exp = sms.exp_ns();
  if (!exp) return;
  const auto add_bias = [&](const KernelShape& kernel, const std::string& name, bool prefetches) {
    const Launches shared = sms.steady(kernel, 2, prefetches);
    const auto pace = sms.pace_of(kernel, 2);
    if (shared.empty() || !pace) return;
    const double found_bias = median_over(shared, [&](auto& l) { return bias(sms, l); });
    const double share = *exp * double(kernel.tiling.kv_rows) / 128 / (*pace / 2);
    add_finding(
        kernel_findings(found, name), prefetches ? "age-bias-prefetch" : "age-bias",
        found_bias / share, 4,
        "the older one of two CTAs is " + fixed(100 * found_bias, 2) + " % faster than their mean");
  };
  add_bias(narrow, std::string(every_kernel), false);
  add_bias(wide, "d>64", false);
  add_bias(narrow, kernel_section(narrow.head_dim, narrow.tiling), true);
}

}  // namespace sawtooth::experiments
