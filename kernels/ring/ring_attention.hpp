// Ring attention forward over several GPUs of one host, in one process: each GPU is a rank that
// keeps its rows of Q and takes the K and V of one other rank a step, while it computes with those
// of the step before. Results are summed in float in the kernel's epilogue (AttentionForward's
// `running`). Which rows meet which keys: scheduler/ring.hpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "scheduler/ring.hpp"

namespace sawtooth::kernels {

/// Who moves K and V: the copy engines of the GPUs, which take no SM, or NCCL, whose send and
/// receive run on SMs.
enum class RingTransfer : uint8_t { copy, nccl };

/// Whether this build has NCCL.
bool has_nccl();

struct RingProblem {
  Ring ring;
  /// As of the whole problem on one GPU: what the ring decides (lengths, mask, tensors) is ignored.
  AttentionForward call;
  RingTransfer transfer = RingTransfer::copy;
  /// CUDA device of each rank; one may be named several times, for tests.
  std::vector<int> devices;
};

/// Times of one run, ms.
struct RingTimes {
  double whole = 0;  // from the start of all to the end of all
  /// [rank][step]: computing in the step, moving the K and V of the step (0 for step 0), and from
  /// the end of the call before until they are there.
  std::vector<std::vector<double>> compute, transfer, exposed;
};

class RingAttention {
 public:
  /// Makes streams, tensors [batch, heads, rank rows, dim] of each rank and what moves between
  /// them. Throws std::runtime_error, CudaError among them, when that fails.
  explicit RingAttention(const RingProblem& problem);
  ~RingAttention();
  RingAttention(const RingAttention&) = delete;
  RingAttention& operator=(const RingAttention&) = delete;

  /// Device memory of a rank. K and V are its own.
  void* q(int rank) const;
  void* k(int rank) const;
  void* v(int rank) const;
  void* o(int rank) const;
  const float* lse(int rank) const;  // [batch, heads, rank rows]

  /// The call of a rank's step, or null where no row sees its keys.
  const AttentionForward* call(int rank, int64_t step) const;

  /// One whole forward pass; waits. With `steps` also the times of all steps are read.
  RingTimes run(bool steps = false);
  /// One step of some ranks, with the transfers to them that run beside it; waits. Whole passes of
  /// all ranks, step by step, compute what run() does. By NCCL all ranks take part.
  void run_step(int64_t step, const std::vector<int>& ranks);
  /// All transfers of a pass alone, without computing, ms.
  double transfer_alone();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sawtooth::kernels
