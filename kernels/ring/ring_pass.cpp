#include "kernels/ring/ring_pass.hpp"

#include "kernels/ring/ring_steps.hpp"

namespace sawtooth::kernels {

RingPass::RingPass(std::unique_ptr<RingSteps> steps) : steps_(std::move(steps)) {
  steps_->connect();
}

RingPass::~RingPass() {
  steps_->wait_for_all();
}

RingTimes RingPass::run(bool steps) {
  const double whole_ms = steps_->run(true);
  if (steps) return steps_->times(whole_ms);
  RingTimes times;
  times.whole = whole_ms;
  return times;
}

void RingPass::run_step(int64_t step, const std::vector<int>& ranks) {
  steps_->run_step(step, ranks);
}

void RingPass::finish(const std::vector<int>& ranks) {
  steps_->finish(ranks);
}

double RingPass::transfer_alone() {
  return steps_->ring().ranks > 1 ? steps_->run(false) : 0;
}

}  // namespace sawtooth::kernels
