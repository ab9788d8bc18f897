// Random attention problems with random schedules, and the judgement of a kernel's results.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/attention/attention.hpp"
#include "kernels/reference/attention_reference.hpp"
#include "tests/kernels/device_attention.hpp"

namespace sawtooth::kernels {

struct RandomPoint {
  AttentionForward call;
  Layout layout = Layout::contiguous;
  float spread = 1;  // of the inputs: large spreads make the softmax sharp
};

/// Point number `seed`; every variant of the build, mask, launch, scan, order occurs.
RandomPoint random_point(uint64_t seed);

/// One line that names all parameters.
std::string describe(const RandomPoint& point);

/// ||out - ref|| / ||ref|| that is allowed: 5e-3 for bf16, 1e-3 for fp16.
double allowed_error(ElementType dtype);

/// Empty when the results agree with the reference, else what is wrong.
std::string judge(const RandomPoint& point, const AttentionResults& results,
                  const ReferenceResult& reference);

/// Empty when every item ran exactly once, by a worker that the launch allows, and every K/V
/// sequence equals the scan of the recorded counter and start; else what is wrong.
std::string judge_trace(const AttentionForward& call, const AttentionResults& results);

/// Both, of results on these inputs; the order where it was traced.
std::string judge_point(const RandomPoint& point, const AttentionInputs& inputs,
                        const AttentionResults& results);

/// Runs a point with trace on inputs of `seed` and judges it. `worst` takes the relative error.
std::string run_and_judge(const RandomPoint& point, uint64_t seed, double& worst);

}  // namespace sawtooth::kernels
