// How much longer a launch takes where its kernel draws more power than the GPU may.
//
// The clock stays full for some time after such a load begins, falls, and then stands where the
// limit holds it. How long a load has lasted when a launch is timed says LoadBefore of the request.
// Counters are of launches that stand apart, at the full clock: the clock moves no count.
#pragma once

#include <algorithm>

namespace sawtooth::sim {

struct PowerLimit {
  double delay_ns = 0;  // of such a load, until the clock begins to fall
  double fall_ns = 0;   // from there on until it stands
  double slowness = 0;  // of the kernel then: what it takes longer, as a share; 0: never

  /// The factor on the duration of a launch that takes `ns` at the full clock, half of which is
  /// over after `launches` such launches in a row.
  double slower_launch(double ns, double launches) const {
    if (slowness <= 0) return 1;
    const double beyond_ns = launches * ns - delay_ns;
    const double fallen =
        fall_ns > 0 ? std::clamp(beyond_ns / fall_ns, 0.0, 1.0) : (beyond_ns > 0 ? 1.0 : 0.0);
    return 1 + slowness * fallen;
  }

  /// The factor on what lasts from `begin_ns` to `end_ns` of such a load at the full clock.
  double slower(double begin_ns, double end_ns) const {
    return 1 + slowness * fallen(begin_ns, end_ns);
  }

  /// How far the clock has fallen, of 1, in the mean from `begin_ns` to `end_ns` of such a load.
  double fallen(double begin_ns, double end_ns) const {
    if (slowness <= 0 || end_ns <= begin_ns) return 0;
    return (fallen_until(end_ns) - fallen_until(begin_ns)) / (end_ns - begin_ns);
  }

 private:
  // How far the clock has fallen, summed over a load of `ns`.
  double fallen_until(double ns) const {
    const double beyond_ns = std::max(0.0, ns - delay_ns);
    const double falling_ns = std::min(beyond_ns, fall_ns);
    return (fall_ns > 0 ? falling_ns * falling_ns / (2 * fall_ns) : 0) + beyond_ns - falling_ns;
  }
};

}  // namespace sawtooth::sim
