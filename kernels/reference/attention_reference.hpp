// Attention and its gradients in double precision, straight from their definitions: the second
// engine that every kernel is judged against.
#pragma once

#include <vector>

#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

struct ReferenceResult {
  std::vector<double> o;    // [batch, heads, seq_q, v_dim()]
  std::vector<double> lse;  // [batch, heads, seq_q]
};

/// Inputs are contiguous [batch, heads or kv_heads, length, head_dim]; rows that the mask leaves
/// without keys give 0 and -inf. Quadratic memory for one head.
ReferenceResult attention_reference(const Problem& problem, double scale,
                                    const std::vector<float>& q, const std::vector<float>& k,
                                    const std::vector<float>& v);

struct ReferenceGradients {
  std::vector<double> dq;  // [batch, heads, seq_q, head_dim]
  std::vector<double> dk;  // [batch, kv_heads, seq_kv, head_dim]
  std::vector<double> dv;
};

/// The gradients are those of the sum of dO * O. Rows that see nothing add nothing.
ReferenceGradients gradients_reference(const Problem& problem, double scale,
                                       const std::vector<float>& q, const std::vector<float>& k,
                                       const std::vector<float>& v, const std::vector<float>& d_o);

}  // namespace sawtooth::kernels
