// Ring attention forward over several GPUs of one host. Results are summed in float in the kernel's
// epilogue (AttentionForward's `running`).
#pragma once

#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/backward.hpp"
#include "kernels/ring/ring_pass.hpp"

namespace sawtooth::kernels {

template <class Call>
struct RingProblemOf {
  Ring ring;
  /// As of the whole problem on one GPU: what the ring decides (lengths, mask, tensors) is ignored.
  Call call;
  RingTransfer transfer = RingTransfer::copy;
  /// CUDA device of each rank; one may be named several times, for tests.
  std::vector<int> devices;
};
using RingProblem = RingProblemOf<AttentionForward>;
using RingBackwardProblem = RingProblemOf<AttentionBackward>;

/// Device memory of a rank, [batch, heads, rank rows, dim], log-sum-exp without the last. K and V
/// are its own; those of the backward pass alone are null in the forward pass.
struct RingTensors {
  void *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr;
  float* lse = nullptr;
  void *d_o = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr;
};

class RingAttention : public RingPass {
 public:
  /// Makes streams, tensors of each rank and what moves between them. Throws std::runtime_error,
  /// CudaError among them, when that fails.
  explicit RingAttention(const RingProblem& problem);

  RingTensors tensors(int rank) const;

  /// The call of a rank's step, or null where no row sees its keys.
  const AttentionForward* call(int rank, int64_t step) const;

 private:
  class State;
  State& state() const;
};

// Ring attention backward over several GPUs of one host. K and V travel as in the forward pass. A
// rank computes with each of them by one attention_backward, whose log-sum-exp and sums of dO * O
// are those of all keys. What that leaves of dQ is added to the rank's sum; what it leaves of dK
// and dV goes back to the rank that owns the keys while the next step computes, and is added there.
// Parts are of the element type, as attention_backward writes them; sums are float.

class RingAttentionBackward : public RingPass {
 public:
  /// The same, and runs one pass of whatever the memory holds.
  explicit RingAttentionBackward(const RingBackwardProblem& problem);

  RingTensors tensors(int rank) const;

  /// The call of a rank's step, or null where no row sees its keys.
  const AttentionBackward* call(int rank, int64_t step) const;

 private:
  class State;
  State& state() const;
};

}  // namespace sawtooth::kernels
