// What is known of a GPU model: plain numbers from experiments/profiles/gpus/NAME.ini, where each
// one stands with its source. An empty value is unknown, and a model that needs it must say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/link.hpp"

namespace sawtooth::sim {

/// TPCs of one GPC to whose SMs CTAs come one after another; `tpcs` 0 stands for all of the GPC.
struct TpcRun {
  int gpc = 0;
  int first_tpc = 0;
  int tpcs = 0;
};

/// Where SMs are and in which order a launch's CTAs come to them. Empty: not recorded.
struct SmLayout {
  std::vector<int64_t> gpc_sms;             // SMs of each GPC
  std::vector<int64_t> gpc_half;            // half of L2 that each sits at, unless the die differs
  std::vector<TpcRun> cta_order;            // a run that comes again gets its second CTAs then
  std::vector<std::vector<int>> tpc_turns;  // of a GPC of so many TPCs: each one's turn to start
};

struct Gpu {
  std::string name;
  int64_t sms = 0;
  int64_t l2_bytes = 0;

  std::optional<int64_t> l2_halves;
  std::optional<int64_t> l2_ways;
  std::optional<int64_t> l2_line_bytes;
  std::optional<int64_t> shared_memory_block_bytes;

  // Of the two-half model, shares from 0 to 1 (sim/halves/parameters.hpp, sim/coalescer.hpp).
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
  std::optional<double> l2_gb_per_s;
  std::optional<double> fabric_gb_per_s;
  std::optional<double> port_gb_per_s;  // of one SM, where all SMs read
  std::optional<double> tile_gb_per_s;  // of one SM, for a tile that its CTA waits for
  std::optional<double> sm_clock_mhz;
  std::optional<double> bf16_tflops;  // dense, tensor cores
  std::optional<double> latency_near_ns;
  std::optional<double> latency_far_ns;
  std::optional<double> latency_dram_ns;

  // The link to another GPU of the host, by the mover.
  LinkRates link_copy;
  LinkRates link_nccl;

  // Of the timed wavefront (docs/models/timed.md says what each does).
  SmLayout layout;
  double sm_spread = 0;  // standard deviation of a GPC's slowness, where the die is not known
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

}  // namespace sawtooth::sim
