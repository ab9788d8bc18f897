// What the timed wavefront knows of a GPU and of a kernel on it. All times in nanoseconds, all
// bandwidths in bytes a nanosecond (10^9 bytes a second). Values come from the files of
// experiments/profiles, where each stands with its source, by timed_parameters().
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sim/gpu.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

inline constexpr double ns_a_us = 1000;

// How much longer a launch takes where its kernel draws more power than the GPU may.
//
// The clock stays full for some time after such a load begins, falls, and then stands where the
// limit holds it. How long a load has lasted when a launch is timed says LoadBefore of the request.
// Counters are of launches that stand apart, at the full clock: the clock moves no count.

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

struct L2Parameters {
  HalvesParameters lines{.halves = 1};  // how many halves, and what one keeps
  double near_ns = 0, far_ns = 0, dram_ns = 0;
  double port_bytes_a_ns = 0;  // of one SM; 0 in any of these: not limited
  double l2_bytes_a_ns = 0, dram_bytes_a_ns = 0;
  double dram_window_ns = 0;  // in which DRAM's load is measured; 0: it is not felt
  SmLayout layout{};          // empty: GPCs of 16 SMs, halves in one piece, round robin
  int coalescer_sms = 1;      // neighbouring SMs whose requests for one line can merge
};

/// How many steps before its use a tile is asked for. K is used when a step begins, V in its
/// middle.
struct Leads {
  double k_steps = 0, v_steps = 0;
};

/// What a K/V tile step costs on an SM (kernels/mma is the kernel behind the calibration).
/// A step occupies the SM's pipes for tensor + exp + fixed, the last for what every step does
/// however large its tile is (barriers, addresses, row statistics, O's rescaling); the dependence
/// from Q K^T over the softmax to P V adds `exposed_ns`, in which other CTAs of the SM can use
/// them. Of n CTAs on an SM the oldest gets (1 + bias) / n of its pipes and the youngest (1 - bias)
/// / n: warp schedulers prefer old warps when instructions compete for issue, as those of the
/// softmax do.
/// The kernel's costs stand here as they are on this GPU and for this request: without those of
/// mechanisms that are switched off, and with the GPU's where the kernel has none of its own.
struct StepParameters : KernelCost {
  double tensor_flop_a_ns = 0;    // of one SM; 0: products take no time
  double exp_a_ns = 0;            // exponentials of one SM; 0: take no time
  double start_spread_ns = 0;     // from a GPC's first TPC to its last
  double start_uneven_share = 0;  // of that spread: deviation of a GPC and of a TPC
  std::optional<Leads> leads{};   // K and V are loads of their own
  bool phases_meet = false;       // items do not begin together: not equally long, or a CTA each
};

struct TimedParameters {
  int64_t sms = 1;
  int64_t resident_ctas = 0;  // that an SM holds; 0: as many as there are workers for it
  bool stalls = true;         // a worker waits for late data; off: it computes as if it had come
  bool merging = true;        // in the request coalescer
  bool sharing = true;        // CTAs of an SM take turns at its pipes
  bool ticket_race = true;    // first tickets: half 0, where their counter lies, is nearer to it
  double ticket_hop_ns = 0;   // how much longer the way to it is from the other half
  // What a launch reads beside its tensors, none of it asked for by loads of its CTAs.
  int64_t launch_dram_read_sectors = 0, launch_fabric_read_sectors = 0;
  L2Parameters l2;
  StepParameters step;
  PowerLimit power{};
  double dram_slowness = 0;  // of steps, as a share, for each byte that DRAM reads in a nanosecond
};

/// Parameters of `gpu` for `request` with its kernel, what is in `request.without` switched
/// off. With `halves` two halves where the GPU has them, otherwise one block of request.l2_bytes.
/// Throws std::invalid_argument that names what the profile lacks.
TimedParameters timed_parameters(const Request& request, const Gpu& gpu, bool halves);

}  // namespace sawtooth::sim
