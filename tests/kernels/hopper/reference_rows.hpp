// The double-precision reference of the Hopper check: sampled rows of O and their log-sum-exp.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/mma/arguments.hpp"

namespace sawtooth::kernels::hopper {

struct ReferenceRows {
  std::vector<double> o;    // [sample, head_dim]
  std::vector<double> lse;  // [sample]; -inf where a row sees no key
};

/// Rows `sample` (flat over batch, head, row) of the attention of `arguments`, on the device.
ReferenceRows reference_rows(const ForwardArguments& arguments, const std::vector<int64_t>& sample,
                             double scale);

}  // namespace sawtooth::kernels::hopper
