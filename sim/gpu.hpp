// The link from GPU to GPU, as messages of a size find it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/timed/mechanisms.hpp"

namespace sawtooth::sim {

/// Who copies between GPUs: SMs leave in L2 what they copy, a copy engine leaves nothing
/// (experiments/data/h200/ring/copied_lines.csv).
enum class Copier { copy_engine, sms };

/// Bandwidth of messages of `bytes`, in 10^9 bytes a second, each way while both are in use.
struct LinkRate {
  int64_t bytes = 0;
  double gb_per_s = 0;
};

/// Rates of rising sizes, at least one.
using LinkRates = std::vector<LinkRate>;

/// Between two known sizes linear in the logarithm of the size, beyond them as at the ends; in
/// bytes a nanosecond.
inline double link_bytes_a_ns(const LinkRates& rates, int64_t bytes) {
  const auto above = std::find_if(rates.begin(), rates.end(),
                                  [&](const LinkRate& rate) { return rate.bytes >= bytes; });
  if (above == rates.begin()) return above->gb_per_s;
  if (above == rates.end()) return rates.back().gb_per_s;
  const LinkRate& below = *(above - 1);
  const double place = std::log(double(bytes) / double(below.bytes)) /
                       std::log(double(above->bytes) / double(below.bytes));
  return below.gb_per_s + place * (above->gb_per_s - below.gb_per_s);
}

/// For K and V of a rank, a message of `bytes` each.
inline double transfer_ns(const LinkRates& rates, int64_t bytes) {
  return 2 * double(bytes) / link_bytes_a_ns(rates, bytes);
}

// What is known of a GPU model: plain numbers from experiments/profiles/gpus/NAME.ini, where each
// one stands with its source. An empty value is unknown, and a model that needs it must say so.

/// TPCs of one GPC to whose SMs CTAs come one after another; `tpcs` 0 stands for all of the GPC.
struct TpcRun {
  int gpc = 0;
  int first_tpc = 0;
  int tpcs = 0;
};

/// Where SMs are and in which order a launch's CTAs come to them. Empty: not recorded.
struct SmLayout {
  std::vector<int64_t> gpc_sms;             // SMs of each GPC
  std::vector<int64_t> gpc_half;            // half of L2 that each sits at
  std::vector<TpcRun> cta_order;            // a run that comes again gets its second CTAs then
  std::vector<std::vector<int>> tpc_turns;  // of a GPC of so many TPCs: each one's turn to start
};

struct Gpu {
  std::string name;
  int64_t sms = 0;
  int64_t l2_bytes = 0;

  std::optional<int64_t> l2_halves;
  // Parts of L2, each of its own SMs, to which CTAs go in turn, so many neighbours at a time.
  std::optional<int64_t> l2_parts;
  std::optional<int64_t> l2_part_run;
  std::optional<int64_t> memory_cache_bytes;  // between L2 and DRAM, of all parts
  std::optional<int64_t> l2_ways;
  std::optional<int64_t> l2_line_bytes;
  std::optional<int64_t> l2_set_aside_eighths;  // of L2, for persisting lines, at most
  std::optional<int64_t> shared_memory_block_bytes;

  // The two halves have these, shares from 0 to 1 (sim/halves/parameters.hpp, sim/coalescer.hpp).
  std::optional<int64_t> l2_dirty_ways;
  std::optional<double> l2_reserved_share;
  std::optional<double> l2_scattered_share;
  std::optional<double> l2_running_share;
  std::optional<double> far_first_waiting_share;
  std::optional<double> far_first_running_share;
  std::optional<double> coalescer_waiting_share;
  std::optional<double> coalescer_running_share;
  std::optional<int64_t> coalescer_sms;  // SMs whose requests for one line can merge

  std::optional<double> dram_gb_per_s;  // 10^9 bytes a second
  // How long DRAM must have read so fast until kernels feel it; empty: they do not.
  std::optional<double> dram_window_us;
  std::optional<double> l2_gb_per_s;
  std::optional<double> tile_gb_per_s;  // of one SM, for a tile that its CTA waits for
  std::optional<double> sm_clock_mhz;
  std::optional<double> bf16_tflops;  // dense, tensor cores
  std::optional<double> mma_share;    // of bf16_tflops, what mma.sync reaches; empty: all
  std::optional<double> latency_near_ns;
  std::optional<double> latency_far_ns;
  std::optional<double> latency_dram_ns;

  // The link to another GPU of the host, by the mover.
  LinkRates link_copy;
  LinkRates link_nccl;

  // The timed wavefront has these (docs/models/timed.md says what each does).
  SmLayout layout;
  double sm_spread = 0;  // standard deviation of a GPC's slowness that are drawn
  double launch_ns = 0;  // from the launch to the first CTA's first instruction
  // What a launch from a cold L2 reads beside its tensors: code, constants, parameters.
  int64_t launch_dram_read_sectors = 0;
  int64_t launch_fabric_read_sectors = 0;
  double start_spread_ns = 0;           // from a GPC's first TPC to its last
  double start_uneven_share = 0;        // of that spread: deviation of a GPC and of a TPC
  double refill_ns = 0;                 // from a CTA's end to its successor's first instruction
  std::optional<double> ticket_hop_ns;  // longer way to the ticket counter from the other half
  double power_delay_ms = 0;  // of a load beyond the power limit, until the clock begins to fall
  double power_fall_ms = 0;   // from there on until it stands
};

// A key of the files in experiments/profiles, declared beside the member that it fills: its name,
// what kind of value it takes, between which limits, and which mechanism uses it.

enum class ProfileUnit : uint8_t { count, bytes, real, flag, line, runs, turns, rates };

/// The member that a value goes to.
using ProfilePlace = std::variant<int64_t*, double*, bool*, std::optional<int64_t>*,
                                  std::optional<double>*, std::vector<int64_t>*,
                                  std::vector<TpcRun>*, std::vector<std::vector<int>>*, LinkRates*>;

template <class Profile>
struct ProfileKey {
  std::string_view name;
  ProfileUnit unit;
  // The least and the most of a number: a factor of some ten beyond what GPUs have had, or what
  // the models can take.
  double low;
  double high;
  ProfilePlace (*place)(Profile& profile);
  std::optional<Mechanism> mechanism{};  // switched off, the value is as where no file says it
};

/// The place of a member of `Profile`, or of a member of its member.
template <class Profile, auto... path>
ProfilePlace place_at(Profile& profile) {
  return &(profile.*....*path);
}

}  // namespace sawtooth::sim
