#include <cmath>
#include <map>

#include "experiments/sawtooth/calibrate/finding_parts.hpp"
#include "experiments/sawtooth/support/statistics.hpp"

namespace sawtooth::experiments {
namespace {

// Of two CTAs on an SM: where neither has lines; on top, where both have; and by which share a
// step of a CTA with lines beside one without is the longer one, where the older and the younger
// one are such CTAs equally often.
void add_shared_prefetch_costs(const RecordedSms& sms, ItemFindings& found,
                               const KernelShape& kernel) {
  const Launches ahead = sms.steady(kernel, 2, true);
  const auto usual = sms.pace_of(kernel, 2);
  std::vector<double> step, lines, bias;
  for (const RecordedLaunch* l : ahead) {
    std::map<std::pair<bool, bool>, std::pair<std::vector<double>, std::vector<double>>> times;
    for (const auto& [older, younger] : sms.sharers()) {
      auto& [of_older, of_younger] = times[{l->has_lines(older), l->has_lines(younger)}];
      of_older.push_back(l->pace(older, sms.item_ns()));
      of_younger.push_back(l->pace(younger, sms.item_ns()));
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
  auto& own = same(kernel, narrow) ? kernel_findings(found, std::string(every_kernel))
                                   : kernel_findings(found, kernel);
  add_finding(own, "prefetch-step-shared-ns", median_of(step), 1,
              "of two CTAs neither of which has lines");
  add_finding(own, "prefetch-lines-shared-ns", median_of(lines), 1,
              "on top, where both have lines");
  add_finding(
      own, "prefetch-lines-bias", median_of(bias), 4,
      "a CTA with lines beside one without takes so much longer, and the other so much less");
}

}  // namespace

void add_prefetch_costs(const RecordedSms& sms, ItemFindings& found) {
  for (const KernelShape& kernel : {wide, large}) {
    const Launches ahead = sms.steady(kernel, 1, true);
    const auto usual = sms.pace_of(kernel, 1);
    if (ahead.empty() || !usual) continue;
    const auto with = [&](bool lines) {
      return [&sms, lines](const RecordedLaunch& l) {
        std::vector<double> chosen;
        for (int64_t cta = 0; cta < sms.count(); ++cta)
          if (l.has_lines(cta) == lines) chosen.push_back(l.pace(cta, sms.item_ns()));
        return chosen.empty() ? 0 : median_of(std::move(chosen));
      };
    };
    const double lines = median_over(ahead, with(true)), without = median_over(ahead, with(false));
    const double step = (without > 0 ? without : lines) - *usual;
    auto& own = same(kernel, wide) ? kernel_findings(found, std::string(every_kernel))
                                   : kernel_findings(found, kernel);
    add_finding(own, "prefetch-step-ns", step, 1, "what a step takes longer with prefetch");
    add_finding(own, "prefetch-lines-ns", without > 0 ? lines - without : 0, 1,
                "on top, of CTAs that have lines to prefetch");
  }
  for (const KernelShape& kernel : {narrow, thin}) add_shared_prefetch_costs(sms, found, kernel);
}

}  // namespace sawtooth::experiments
