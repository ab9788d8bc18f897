#include <algorithm>

#include "kernels/ring/ring_attention.hpp"
#include "kernels/ring/ring_steps.hpp"

namespace sawtooth::kernels {
namespace {

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

}  // namespace

class RingAttentionBackward::State : public RingSteps {
 public:
  explicit State(const RingBackwardProblem& problem)
      : RingSteps(problem.ring, problem.devices, problem.transfer,
                  kv_bytes(problem.ring, problem.call.problem)),
        problem_(problem.call.problem),
        tensors_(std::size_t(problem.ring.ranks)) {
    for (int number = 0; number < problem.ring.ranks; ++number) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
      add_tensors(number, int64_t(kv_bytes(problem.ring, problem_)));
      prepare_steps(problem.call, number);
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(problem.devices.front()));
  }

  RankTensors& tensors(int number) { return tensors_[std::size_t(number)]; }
  const RankTensors& tensors(int number) const { return tensors_[std::size_t(number)]; }
  const Step& step_of(int number, int64_t step) const {
    return tensors(number).steps[std::size_t(step)];
  }

 protected:
  bool has_returns() const override { return ring().ranks > 1; }
  void enqueue_call(int64_t step, int number) override;
  void enqueue_returns(int64_t step, const std::vector<int>& to) override;
  void enqueue_additions(int64_t step, int number) override;
  double returns_ms(int64_t step, int number) const override {
    RingReturn part;
    if (step == 0 || !ring().return_of(number, step, part)) return 0;
    const Step& here = step_of(number, step);
    return ms_between(here.return_begin, here.returned);
  }

 private:
  void add_tensors(int number, int64_t kv_bytes);
  void prepare_steps(const AttentionBackward& whole, int number);
  void add_keys_part(int number, const RingReturn& part, const DeviceBuffer* from);
  bool has_later_calls() const {
    return ring().ranks > 1 && ring().layout == RingLayout::zigzag &&
           ring().mask == MaskKind::causal;
  }

  Problem problem_;
  std::vector<RankTensors> tensors_;
};

void RingAttentionBackward::State::add_tensors(int number, int64_t kv_bytes) {
  RankTensors& tensors = this->tensors(number);
  constexpr int64_t float_bytes = sizeof(float);
  const int64_t rows = problem_.batch * problem_.heads * ring().rank_rows();
  const int64_t q_bytes = rows * problem_.row_bytes();
  for (DeviceBuffer* const buffer : {&tensors.q, &tensors.o, &tensors.d_o, &tensors.dq})
    *buffer = DeviceBuffer(q_bytes);
  tensors.lse = DeviceBuffer(rows * float_bytes);
  for (DeviceBuffer& gradient : tensors.dkv) gradient = DeviceBuffer(kv_bytes);
  tensors.steps = std::vector<Step>(std::size_t(ring().ranks));
  if (ring().ranks == 1) return;
  if (has_later_calls()) tensors.later_lse = DeviceBuffer(rows / 2 * float_bytes);
  tensors.dq_part = DeviceBuffer(q_bytes);
  tensors.dq_sums = DeviceBuffer(rows * problem_.head_dim * float_bytes);
  for (int tensor = 0; tensor < 2; ++tensor) {
    tensors.dkv_sums[tensor] =
        DeviceBuffer(kv_bytes / problem_.row_bytes() * problem_.head_dim * float_bytes);
    for (int turn = 0; turn < 2; ++turn) {
      tensors.dkv_part[turn][tensor] = DeviceBuffer(kv_bytes);
      tensors.came_back[turn][tensor] = DeviceBuffer(kv_bytes);
    }
  }
}

/// The rank's calls share a workspace, as they follow each other on one stream.
void RingAttentionBackward::State::prepare_steps(const AttentionBackward& whole, int number) {
  RankTensors& tensors = this->tensors(number);
  std::size_t workspace = 0;
  const bool alone = ring().ranks == 1;
  for (std::size_t at = 0; at < tensors.steps.size(); ++at) {
    Step& step = tensors.steps[at];
    const RingCall& part = step.part;
    step.works = ring().call_of(number, int64_t(at), step.part);
    if (!step.works) continue;
    AttentionBackward& call = step.call;
    call = part_of(whole, ring(), part, tensors.q, rank(number).kv_of(int64_t(at)));
    call.d_o_strides = call.q_strides;
    call.dq_strides = call.dk_strides = call.dv_strides = {};  // parts have no gaps
    call.o = row_of(tensors.o, problem_, part.q_rows);
    call.d_o = row_of(tensors.d_o, problem_, part.q_rows);
    call.lse = (part.q_rows.begin > 0 ? tensors.later_lse : tensors.lse).as<float>();
    call.dq = (alone ? tensors.dq : tensors.dq_part).as();
    call.dk = (alone ? tensors.dkv[0] : tensors.dkv_part[at % 2][0]).as();
    call.dv = (alone ? tensors.dkv[1] : tensors.dkv_part[at % 2][1]).as();
    require(check(call));
    workspace = std::max(workspace, workspace_bytes(call));
  }
  tensors.workspace = zeroed(workspace);
}

