// Random problems and schedules of the backward pass, and the judgement of a kernel's gradients.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kernels/device_attention.hpp"

namespace sawtooth::kernels {

struct BackwardPoint {
  AttentionBackward call;
  Layout layout = Layout::contiguous;
};

/// Point number `seed` of the variants of a family that run here (empty: of all but those of
/// studies); every variant, mask, launch, scan and order occurs. Throws where none runs.
BackwardPoint random_backward_point(uint64_t seed, std::string_view family = {});

/// A small point of each of these variants, mask, launch and scan, for compute-sanitizer.
std::vector<BackwardPoint> covering_backward_points(std::string_view family = {});

std::string describe(const BackwardPoint& point);

/// Inputs of unit variance; O and log-sum-exp are the reference's, rounded.
BackwardInputs random_backward_inputs(const Problem& problem, double scale, uint64_t seed);

/// The Frobenius norm of the difference over the larger of the reference's norm and
/// 1e-2 sqrt(elements): 1e-2 for bf16, 2e-3 for fp16, 1e-4 for fp32 is allowed of each gradient.
double gradient_error(const std::vector<float>& gradient, const std::vector<double>& reference);
double allowed_gradient_error(ElementType dtype);

/// Errors of dQ, dK and dV.
using GradientErrors = std::array<double, 3>;

/// Runs a point with trace on inputs of `seed`. Empty when all is right, else what is wrong;
/// `worst` takes the largest errors.
std::string run_and_judge(const BackwardPoint& point, uint64_t seed, GradientErrors& worst);

}  // namespace sawtooth::kernels
