// Ring attention forward over several GPUs of one host. Results are summed in float in the kernel's
// epilogue (AttentionForward's `running`).
#pragma once

#include <memory>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/backward.hpp"
#include "scheduler/ring.hpp"

namespace sawtooth::kernels {

// What both passes of ring attention have: ranks on GPUs of one host, in one process, each of which
// keeps its rows of Q and takes the K and V of one other rank a step, while it computes with those
// of the step before. Which rows meet which keys: scheduler/ring.hpp.

class RingSteps;

/// Who moves tensors: the copy engines of the GPUs, which take no SM, or NCCL, whose send and
/// receive run on SMs.
enum class RingTransfer : uint8_t { copy, nccl };

/// Whether this build has NCCL.
bool has_nccl();

/// Times of one run, ms.
struct RingTimes {
  double whole = 0;  // from the start of all to the end of all
  /// [rank][step]: computing in the step, moving what comes to the rank in it (K and V, none in
  /// step 0, and gradients), and from the end of the call before until K and V are there; of the
  /// last step also what the rank does behind its call, waiting for gradients and adding them.
  std::vector<std::vector<double>> compute, transfer, exposed;
};

class RingPass {
 public:
  RingPass(const RingPass&) = delete;
  RingPass& operator=(const RingPass&) = delete;

  /// One whole pass; waits. With `steps` also the times of all steps are read.
  RingTimes run(bool steps = false);
  /// One step of some ranks, with the transfers to them that run beside it; waits. Whole passes of
  /// all ranks, step by step and with `finish`, compute what run() does. By NCCL all ranks take
  /// part.
  void run_step(int64_t step, const std::vector<int>& ranks);
  /// What is left for some ranks when all ranks have run their last step; waits.
  void finish(const std::vector<int>& ranks);

 protected:
  explicit RingPass(std::unique_ptr<RingSteps> steps);
  ~RingPass();

  std::unique_ptr<RingSteps> steps_;
};

// How tensors come to a rank: K and V of each step from the rank that owns them, and of a backward
// pass dK and dV back to it; on the transfer stream.

/// From where to where two tensors go, K and V or dK and dV, `bytes` of each.
struct RingMove {
  int from_rank = 0;
  int to_rank = 0;
  const void* from[2] = {};
  void* to[2] = {};
  std::size_t bytes = 0;
};

class RingMover {
 public:
  virtual ~RingMover() = default;
  /// Enqueues moves of one step, each on the stream of the rank that it goes to.
  virtual void move(const std::vector<RingMove>& moves) = 0;
};

/// Copies by peer access; `streams` are those of the ranks.
std::unique_ptr<RingMover> copy_mover(const std::vector<int>& devices,
                                      const std::vector<CUstream_st*>& streams);
/// Throws std::runtime_error where this build has no NCCL, or its library is not found.
std::unique_ptr<RingMover> nccl_mover(const std::vector<int>& devices,
                                      const std::vector<CUstream_st*>& streams);

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
