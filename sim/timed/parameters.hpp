// What the timed wavefront knows of a GPU, of its die and of a kernel on it. All times in
// nanoseconds, all bandwidths in bytes a nanosecond (10^9 bytes a second). Values come from the
// files of experiments/profiles, where each stands with its source, by timed_parameters().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/gpu.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/request.hpp"
#include "sim/timed/power_limit.hpp"

namespace sawtooth::sim {

struct L2Parameters {
  HalvesParameters lines{.halves = 1};  // how many halves, and what one keeps
  double near_ns = 0;
  double far_ns = 0;
  double dram_ns = 0;
  double port_bytes_a_ns = 0;  // of one SM; 0 in any of these: not limited
  double l2_bytes_a_ns = 0;
  double fabric_bytes_a_ns = 0;
  double dram_bytes_a_ns = 0;
  SmLayout layout{};                   // empty: GPCs of 16 SMs, halves in one piece, round robin
  std::vector<int64_t> half_of_sms{};  // of this die, in the order of placement; empty: as laid out
  int coalescer_sms = 1;               // neighbouring SMs whose requests for one line can merge
};

/// What prefetch adds to a step. CTAs that share an SM have equal parts in what their lines cost,
/// and one with lines falls behind one without.
struct PrefetchCost {
  double step_ns = 0;
  double lines_ns = 0;    // on top, of a CTA that has lines of its own
  double lines_bias = 0;  // as a share of a step, for the difference of one CTA's lines

  /// `own` is 1 for a CTA with lines and 0 for one without, `mean` that of the CTAs on the SM.
  double added_ns(double mean) const { return step_ns + mean * lines_ns; }
  double factor(double own, double mean) const { return 1 + 2 * (own - mean) * lines_bias; }
};

/// How many steps before its use a tile is asked for. K is used when a step begins, V in its
/// middle.
struct Leads {
  double k_steps = 0;
  double v_steps = 0;
};

/// What a K/V tile step costs on an SM (kernels/mma is the kernel behind the calibration).
/// A step occupies the SM's pipes for tensor + exp + fixed, the last for what every step does
/// however large its tile is (barriers, addresses, row statistics, O's rescaling); the dependence
/// from Q K^T over the softmax to P V adds `exposed_ns`, in which other CTAs of the SM can use
/// them. Of n CTAs on an SM the oldest gets (1 + bias) / n of its pipes and the youngest (1 - bias)
/// / n: warp schedulers prefer old warps when instructions compete for issue, as those of the
/// softmax do.
struct StepParameters {
  double tensor_flop_a_ns = 0;  // of one SM; 0: products take no time
  double exp_a_ns = 0;          // exponentials of one SM; 0: take no time
  double fixed_ns = 0;
  double exposed_ns = 0;
  double item_begin_ns = 0;      // ticket, coordinates and scan table, before Q is asked for
  double item_end_ns = 0;        // epilogue: O through shared memory
  double merge_ns = 0;           // of an item that comes last of some sequence's head in a cascade
  double combine_ns = 0;         // from the last part of kv-split to the first read that adds them
  double item_spread_ns = 0;     // of an item, from the TPC of a GPC that starts first to the last
  PrefetchCost prefetch;         // of a lone CTA
  PrefetchCost prefetch_shared;  // of one that shares its SM
  double jitter = 0;             // standard deviation of a step's cost, as a share of it
  double jitter_shared = 0;      // the same while other CTAs compute on the SM
  double jitter_in_step = 0;     // and of CTAs that alternate
  double jitter_by_age = 0;      // the older one of two has less by this share of it
  double sm_spread = 0;          // standard deviation of a GPC's slowness, as a share of it
  double tpc_spread = 0;  // the first SM of a TPC is slower than the GPC by it, the second faster
  std::vector<double> sm_slowness;        // of this die, in the order of placement; empty: drawn
  std::vector<double> sm_slowness_older;  // of two CTAs that share an SM; empty: as alone
  std::vector<double> sm_slowness_younger;
  double age_bias = 0;            // bias, as a share of the exponentials' part of a step
  double launch_ns = 0;           // from the launch to the first CTA's first instruction
  double start_spread_ns = 0;     // from a GPC's first TPC to its last
  double start_uneven_share = 0;  // of that spread: deviation of a GPC and of a TPC
  double refill_ns = 0;           // from a CTA's end to its successor's first instruction
  int64_t stages = 2;             // K/V tiles in shared memory
  double dram_late_ns = 0;        // mean of what a step's load from a fully loaded DRAM comes late
  std::optional<Leads> leads{};   // K and V are loads of their own
  bool in_step = false;      // CTAs of an SM alternate: none is preferred, and their jitter is one
  WrongPhase wrong_phase{};  // of CTAs that alternate
  Staggered staggered{};     // of items behind such that add to earlier results
  bool phases_meet = false;  // items are not equally long, so each begins in a phase of its own
};

struct TimedParameters {
  int64_t sms = 1;
  int64_t resident_ctas = 0;  // that an SM holds; 0: as many as there are workers for it
  bool stalls = true;         // a worker waits for late data; off: it computes as if it had come
  bool merging = true;        // in the request coalescer
  bool sharing = true;        // CTAs of an SM take turns at its pipes
  bool ticket_race = true;    // first tickets: the half of their counter is nearer to it
  int ticket_half = 0;        // where that counter lies
  double ticket_hop_ns = 0;   // how much longer the way to it is from the other half
  // What a launch reads beside its tensors, none of it asked for by loads of its CTAs.
  int64_t launch_dram_read_sectors = 0;
  int64_t launch_fabric_read_sectors = 0;
  L2Parameters l2;
  StepParameters step;
  PowerLimit power{};
  double dram_slowness = 0;  // of steps, as a share, for each byte that DRAM reads in a nanosecond
};

/// Parameters of `gpu` for `request` with its kernel and die, what is in `request.without` switched
/// off. With `halves` two halves where the GPU has them, otherwise one block of request.l2_bytes.
/// Throws std::invalid_argument that names what the profile lacks.
TimedParameters timed_parameters(const Request& request, const Gpu& gpu, bool halves);

}  // namespace sawtooth::sim
