// Attention forward in double precision, straight from its definition: the second engine that
// every kernel is judged against.
#pragma once

#include <vector>

#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

struct ReferenceResult {
  std::vector<double> o;    // [batch, heads, seq_q, head_dim]
  std::vector<double> lse;  // [batch, heads, seq_q]
};

/// Inputs are contiguous [batch, heads or kv_heads, length, head_dim]; rows that the mask leaves
/// without keys give 0 and -inf. Quadratic memory for one head.
ReferenceResult attention_reference(const Problem& problem, double scale,
                                    const std::vector<float>& q, const std::vector<float>& k,
                                    const std::vector<float>& v);

}  // namespace sawtooth::kernels
