// Ring attention forward over several GPUs of one host. Results are summed in float in the kernel's
// epilogue (AttentionForward's `running`).
#pragma once

#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/ring/ring_pass.hpp"

namespace sawtooth::kernels {

struct RingProblem {
  Ring ring;
  /// As of the whole problem on one GPU: what the ring decides (lengths, mask, tensors) is ignored.
  AttentionForward call;
  RingTransfer transfer = RingTransfer::copy;
  /// CUDA device of each rank; one may be named several times, for tests.
  std::vector<int> devices;
};

class RingAttention : public RingPass {
 public:
  /// Makes streams, tensors [batch, heads, rank rows, dim] of each rank and what moves between
  /// them. Throws std::runtime_error, CudaError among them, when that fails.
  explicit RingAttention(const RingProblem& problem);

  /// Device memory of a rank. K and V are its own.
  void* q(int rank) const;
  void* k(int rank) const;
  void* v(int rank) const;
  void* o(int rank) const;
  const float* lse(int rank) const;  // [batch, heads, rank rows]

  /// The call of a rank's step, or null where no row sees its keys.
  const AttentionForward* call(int rank, int64_t step) const;

 private:
  class State;
  State& state() const;
};

}  // namespace sawtooth::kernels
