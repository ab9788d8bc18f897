#include <algorithm>

#include "kernels/ring/ring_attention.hpp"

namespace sawtooth::kernels {

RingAttentionBackward::RingAttentionBackward(const RingBackwardProblem& problem)
    : RingPass(problem.ring, problem.call.problem, problem.devices, problem.transfer),
      tensors_(std::size_t(problem.ring.ranks)) {
  for (const int number : all_ranks()) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
    add_tensors(tensors_[std::size_t(number)]);
    prepare_steps(problem.call, number);
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(problem.devices.front()));
  // A kernel is loaded by its first launch on a device, which may wait for what runs there: not
  // behind the gate of `run`.
  for (int64_t step = 0; step < problem.ring.ranks; ++step) run_step(step, all_ranks());
  finish(all_ranks());
}

void RingAttentionBackward::add_tensors(RankTensors& tensors) const {
  const auto kv_size = int64_t(kv_bytes());
  constexpr int64_t float_bytes = sizeof(float);
  const int64_t rows = problem_.batch * problem_.heads * ring_.rank_rows();
  const int64_t q_bytes = rows * problem_.row_bytes();
  for (DeviceBuffer* const buffer : {&tensors.q, &tensors.o, &tensors.d_o, &tensors.dq})
    *buffer = DeviceBuffer(q_bytes);
  tensors.lse = DeviceBuffer(rows * float_bytes);
  for (DeviceBuffer& gradient : tensors.dkv) gradient = DeviceBuffer(kv_size);
  tensors.steps = std::vector<Step>(std::size_t(ring_.ranks));
  if (ring_.ranks == 1) return;
  if (has_later_calls()) tensors.later_lse = DeviceBuffer(rows / 2 * float_bytes);
  tensors.dq_part = DeviceBuffer(q_bytes);
  tensors.dq_sums = DeviceBuffer(rows * problem_.head_dim * float_bytes);
  for (int tensor = 0; tensor < 2; ++tensor) {
    tensors.dkv_sums[tensor] =
        DeviceBuffer(kv_size / problem_.row_bytes() * problem_.head_dim * float_bytes);
    for (int turn = 0; turn < 2; ++turn) {
      tensors.dkv_part[turn][tensor] = DeviceBuffer(kv_size);
      tensors.came_back[turn][tensor] = DeviceBuffer(kv_size);
    }
  }
}

/// The rank's calls share a workspace, as they follow each other on one stream.
void RingAttentionBackward::prepare_steps(const AttentionBackward& whole, int number) {
  RankTensors& tensors = tensors_[std::size_t(number)];
  std::size_t workspace = 0;
  const bool alone = ring_.ranks == 1;
  for (std::size_t at = 0; at < tensors.steps.size(); ++at) {
    Step& step = tensors.steps[at];
    const RingCall& part = step.part;
    step.works = ring_.call_of(number, int64_t(at), step.part);
    if (!step.works) continue;
    AttentionBackward& call = step.call;
    call = part_of(whole, part, tensors.q, number, int64_t(at));
    call.d_o_strides = call.q_strides;
    call.dq_strides = call.dk_strides = call.dv_strides = {};  // parts have no gaps
    call.o = row_of(tensors.o, part.q_rows);
    call.d_o = row_of(tensors.d_o, part.q_rows);
    call.lse = (part.q_rows.begin > 0 ? tensors.later_lse : tensors.lse).as<float>();
    call.dq = (alone ? tensors.dq : tensors.dq_part).as();
    call.dk = (alone ? tensors.dkv[0] : tensors.dkv_part[at % 2][0]).as();
    call.dv = (alone ? tensors.dkv[1] : tensors.dkv_part[at % 2][1]).as();
    require(check(call));
    workspace = std::max(workspace, workspace_bytes(call));
  }
  tensors.workspace = zeroed(int64_t(workspace));
}

