// Reads what is a fact of one GPU and not of its kind, from a file beside the measurements of it:
//
//   [die]
//   name = NVIDIA H200
//   [sm-slowness]
//   value = 0.0004,0.0004,-0.0012 ...
//   source = measured
//   note = how
//
// `sm-slowness` has the share by which each SM is slower than the mean, in the order in which a
// launch's CTAs come to SMs; [sm-slowness d64-128x128] has it for one kernel of kernels/mma, and
// sm-slowness-older and -younger for the two CTAs that share an SM. `cta-half` has the half of L2
// that each of these SMs sits at, and `ticket-half` the half that tickets are drawn in. `sm-half`
// (the half of each SM, by SM id) is not read by any model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/sawtooth/inputs/kernel_shape.hpp"

namespace sawtooth::experiments {

/// Shares, an SM each; empty: not known.
struct SmSpeeds {
  std::vector<double> slowness;
  std::vector<double> older;
  std::vector<double> younger;
};

struct DieFile {
  SmSpeeds speeds;
  std::vector<std::pair<KernelShape, SmSpeeds>> of_kernels;
  std::vector<int> cta_half;  // empty: not known
  std::optional<int64_t> ticket_half;
};

/// What `die` knows of this kernel of kernels/mma, and where it knows nothing, what it knows of
/// all.
SmSpeeds speeds_of(const DieFile& die, int64_t head_dim, const Tiling& tiling);

/// Throws UsageError with file, line and what is allowed.
DieFile read_die_file(const std::string& path);

}  // namespace sawtooth::experiments
