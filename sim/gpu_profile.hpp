// What a model knows of a GPU: plain numbers from experiments/profiles/gpus/NAME.ini, where each
// one stands with its source. An empty value is unknown, and a model that needs it must say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sawtooth::sim {

struct GpuProfile {
  std::string name;
  int64_t sms = 0;
  int64_t l2_bytes = 0;

  std::optional<int64_t> l2_halves;
  std::optional<int64_t> l2_slices;
  std::optional<int64_t> l2_ways;
  std::optional<int64_t> l2_line_bytes;
  std::optional<int64_t> l2_shared_kept_bytes;   // one half keeps of what every SM reads
  std::optional<int64_t> l2_private_kept_bytes;  // all keep of what one SM reads

  // Of the two-half model, shares from 0 to 1 (sim/halves/parameters.hpp,
  // sim/halves/coalescer.hpp).
  std::optional<double> l2_reserved_share;
  std::optional<double> l2_scattered_share;
  std::optional<double> far_first_waiting_share;
  std::optional<double> far_first_running_share;
  std::optional<double> coalescer_waiting_share;
  std::optional<double> coalescer_running_share;

  std::optional<double> dram_gb_per_s;  // 10^9 bytes a second
  std::optional<double> l2_gb_per_s;
  std::optional<double> fabric_gb_per_s;
  std::optional<double> sm_clock_mhz;
  std::optional<double> bf16_tflops;  // dense, tensor cores
  std::optional<double> latency_near_ns;
  std::optional<double> latency_far_ns;
  std::optional<double> latency_dram_ns;

  // Of the timed wavefront (docs/timed-wavefront.md says what each does).
  std::optional<int64_t> coalescer_sms;       // SMs whose requests for one line can merge
  std::optional<double> port_gb_per_s;        // of one SM
  std::optional<double> step_tensor_tflops;   // of the whole GPU, as a kernel's steps reach it
  std::optional<double> step_exp_tera_per_s;  // exponentials of the whole GPU
  std::optional<double> step_fixed_ns;
  std::optional<double> step_exposed_ns;
  std::optional<double> step_jitter;
  std::optional<double> step_jitter_shared;       // up to head dim 64
  std::optional<double> step_jitter_shared_wide;  // beyond
  std::optional<double> step_jitter_in_step;      // of CTAs that alternate
  std::optional<double> item_begin_ns;
  std::optional<double> item_end_ns;
  std::optional<double> item_spread_ns;  // of an item, from a GPC's first TPC to its last
  std::optional<double> prefetch_step_ns;
  std::optional<double> prefetch_lines_ns;
  std::optional<double> prefetch_step_shared_ns;   // of CTAs that share an SM
  std::optional<double> prefetch_lines_shared_ns;  // the same
  std::optional<double> prefetch_lines_bias;       // of a CTA with lines beside one without
  std::optional<double> sm_spread;
  std::optional<double> tpc_spread;
  std::optional<double> tpc_spread_prefetch;  // of kernels that prefetch
  std::optional<double> age_bias;             // of kernels/mma up to head dim 64
  std::optional<double> age_bias_wide;        // beyond
  std::optional<double> age_bias_prefetch;    // of kernels that prefetch
  std::optional<double> launch_ns;
  std::optional<double> start_spread_ns;
  std::optional<double> ticket_hop_ns;  // longer way to the ticket counter from the other half
  std::optional<double> refill_ns;

  // Of one die (experiments/sawtooth/inputs/die_file.hpp), in the order in which CTAs come to SMs.
  std::vector<double> sm_slowness;          // slower than the mean by this share; empty: not known
  std::vector<double> sm_slowness_older;    // the same of the older one of two CTAs
  std::vector<double> sm_slowness_younger;  // and of the younger one; both empty: as alone
  std::vector<int> cta_half;                // half of L2 that each SM sits at; empty: not known
  std::optional<int64_t> ticket_half;       // half of L2 that the ticket counter lies in

  std::optional<int64_t> shared_memory_block_bytes;
  std::optional<int64_t> registers_per_sm;
  std::optional<int64_t> threads_per_sm;
};

}  // namespace sawtooth::sim
