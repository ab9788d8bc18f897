// What the steps and items of a kernel cost on a GPU, for `timing = timed`, from the files of
// experiments/profiles/kernels: to add a number, add its member and its key here.
// docs/models/timed.md says what each value does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sim/gpu.hpp"

namespace sawtooth::sim {

/// What prefetch adds to a step, in ns; empty: as without, or as of a lone CTA. CTAs that share an
/// SM have equal parts in what their lines cost.
struct PrefetchTimes {
  std::optional<double> step_ns;
  std::optional<double> lines_ns;  // on top, of a CTA that has lines of its own

  /// `share` of the CTAs on the SM have lines.
  double added_ns(double share) const { return step_ns.value_or(0) + share * lines_ns.value_or(0); }
};

/// The wrong phase of CTAs that alternate on an SM: items that do not begin together may meet in
/// it.
struct WrongPhase {
  double slowness = 0;   // of both, as a share of a step; 0: there is none
  double steps = 1;      // until they leave it, in the mean
  double met_share = 0;  // of the items that begin at any phase to the steps of the other CTA
};

/// An item that adds its results to those of earlier calls waits for them in each of its
/// warpgroups. These can leave it so far apart that they compute in turn in the CTA's next item,
/// and are faster.
struct Staggered {
  double share = 0;         // of the items behind one that added and was not staggered
  double finish_share = 0;  // the same where it wrote O too
  double kept_share = 0;    // of those behind one that added and was
  double gain = 0;          // what their steps take less, as a share, in the mean
  double gain_spread = 0;   // standard deviation of that, from item to item
};

struct KernelCost {
  // Rates are of the whole GPU, as the kernel's steps reach them; empty: by the shares below.
  std::optional<double> tensor_tflops;
  std::optional<double> exp_tera_per_s;
  double tensor_share = 0;   // of the rate that mma.sync has on the GPU
  double exp_per_clock = 0;  // exponentials a clock and SM

  double fixed_ns = 0;            // of a step, whatever its tile
  double exposed_ns = 0;          // what a lone CTA's step takes beyond the pipes
  std::optional<double> step_ns;  // of the pipes for one step: scales the rates and fixed_ns
  double page_step_ns = 0;        // what step_ns is more where K and V lie in pages

  // Standard deviation of a step's time, as a share of it.
  double jitter = 0;                     // of a lone CTA
  std::optional<double> jitter_shared;   // while others compute on the SM; empty: as alone
  std::optional<double> jitter_in_step;  // of CTAs that alternate; empty: as jitter_shared

  // CTAs that share an SM; bias is a share of the exponentials' part of a step.
  double age_bias = 0;
  bool keep_step = false;  // they alternate: the older one gains nothing
  WrongPhase wrong_phase;  // of those that alternate
  Staggered staggered;
  int64_t resident_ctas = 0;  // that an SM holds; 0: all that there are

  // Standard deviation of a GPC's slowness under this kernel's load, as a share; empty: the GPU's.
  std::optional<double> sm_spread;

  // The first SM of a TPC is slower than the mean of the two by this share of a step.
  double tpc_spread = 0;
  std::optional<double> tpc_spread_prefetch;  // empty: as without

  PrefetchTimes prefetch;
  PrefetchTimes prefetch_shared;  // of CTAs that share an SM
  // A CTA with lines falls behind one without, by this share of a step for the difference.
  double prefetch_lines_bias = 0;

  std::optional<double> launch_ns;  // to the first CTA's first instruction; empty: the GPU's
  std::optional<double> refill_ns;  // from a CTA's end to its successor's; empty: the GPU's
  double item_begin_ns = 0;         // ticket, coordinates and scan table, before Q is asked for
  double item_end_ns = 0;           // epilogue: O through shared memory
  double merge_ns = 0;    // of an item of a cascade that comes last of some sequence's head
  double combine_ns = 0;  // from the last part of kv-split to the combine kernel's first read

  double dram_share = 1;  // of DRAM's rate that its loads reach

  int64_t stages = 2;  // K/V tiles in shared memory

  // How long before its use K, and V, of a step is asked for, in steps; both or neither. With them
  // a step waits for K, and in its middle for V; without them K and V are one load, `stages` - 1
  // ahead.
  std::optional<double> lead_k_steps;
  std::optional<double> lead_v_steps;
  // Times that a latency is waited for until a tile is there: loads that wait for registers go out
  // one batch after another. Needs the leads.
  double waits_a_tile = 1;
  double exposure_error = 0;  // half of the 90 % interval of what a miss costs, as a share of it

  // What a launch takes longer, as a share, once the clock has fallen to what the GPU's power limit
  // allows this kernel; 0: it stays below the limit.
  double power_slowness = 0;

  // Times of steps and items on this GPU over those that the other members give: the same kernel,
  // another clock.
  double pace = 1;

  // What a step takes longer, as a share, for each TB/s that DRAM reads meanwhile: the clock of a
  // kernel near the limit gives way to what memory draws.
  double dram_slowness = 0;

  // How much later, in the mean, what a step reads from DRAM comes where DRAM reads at its full
  // rate, in proportion below it; at random, exponentially. Not of kernels with leads.
  double dram_late_ns = 0;

