// Ring attention over several GPUs of one host, forward and backward.
#pragma once

#include <vector>

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

/// Results are summed in float in the kernel's epilogue (AttentionForward's `running`).
class RingAttention : public RingPass {
 public:
  /// Makes streams, tensors of each rank and what moves between them. Throws std::runtime_error,
  /// CudaError among them, when that fails.
  explicit RingAttention(const RingProblem& problem);
  ~RingAttention() override { wait_for_all(); }

  RingTensors tensors(int rank) const;

  /// The call of a rank's step, or null where no row sees its keys.
  const AttentionForward* call(int rank, int64_t step) const;

 private:
  /// What one GPU does in a step.
  struct Step {
    bool works = false;
    AttentionForward call;
    AttentionPlan plan;
  };
  struct RankTensors {
    DeviceBuffer q, o, running_o, lse, workspace;
    std::vector<Step> steps;
  };

  void add_tensors(RankTensors& tensors) const;
  void prepare_steps(const AttentionForward& whole, int number);
  void enqueue_call(int64_t step, int number) override;

  std::vector<RankTensors> tensors_;
};

/// K and V travel as in the forward pass. A rank computes with each of them by one
/// attention_backward, whose log-sum-exp and sums of dO * O are those of all keys. What that leaves
/// of dQ is added to the rank's sum; what it leaves of dK and dV goes back to the rank that owns
/// the keys while the next step computes, and is added there. Parts are of the element type, as
/// attention_backward writes them; sums are float.
class RingAttentionBackward : public RingPass {
 public:
  /// The same, and runs one pass of whatever the memory holds.
  explicit RingAttentionBackward(const RingBackwardProblem& problem);
  ~RingAttentionBackward() override { wait_for_all(); }

  RingTensors tensors(int rank) const;

  /// The call of a rank's step, or null where no row sees its keys.
  const AttentionBackward* call(int rank, int64_t step) const;

 private:
  /// What one GPU does in a step.
  struct Step {
    bool works = false;
    RingCall part;
    AttentionBackward call;
    Event computed;                // dK and dV of the step's keys
    Event return_begin, returned;  // what came back behind the step
  };
  struct RankTensors {
    DeviceBuffer q, o, d_o, lse, workspace;
    DeviceBuffer later_lse;   // of the second chunk of rows, where calls have it alone
    DeviceBuffer dq, dkv[2];  // the gradients
    DeviceBuffer dq_part, dkv_part[2][2], came_back[2][2];  // of two steps in turn
    DeviceBuffer dq_sums, dkv_sums[2];
    std::vector<Step> steps;
  };

  void add_tensors(RankTensors& tensors) const;
  void prepare_steps(const AttentionBackward& whole, int number);
  void add_keys_part(int number, const RingReturn& part, const DeviceBuffer* from);
  bool has_later_calls() const {
    return ring_.ranks > 1 && ring_.layout == RingLayout::zigzag && ring_.mask == MaskKind::causal;
  }
  Step& step_of(int number, int64_t step) {
    return tensors_[std::size_t(number)].steps[std::size_t(step)];
  }

  bool has_returns() const override { return ring_.ranks > 1; }
  void enqueue_call(int64_t step, int number) override;
  void enqueue_returns(int64_t step, const std::vector<int>& to) override;
  void enqueue_additions(int64_t step, int number) override;
  double returns_ms(int64_t step, int number) const override;

  std::vector<RankTensors> tensors_;
};

/// Adds `part`, [heads, rows.size(), dim], to those rows of `sums`, [heads, head_rows, dim]: in
/// float, as gradients come in parts, those of dQ from the keys of one rank after another, those of
/// dK and dV from the rows of one rank after another.
struct GradientPart {
  const void* part = nullptr;
  float* sums = nullptr;
  void* total = nullptr;  // laid out as the sums; null: not now
  int64_t heads = 0;      // of all batches
  int64_t head_rows = 0;
  Range rows;
  int64_t head_dim = 0;
  ElementType dtype = ElementType::bf16;  // of the part and of the total
  bool begins = false;                    // what lies in the sums is overwritten, not added to
};

/// Enqueues it. Throws CudaError.
void add_gradient_part(const GradientPart& part, cudaStream_t stream);

}  // namespace sawtooth::kernels
