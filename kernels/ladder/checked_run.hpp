// A problem of the ladder on the device: random inputs, launches, and the error of the output
// against the double-precision reference.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common/device_buffer.hpp"
#include "kernels/ladder/ladder.hpp"

namespace sawtooth::kernels::ladder {

class CheckedRun {
 public:
  /// Allocates and fills Q, K and V with normal deviates of `seed`, rounded to the element type.
  /// Throws std::invalid_argument where refusal(1, problem) says why.
  CheckedRun(const Problem& problem, uint64_t seed);

  void launch(int level, cudaStream_t stream = nullptr) const;

  struct Error {
    double output = 0;  // ||O - reference|| / ||reference||
    double lse = 0;     // largest difference of the log-sum-exp; 0 but for level 5
  };
  /// Fills the outputs with NaN, runs `level` and compares `tiles` Q tiles, drawn without
  /// replacement from `seed`; all of them when there are no more. A value left NaN gives NaN.
  Error check(int level, int64_t tiles, uint64_t seed) const;

 private:
  Problem problem_;
  std::vector<float> q_, k_, v_;  // what the device has, for the reference
  DeviceBuffer device_q_, device_k_, device_v_, device_o_, device_lse_;
  Arguments arguments_;
};

/// Largest Error::output that passes. One rounding of P and O for levels 1 to 4; level 5 rounds O
/// once a K/V tile, and the rounding of tile j of n weighs j / n in the end, so that the sum of
/// squares grows by the factor n / 3.
double allowed_error(int level, const Problem& problem);
inline constexpr double allowed_lse_error = 1e-3;  // natural logarithm, float sums

}  // namespace sawtooth::kernels::ladder
