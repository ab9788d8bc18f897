// What `sawtooth learn` makes of launches of a kernel that somebody else wrote: from rows of
// `sawtooth record`, with a problem each, a description of the kernel and its costs, and how far
// predictions of other launches are off.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cupti/inject/pass_file.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/teach/fit_costs.hpp"

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
double share_of_l2(const sim::Gpu& gpu, int64_t seq, int64_t head_dim, const std::string& dtype);

/// Options of the point that stand for what was learnt, in the order of the file.
using DescriptionKeys = std::vector<std::pair<std::string, std::string>>;

struct Description {
  std::string launch = "grid", section = "1", q_order = "ascending", scan = "linear";
  int64_t tile_q = 0, tile_kv = 64;
  int64_t workers = 0;  // CTAs of a persistent kernel; 0: a CTA an item
  int64_t ctas_per_sm = 1;
  bool one_dimension = false;  // its grid does not say how heads and Q tiles follow each other
  CtaDrift drift;

  bool persistent() const { return workers > 0; }
  DescriptionKeys keys() const;
  std::string text() const;  // the same for people
};

/// From grids a CTA an item, or CTAs that stay, whose reads by SMs say how many items they took;
/// CTAs an SM by registers, threads and shared memory. `tile_q`, `tile_kv`: given by the user.
/// Throws UsageError where neither fits, with what to give.
Description described(const KernelLaunches& rows, const sim::Gpu& gpu,
                      std::optional<int64_t> tile_q, std::optional<int64_t> tile_kv);

/// All that the launches may have been, which they do not say by themselves: launches of CTAs that
/// stay, Q orders and scans of a masked kernel, how heads follow each other in a grid of one side.
std::vector<Description> possible_orders(const Description& known, bool masked, bool several_heads);

struct LearntKernel {
  Description description;
  std::map<std::string, FittedCosts> costs;  // by mask
  double power_slowness = 0;  // that the longest launch says; 0: none is long enough, or it is none
  double score = 0;           // sum of errors of taught launches, in what equal ones scatter
  std::optional<Description> rival;  // another that fits as well
};

struct LaunchError {
  double predicted_time_us = 0, predicted_dram_reads = 0;
  double time = 0, dram_reads = 0;  // shares
  double over_compulsory = 1;       // measured reads over compulsory ones
};

/// Tries descriptions from `known` on and fits costs a mask. `taught` are launches of `rows`; each
/// mask among them needs at least three. Throws UsageError for what the GPU's profile lacks.
LearntKernel learn_kernel(const KernelLaunches& rows, const std::vector<KernelLaunch>& taught,
                          const Description& known, Catalog& catalog, size_t threads);

/// The launches need not be taught ones; one with a scan of its own is predicted with it.
/// A mask that was not taught has the costs of one that was.
std::vector<LaunchError> errors_of(const KernelLaunches& rows,
                                   const std::vector<KernelLaunch>& launches,
                                   const LearntKernel& learnt, Catalog& catalog, size_t threads);

/// The system file: `simulate --system FILE` takes it.
std::string system_text(const KernelLaunches& rows, const LearntKernel& learnt, size_t taught);

}  // namespace sawtooth::experiments
