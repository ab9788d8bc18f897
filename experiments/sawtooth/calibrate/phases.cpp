#include "experiments/sawtooth/calibrate/phases.hpp"

#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

/// A mean over so many correlation times keeps this share of the variance at one moment.
double share_of_variance(double times) {
  constexpr double none = 1e-6;
  return times < none ? 1 : 2 * (times - 1 + std::exp(-times)) / (times * times);
}

double correlation_times(double share) {
  double low = 0.01, high = 1e4;
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(low * high);
    (share_of_variance(middle) > share ? low : high) = middle;
  }
  return low;
}

}  // namespace

bool add_phases(std::vector<Parameter>& own, const std::vector<const LaunchTimes*>& pairs,
                const std::vector<const LaunchTimes*>& masked, double item_ns) {
  std::vector<double> right, slowness, slip, between, locked;
  for (const LaunchTimes* l : pairs) {
    if (std::isnan(l->phase_ns)) continue;
    const double share = l->phase_share;
    const double times = correlation_times(l->phase_variance / (share * (1 - share)));
    right.push_back(l->without_items(l->phase_ns, item_ns));
    slowness.push_back(l->phase_slowness * l->phase_ns / right.back());
    slip.push_back(double(l->most_steps) / times / (1 - share));
    between.push_back(slip.back() * (1 - share) / share);
    locked.push_back(l->locked_share);
  }
  if (right.empty()) return false;
  const auto add = [&](const char* key, double value, int decimals, const char* note) {
    own.push_back(
        {key, fixed(value, decimals), "measured", std::string("records of items: ") + note, 0});
  };
  const double slower = median_of(slowness), steps = median_of(slip), every = median_of(between);
  add("jitter-in-step", 0, 0, "in their phases");
  add("wrong-phase-slowness", slower, 4, "what the slow items take longer than the fastest tenth");
  add("wrong-phase-steps", steps, 0,
      "that a slip into the wrong phase lasts, from mean and variance of the items of other SMs");
  add("wrong-phase-every-steps", every, 0, "between slips, from the same");
  add("wrong-phase-locked-share", median_of(locked), 4, "SMs whose items are all slow");
  std::vector<double> met;
  const double slipping = steps / (steps + every);
  for (const LaunchTimes* l : masked) {
    if (l->early_items == 0) continue;
    const double pace = (l->early_ns - item_ns * l->early_items) / l->early_steps;
    met.push_back(((pace / median_of(right) - 1) / slower - slipping) / (1 - slipping));
  }
  if (!met.empty())
    add("wrong-phase-met-share", median_of(met), 2,
        "items under a mask that begin beside another one, whose SM is in the wrong phase from "
        "there on");
  return true;
}

}  // namespace sawtooth::experiments