/// Where two steps ago the same buffers took dK and dV, these must have left.
void RingAttentionBackward::enqueue_call(int64_t step, int number) {
  RankTensors& tensors = tensors_[std::size_t(number)];
  const cudaStream_t stream = rank(number).compute;
  Step& here = tensors.steps[std::size_t(step)];
  if (step == 0 && has_later_calls()) {
    const auto bytes = std::size_t(ring_.chunk_rows()) * sizeof(float);
    SAWTOOTH_CUDA_CHECK(cudaMemcpy2DAsync(
        tensors.later_lse.as(), bytes, tensors.lse.as<char>() + bytes, 2 * bytes, bytes,
        std::size_t(problem_.batch * problem_.heads), cudaMemcpyDeviceToDevice, stream));
  }
  if (!here.works) return;
  if (step > 2) {
    const auto owner = int(ring_.source(number, step - 2));
    make_wait(stream, step_of(owner, step - 2).returned);
  }
  require(attention_backward(here.call, tensors.workspace.as(),
                             std::size_t(tensors.workspace.bytes()), stream));
  if (ring_.ranks == 1) return;
  record(here.computed, stream);
  add_gradient_part({.part = tensors.dq_part.as(),
                     .sums = tensors.dq_sums.as<float>(),
                     .total = here.part.finishes ? tensors.dq.as() : nullptr,
                     .heads = problem_.batch * problem_.heads,
                     .head_rows = ring_.rank_rows(),
                     .rows = here.part.q_rows,
                     .head_dim = problem_.head_dim,
                     .dtype = problem_.dtype,
                     .begins = here.part.begins},
                    stream);
  RingReturn own;
  if (step == 0 && ring_.return_of(number, 0, own)) add_keys_part(number, own, tensors.dkv_part[0]);
}

void RingAttentionBackward::add_keys_part(int number, const RingReturn& part,
                                          const DeviceBuffer* from) {
  RankTensors& tensors = tensors_[std::size_t(number)];
  for (int tensor = 0; tensor < 2; ++tensor)
    add_gradient_part({.part = from[tensor].as(),
                       .sums = tensors.dkv_sums[tensor].as<float>(),
                       .total = part.finishes ? tensors.dkv[tensor].as() : nullptr,
                       .heads = problem_.batch * problem_.kv_heads,
                       .head_rows = ring_.rank_rows(),
                       .rows = part.kv_rows,
                       .head_dim = problem_.head_dim,
                       .dtype = problem_.dtype,
                       .begins = part.begins},
                      rank(number).compute);
}

/// A buffer is written when what came back two steps ago has been added, behind the call of the
/// step before.
void RingAttentionBackward::enqueue_returns(int64_t step, const std::vector<int>& to) {
  if (step == 0) return;
  std::vector<RingMove> moves;
  for (const int number : to) {
    RingReturn part;
    if (!ring_.return_of(number, step, part)) continue;
    const auto from = int(part.rank);
    RankTensors& owner = tensors_[std::size_t(number)];
    RankTensors& other = tensors_[std::size_t(from)];
    Step& here = owner.steps[std::size_t(step)];
    const cudaEvent_t computed = step_of(from, step).computed;
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(from).device));
    make_wait(rank(from).transfer, computed);
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
    const cudaStream_t stream = rank(number).transfer;
    make_wait(stream, computed);
    make_wait(stream, rank(number).steps[std::size_t(step - 1)].compute_end);
    record(here.return_begin, stream);
    const DeviceBuffer* const source = other.dkv_part[step % 2];
    const DeviceBuffer* const target = owner.came_back[step % 2];
    moves.push_back({from,
                     number,
                     {source[0].as(), source[1].as()},
                     {target[0].as(), target[1].as()},
                     std::size_t(problem_.batch * problem_.kv_heads * part.kv_rows.size() *
                                 problem_.row_bytes())});
  }
  mover_->move(moves);
  for (const RingMove& move : moves) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(move.to_rank).device));
    record(step_of(move.to_rank, step).returned, rank(move.to_rank).transfer);
  }
}

void RingAttentionBackward::enqueue_additions(int64_t step, int number) {
  RingReturn part;
  if (step == 0 || !ring_.return_of(number, step, part)) return;
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
  make_wait(rank(number).compute, step_of(number, step).returned);
  add_keys_part(number, part, tensors_[std::size_t(number)].came_back[step % 2]);
}

double RingAttentionBackward::returns_ms(int64_t step, int number) const {
  RingReturn part;
  if (step == 0 || !ring_.return_of(number, step, part)) return 0;
  const Step& here = tensors_[std::size_t(number)].steps[std::size_t(step)];
  return ms_between(here.return_begin, here.returned);
}

RingTensors RingAttentionBackward::tensors(int rank) const {
  const RankTensors& own = tensors_[std::size_t(rank)];
  const DeviceBuffer* const kv = this->rank(rank).own;
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
  const Step& of_step = tensors_[std::size_t(rank)].steps[std::size_t(step)];
  return of_step.works ? &of_step.call : nullptr;
}

}  // namespace sawtooth::kernels
