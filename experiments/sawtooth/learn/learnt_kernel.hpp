// A kernel's description with its costs, learnt from some of its launches, and how far predictions
// of launches are off.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/learn/description.hpp"

namespace sawtooth::experiments {

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

/// Of launches that need not be taught ones; a launch with a scan of its own is predicted with it.
/// A mask that was not taught has the costs of one that was.
std::vector<LaunchError> errors_of(const KernelLaunches& rows,
                                   const std::vector<KernelLaunch>& launches,
                                   const LearntKernel& learnt, Catalog& catalog, size_t threads);

/// The system file: `simulate --system FILE` takes it.
std::string system_text(const KernelLaunches& rows, const LearntKernel& learnt, size_t taught);

}  // namespace sawtooth::experiments
