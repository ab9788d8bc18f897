#include "kernels/ring/ring_attention.hpp"

#include <algorithm>

namespace sawtooth::kernels {

RingAttention::RingAttention(const RingProblem& problem)
    : RingPass(problem.ring, problem.call.problem, problem.devices, problem.transfer),
      tensors_(std::size_t(problem.ring.ranks)) {
  for (const int number : all_ranks()) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
    add_tensors(tensors_[std::size_t(number)]);
    prepare_steps(problem.call, number);
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(problem.devices.front()));
}

void RingAttention::add_tensors(RankTensors& tensors) const {
  const int64_t rows = problem_.batch * problem_.heads * ring_.rank_rows();
  tensors.q = DeviceBuffer(rows * problem_.row_bytes());
  tensors.o = DeviceBuffer(rows * problem_.row_bytes());
  tensors.running_o = DeviceBuffer(rows * problem_.head_dim * int64_t(sizeof(float)));
  tensors.lse = DeviceBuffer(rows * int64_t(sizeof(float)));
  tensors.steps = std::vector<Step>(std::size_t(ring_.ranks));
}

/// Plans the rank's calls: they share a workspace, as they follow each other on one stream.
void RingAttention::prepare_steps(const AttentionForward& whole, int number) {
  RankTensors& tensors = tensors_[std::size_t(number)];
  std::size_t workspace = 0;
  for (std::size_t at = 0; at < tensors.steps.size(); ++at) {
    Step& step = tensors.steps[at];
    RingCall part;
    step.works = ring_.call_of(number, int64_t(at), part);
    if (!step.works) continue;
    AttentionForward& call = step.call;
    call = part_of(whole, part, tensors.q, number, int64_t(at));
    call.o = part.finishes ? row_of(tensors.o, part.q_rows) : nullptr;
    call.lse = ring_.ranks == 1 ? tensors.lse.as<float>() : nullptr;
    if (ring_.ranks > 1)
      call.running = {.o = tensors.running_o.as<float>() + part.q_rows.begin * problem_.head_dim,
                      .lse = tensors.lse.as<float>() + part.q_rows.begin,
                      .lse_head_rows = ring_.rank_rows(),
                      .begins = part.begins};
    require(check(call));
    workspace = std::max(workspace, workspace_bytes(call));
  }
  tensors.workspace = zeroed(int64_t(workspace));
  for (Step& step : tensors.steps)
    if (step.works) require(step.plan.make(step.call, tensors.workspace.as(), workspace));
}

void RingAttention::enqueue_call(int64_t step, int number) {
  Step& here = tensors_[std::size_t(number)].steps[std::size_t(step)];
  if (here.works) require(here.plan.run(rank(number).compute));
}

RingTensors RingAttention::tensors(int rank) const {
  const RankTensors& own = tensors_[std::size_t(rank)];
  const DeviceBuffer* const kv = this->rank(rank).own;
  return {.q = own.q.as(),
          .k = kv[0].as(),
          .v = kv[1].as(),
          .o = own.o.as(),
          .lse = own.lse.as<float>()};
}

const AttentionForward* RingAttention::call(int rank, int64_t step) const {
  const Step& of_step = tensors_[std::size_t(rank)].steps[std::size_t(step)];
  return of_step.works ? &of_step.call : nullptr;
}

}  // namespace sawtooth::kernels
