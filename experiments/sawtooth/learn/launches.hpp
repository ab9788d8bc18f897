// Launches of a kernel that somebody else wrote, as `sawtooth learn` reads them from rows of
// `sawtooth record` with a problem each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cupti/inject/pass_file.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "sim/gpu.hpp"

namespace sawtooth::experiments {

/// What the program was told.
struct LearnProblem {
  int64_t seq = 0, heads = 1, kv_heads = 1;
  std::string mask = "none";
  std::string scan;  // of a launch that had another than the kernel's usual one

  bool operator==(const LearnProblem&) const = default;
};

/// Medians over the launches of one problem but the first, which loads the kernel.
struct KernelLaunch {
  LearnProblem problem;
  inject::Extent grid{}, block{};
  int64_t shared_bytes = 0;  // a CTA
  int64_t registers = 0;     // a thread
  double time_us = 0;
  double sm_read_sectors = 0, dram_read_sectors = 0;
  int line = 0;
};

struct KernelLaunches {
  std::string path, kernel, gpu, dtype;  // `kernel`: its name
  int64_t head_dim = 0;
  std::vector<KernelLaunch> launches;  // a problem each
};

/// Rows of one problem stand together. Throws UsageError that names the line, and what is missing:
/// gpu, seq_q, head_dim, grid, block, registers, shared_bytes, time_us, sm_read_sectors and
/// dram_read_sectors are needed; heads, kv_heads, mask, dtype and scan have defaults.
KernelLaunches read_launches(const CsvTable& table);

/// Bytes of K and V of a head over those of L2 (of a half where it has two) that a CTA reads first.
double share_of_l2(const sim::Gpu& gpu, int64_t seq, int64_t head_dim, int64_t element_bytes);

}  // namespace sawtooth::experiments
