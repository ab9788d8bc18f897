// Ring attention forward over several GPUs of one host. Results are summed in float in the kernel's
// epilogue (AttentionForward's `running`).
#pragma once

#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/backward.hpp"
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

// Ring attention backward over several GPUs of one host. K and V travel as in the forward pass. A
// rank computes with each of them by one attention_backward, whose log-sum-exp and sums of dO * O
// are those of all keys. What that leaves of dQ is added to the rank's sum; what it leaves of dK
// and dV goes back to the rank that owns the keys while the next step computes, and is added there.
// Parts are of the element type, as attention_backward writes them; sums are float.

struct RingBackwardProblem {
  Ring ring;
  /// As of the whole problem on one GPU: what the ring decides (lengths, mask, tensors) is ignored.
  AttentionBackward call;
  RingTransfer transfer = RingTransfer::copy;
  /// CUDA device of each rank; one may be named several times, for tests.
  std::vector<int> devices;
};

class RingAttentionBackward : public RingPass {
 public:
  /// Makes streams, tensors [batch, heads, rank rows, dim] of each rank and what moves between
  /// them, and runs one pass of whatever the memory holds. Throws std::runtime_error, CudaError
  /// among them, when that fails.
  explicit RingAttentionBackward(const RingBackwardProblem& problem);

  /// Device memory of a rank: what the forward pass had and left, and dO.
  void* q(int rank) const;
  void* k(int rank) const;
  void* v(int rank) const;
  void* o(int rank) const;
  void* d_o(int rank) const;
  float* lse(int rank) const;  // [batch, heads, rank rows]
  /// And the gradients.
  void* dq(int rank) const;
  void* dk(int rank) const;
  void* dv(int rank) const;

  /// The call of a rank's step, or null where no row sees its keys.
  const AttentionBackward* call(int rank, int64_t step) const;

 private:
  class State;
  State& state() const;
};

}  // namespace sawtooth::kernels
