// The ladder of attention kernels: five levels, each one step from the last, runnable by number.
// Levels 1 to 4 follow one kernel from plain tensor-core code to ldmatrix; level 5 is
// FlashAttention-1's loop (arXiv 2205.14135). kernels/ladder/README.md tells the story.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/common/device_buffer.hpp"
#include "kernels/ladder/arguments.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels::ladder {

struct Level {
  std::string_view name;
  Loop loop = Loop::kv_inner;
};

/// Level 1 comes first.
std::span<const Level> levels();

/// Why a level cannot run `problem`, as one sentence; empty when it can. The levels take bf16 and
/// fp16, head dim 128, equal lengths that are a multiple of 64, heads = kv-heads and no mask.
std::string refusal(int level, const Problem& problem);

/// Enqueues level `level` on `stream`. Tensors as in Arguments; `lse` is needed by level 5 only.
/// Throws std::invalid_argument with refusal() and CudaError.
void launch(int level, const Problem& problem, const Arguments& arguments, cudaStream_t stream);

/// What the compiler and the launch make of a level on the current device.
struct Footprint {
  int registers = 0;         // a thread
  int64_t spill_bytes = 0;   // local memory a thread
  int64_t shared_bytes = 0;  // a CTA
  int ctas_per_sm = 0;
};
/// Throws CudaError without a device.
Footprint footprint(int level, ElementType type);

// A problem of the ladder on the device: random inputs, launches, and the error of the output
// against the double-precision reference.

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
