#include "kernels/ring/ring_attention.hpp"

#include <algorithm>

#include "kernels/ring/ring_steps.hpp"

namespace sawtooth::kernels {
namespace {

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

}  // namespace

class RingAttention::State : public RingSteps {
 public:
  explicit State(const RingProblem& problem)
      : RingSteps(problem.ring, problem.devices, problem.transfer,
                  kv_bytes(problem.ring, problem.call.problem)),
        tensors_(std::size_t(problem.ring.ranks)) {
    for (int number = 0; number < problem.ring.ranks; ++number) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
      add_tensors(problem.call.problem, number);
      prepare_steps(problem.call, number);
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(problem.devices.front()));
  }

  const RankTensors& tensors(int number) const { return tensors_[std::size_t(number)]; }

 protected:
  void enqueue_call(int64_t step, int number) override {
    Step& here = tensors_[std::size_t(number)].steps[std::size_t(step)];
    if (here.works) require(here.plan.run(rank(number).compute.stream));
  }

 private:
  void add_tensors(const Problem& whole, int number) {
    RankTensors& tensors = tensors_[std::size_t(number)];
    const int64_t rows = whole.batch * whole.heads * ring().rank_rows();
    tensors.q = DeviceBuffer(rows * whole.row_bytes());
    tensors.o = DeviceBuffer(rows * whole.row_bytes());
    tensors.running_o = DeviceBuffer(rows * whole.head_dim * int64_t(sizeof(float)));
    tensors.lse = DeviceBuffer(rows * int64_t(sizeof(float)));
    tensors.steps = std::vector<Step>(std::size_t(ring().ranks));
  }
  void prepare_steps(const AttentionForward& whole, int number);

  std::vector<RankTensors> tensors_;
};

/// Plans the rank's calls: they share a workspace, as they follow each other on one stream.
void RingAttention::State::prepare_steps(const AttentionForward& whole, int number) {
  RankTensors& tensors = tensors_[std::size_t(number)];
  std::size_t workspace = 0;
  const Problem& problem = whole.problem;
  const int64_t dim = problem.head_dim;
  for (std::size_t step = 0; step < tensors.steps.size(); ++step) {
    RingCall part;
    tensors.steps[step].works = ring().call_of(number, int64_t(step), part);
    if (!tensors.steps[step].works) continue;
    AttentionForward& call = tensors.steps[step].call;
    call = part_of(whole, ring(), part, tensors.q, rank(number).kv_of(int64_t(step)));
    call.o = part.finishes ? row_of(tensors.o, problem, part.q_rows) : nullptr;
    call.lse = ring().ranks == 1 ? tensors.lse.as<float>() : nullptr;
    if (ring().ranks > 1)
      call.running = {.o = tensors.running_o.as<float>() + part.q_rows.begin * dim,
                      .lse = tensors.lse.as<float>() + part.q_rows.begin,
                      .lse_head_rows = ring().rank_rows(),
                      .begins = part.begins};
    require(check(call));
    workspace = std::max(workspace, workspace_bytes(call));
  }
  tensors.workspace = zeroed(workspace);
  for (Step& step : tensors.steps)
    if (step.works) require(step.plan.make(step.call, tensors.workspace.as(), workspace));
}

RingAttention::RingAttention(const RingProblem& problem)
    : RingPass(std::make_unique<State>(problem)) {}

RingAttention::State& RingAttention::state() const {
  return static_cast<State&>(*steps_);
}

RingTensors RingAttention::tensors(int rank) const {
  const RankTensors& own = state().tensors(rank);
  const DeviceBuffer* const kv = state().rank(rank).own;
  return {.q = own.q.as(),
          .k = kv[0].as(),
          .v = kv[1].as(),
          .o = own.o.as(),
          .lse = own.lse.as<float>()};
}

const AttentionForward* RingAttention::call(int rank, int64_t step) const {
  const Step& of_step = state().tensors(rank).steps[std::size_t(step)];
  return of_step.works ? &of_step.call : nullptr;
}

}  // namespace sawtooth::kernels