/// Where two steps ago the same buffers took dK and dV, these must have left.
void RingAttentionBackward::State::enqueue_call(int64_t step, int number) {
  RankTensors& tensors = this->tensors(number);
  const cudaStream_t stream = rank(number).compute.stream;
  Step& here = tensors.steps[std::size_t(step)];
  if (step == 0 && has_later_calls()) {
    const auto bytes = std::size_t(ring().chunk_rows()) * sizeof(float);
    SAWTOOTH_CUDA_CHECK(cudaMemcpy2DAsync(
        tensors.later_lse.as(), bytes, tensors.lse.as<char>() + bytes, 2 * bytes, bytes,
        std::size_t(problem_.batch * problem_.heads), cudaMemcpyDeviceToDevice, stream));
  }
  if (!here.works) return;
  if (step > 2) {
    const auto owner = int(ring().source(number, step - 2));
    SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(stream, step_of(owner, step - 2).returned.event));
  }
  require(attention_backward(here.call, tensors.workspace.as(),
                             std::size_t(tensors.workspace.bytes()), stream));
  if (ring().ranks == 1) return;
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(here.computed.event, stream));
  add_gradient_part({.part = tensors.dq_part.as(),
                     .sums = tensors.dq_sums.as<float>(),
                     .total = here.part.finishes ? tensors.dq.as() : nullptr,
                     .heads = problem_.batch * problem_.heads,
                     .head_rows = ring().rank_rows(),
                     .rows = here.part.q_rows,
                     .head_dim = problem_.head_dim,
                     .dtype = problem_.dtype,
                     .begins = here.part.begins},
                    stream);
  RingReturn own;
  if (step == 0 && ring().return_of(number, 0, own))
    add_keys_part(number, own, tensors.dkv_part[0]);
}

void RingAttentionBackward::State::add_keys_part(int number, const RingReturn& part,
                                                 const DeviceBuffer* from) {
  RankTensors& tensors = this->tensors(number);
  for (int tensor = 0; tensor < 2; ++tensor)
    add_gradient_part({.part = from[tensor].as(),
                       .sums = tensors.dkv_sums[tensor].as<float>(),
                       .total = part.finishes ? tensors.dkv[tensor].as() : nullptr,
                       .heads = problem_.batch * problem_.kv_heads,
                       .head_rows = ring().rank_rows(),
                       .rows = part.kv_rows,
                       .head_dim = problem_.head_dim,
                       .dtype = problem_.dtype,
                       .begins = part.begins},
                      rank(number).compute.stream);
}

/// A buffer is written when what came back two steps ago has been added, behind the call of the
/// step before.
void RingAttentionBackward::State::enqueue_returns(int64_t step, const std::vector<int>& to) {
  if (step == 0) return;
  std::vector<RingMove> moves;
  for (const int number : to) {
    RingReturn part;
    if (!ring().return_of(number, step, part)) continue;
    const auto from = int(part.rank);
    RankTensors& owner = tensors(number);
    RankTensors& other = tensors(from);
    Step& here = owner.steps[std::size_t(step)];
    const cudaEvent_t computed = step_of(from, step).computed.event;
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(from).device));
    SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(rank(from).transfer.stream, computed));
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
    const cudaStream_t stream = rank(number).transfer.stream;
    SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(stream, computed));
    SAWTOOTH_CUDA_CHECK(
        cudaStreamWaitEvent(stream, rank(number).steps[std::size_t(step - 1)].compute_end.event));
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(here.return_begin.event, stream));
    const DeviceBuffer* const source = other.dkv_part[step % 2];
    const DeviceBuffer* const target = owner.came_back[step % 2];
    moves.push_back({from,
                     number,
                     {source[0].as(), source[1].as()},
                     {target[0].as(), target[1].as()},
                     std::size_t(problem_.batch * problem_.kv_heads * part.kv_rows.size() *
                                 problem_.row_bytes())});
  }
  enqueue_moves(moves);
  for (const RingMove& move : moves) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(move.to_rank).device));
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(step_of(move.to_rank, step).returned.event,
                                        rank(move.to_rank).transfer.stream));
  }
}

void RingAttentionBackward::State::enqueue_additions(int64_t step, int number) {
  RingReturn part;
  if (step == 0 || !ring().return_of(number, step, part)) return;
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
  SAWTOOTH_CUDA_CHECK(
      cudaStreamWaitEvent(rank(number).compute.stream, step_of(number, step).returned.event));
  add_keys_part(number, part, tensors(number).came_back[step % 2]);
}

RingAttentionBackward::RingAttentionBackward(const RingBackwardProblem& problem)
    : RingPass(std::make_unique<State>(problem)) {
  // A kernel is loaded by its first launch on a device, which may wait for what runs there: not
  // behind the gate of `RingSteps::run`.
  std::vector<int> all;
  for (int rank = 0; rank < problem.ring.ranks; ++rank) all.push_back(rank);
  for (int64_t step = 0; step < problem.ring.ranks; ++step) run_step(step, all);
  finish(all);
}

RingAttentionBackward::State& RingAttentionBackward::state() const {
  return static_cast<State&>(*steps_);
}

RingTensors RingAttentionBackward::tensors(int rank) const {
  const RankTensors& own = state().tensors(rank);
  const DeviceBuffer* const kv = state().rank(rank).own;
  return {.q = own.q.as(),
          .k = kv[0].as(),
          .v = kv[1].as(),
          .o = own.o.as(),
          .lse = own.lse.as<float>(),
          .d_o = own.d_o.as(),
          .dq = own.dq.as(),
          .dk = own.dkv[0].as(),
          .dv = own.dkv[1].as()};
}

const AttentionBackward* RingAttentionBackward::call(int rank, int64_t step) const {
  const Step& of_step = state().step_of(rank, step);
  return of_step.works ? &of_step.call : nullptr;
}

}  // namespace sawtooth::kernels
