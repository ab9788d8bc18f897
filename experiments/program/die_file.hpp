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
// launch's CTAs come to SMs, `cta-half` the half of L2 that each of these SMs sits at, and
// `ticket-half` the half that tickets are drawn in. `sm-half` (the half of each SM, by SM id) is
// not read by any model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sawtooth::experiments {

struct DieFile {
  std::vector<double> sm_slowness;  // empty: not known
  std::vector<int> cta_half;        // the same
  std::optional<int64_t> ticket_half;
};

/// Throws UsageError with file, line and what is allowed.
DieFile read_die_file(const std::string& path);

}  // namespace sawtooth::experiments
