// Attention and its gradients in double precision, pair by pair: slow, without any library. It
// checks the Eigen reference, and stands in for it where Eigen is missing.
#pragma once

#include <vector>

#include "kernels/reference/attention_reference.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

/// As attention_reference.
ReferenceResult plain_reference(const Problem& problem, double scale, const std::vector<float>& q,
                                const std::vector<float>& k, const std::vector<float>& v);

/// As gradients_reference.
ReferenceGradients plain_gradients(const Problem& problem, double scale,
                                   const std::vector<float>& q, const std::vector<float>& k,
                                   const std::vector<float>& v, const std::vector<float>& d_o);

}  // namespace sawtooth::kernels