  int64_t spill_bytes = 0;  // of L2, that a CTA in flight keeps written all the time
};

namespace kernel_keys {

using Cost = KernelCost;
template <auto... path>
inline constexpr auto place = &place_at<KernelCost, path...>;
template <auto member>
inline constexpr auto phase = place<&Cost::wrong_phase, member>;
template <auto member>
inline constexpr auto apart = place<&Cost::staggered, member>;
template <auto member>
inline constexpr auto lone = place<&Cost::prefetch, member>;
template <auto member>
inline constexpr auto shared = place<&Cost::prefetch_shared, member>;
using Times = PrefetchTimes;
using Mechanism::jitter, Mechanism::age_bias, Mechanism::sm_spread, Mechanism::prefetch_cost,
    Mechanism::starts, Mechanism::item_cost, Mechanism::bandwidth, Mechanism::power;
using ProfileUnit::count, ProfileUnit::real, ProfileUnit::bytes, ProfileUnit::flag;

}  // namespace kernel_keys

/// Every number of a kernel's costs, as files of kernels call it.
inline constexpr auto kernel_cost_keys = [] {
  using namespace kernel_keys;
  return std::to_array<ProfileKey<KernelCost>>({
      {"tensor-tflops", real, 0.01, 1e6, place<&Cost::tensor_tflops>},
      {"exp-tera-per-s", real, 0.001, 1e5, place<&Cost::exp_tera_per_s>},
      {"tensor-share", real, 0, 1, place<&Cost::tensor_share>},
      {"exp-per-clock", real, 0, 1024, place<&Cost::exp_per_clock>},
      {"fixed-ns", real, 0, 1e6, place<&Cost::fixed_ns>},
      {"exposed-ns", real, 0, 1e6, place<&Cost::exposed_ns>},
      {"step-ns", real, 1, 1e9, place<&Cost::step_ns>},
      {"page-step-ns", real, 0, 1e6, place<&Cost::page_step_ns>},
      {"jitter", real, 0, 0.2, place<&Cost::jitter>, jitter},
      {"jitter-shared", real, 0, 0.2, place<&Cost::jitter_shared>, jitter},
      {"jitter-in-step", real, 0, 0.2, place<&Cost::jitter_in_step>, jitter},
      {"age-bias", real, -0.9, 0.9, place<&Cost::age_bias>, age_bias},
      {"keep-step", flag, 0, 1, place<&Cost::keep_step>},
      {"wrong-phase-slowness", real, 0, 1, phase<&WrongPhase::slowness>, jitter},
      {"wrong-phase-steps", real, 1, 1e6, phase<&WrongPhase::steps>, jitter},
      {"wrong-phase-met-share", real, 0, 1, phase<&WrongPhase::met_share>, jitter},
      {"staggered-share", real, 0, 1, apart<&Staggered::share>, jitter},
      {"staggered-finish-share", real, 0, 1, apart<&Staggered::finish_share>, jitter},
      {"staggered-kept-share", real, 0, 1, apart<&Staggered::kept_share>, jitter},
      {"staggered-gain", real, 0, 0.5, apart<&Staggered::gain>, jitter},
      {"staggered-gain-spread", real, 0, 0.1, apart<&Staggered::gain_spread>, jitter},
      {"resident-ctas", count, 1, 32, place<&Cost::resident_ctas>},
      {"sm-spread", real, 0, 0.1, place<&Cost::sm_spread>, sm_spread},
      {"tpc-spread", real, -0.2, 0.2, place<&Cost::tpc_spread>, sm_spread},
      {"tpc-spread-prefetch", real, -0.2, 0.2, place<&Cost::tpc_spread_prefetch>, sm_spread},
      {"prefetch-step-ns", real, -1000, 1e5, lone<&Times::step_ns>, prefetch_cost},
      {"prefetch-lines-ns", real, -1000, 1e5, lone<&Times::lines_ns>, prefetch_cost},
      {"prefetch-step-shared-ns", real, -1000, 1e5, shared<&Times::step_ns>, prefetch_cost},
      {"prefetch-lines-shared-ns", real, -1000, 1e5, shared<&Times::lines_ns>, prefetch_cost},
      {"prefetch-lines-bias", real, -0.4, 0.4, place<&Cost::prefetch_lines_bias>, prefetch_cost},
      {"launch-ns", real, 0, 1e6, place<&Cost::launch_ns>, starts},
      {"refill-ns", real, 0, 1e6, place<&Cost::refill_ns>, item_cost},
      {"item-begin-ns", real, 0, 1e6, place<&Cost::item_begin_ns>, item_cost},
      {"item-end-ns", real, 0, 1e6, place<&Cost::item_end_ns>, item_cost},
      {"merge-ns", real, 0, 1e6, place<&Cost::merge_ns>, item_cost},
      {"combine-ns", real, 0, 1e6, place<&Cost::combine_ns>, item_cost},
      {"dram-share", real, 0.01, 1, place<&Cost::dram_share>, bandwidth},
      {"stages", count, 1, 8, place<&Cost::stages>},
      {"lead-k-steps", real, 0, 7, place<&Cost::lead_k_steps>},
      {"lead-v-steps", real, 0, 7, place<&Cost::lead_v_steps>},
      {"waits-a-tile", real, 1, 64, place<&Cost::waits_a_tile>},
      {"exposure-error", real, 0, 10, place<&Cost::exposure_error>},
      {"power-slowness", real, 0, 4, place<&Cost::power_slowness>, power},
      {"dram-slowness", real, 0, 1, place<&Cost::dram_slowness>, power},
      {"dram-late-ns", real, 0, 1e5, place<&Cost::dram_late_ns>, bandwidth},
      {"spill-bytes", bytes, 1, double{1 << 30}, place<&Cost::spill_bytes>},
  });
}();

}  // namespace sawtooth::sim
