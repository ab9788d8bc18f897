#include "tests/kernels/plain_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/tile_lists.hpp"

namespace sawtooth::kernels {
namespace {

bool sees(const Problem& problem, int64_t row, int64_t key) {
  if (problem.mask.kind == MaskKind::none) return true;
  if (is_listed(problem.mask)) return sees(*problem.mask.listed, row, key);
  const int64_t last = row + problem.seq_kv - problem.seq_q;
  return key <= last && (problem.mask.kind == MaskKind::causal || last - problem.mask.window < key);
}

}  // namespace

ReferenceResult plain_reference(const Problem& problem, double scale, const std::vector<float>& q,
                                const std::vector<float>& k, const std::vector<float>& v) {
  const int64_t dim = problem.head_dim, dim_v = problem.v_dim();
  ReferenceResult result;
  std::vector<double> scores(static_cast<size_t>(problem.seq_kv));
  std::vector<double> output(static_cast<size_t>(dim_v));
  for (int64_t flat = 0; flat < problem.batch * problem.heads * problem.seq_q; ++flat) {
    const int64_t row = flat % problem.seq_q;
    const int64_t head = flat / problem.seq_q;
    const int64_t kv_head = head / problem.heads * problem.kv_heads +
                            head % problem.heads / (problem.heads / problem.kv_heads);
    const float* query = q.data() + flat * dim;
    const float* keys = k.data() + kv_head * problem.seq_kv * dim;
    const float* values = v.data() + kv_head * problem.seq_kv * dim_v;
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t key = 0; key < problem.seq_kv; ++key) {
      if (!sees(problem, row, key)) continue;
      double score = 0;
      for (int64_t d = 0; d < dim; ++d) score += double(query[d]) * double(keys[key * dim + d]);
      scores[size_t(key)] = scale * score;
      largest = std::max(largest, scale * score);
    }
    double sum = 0;
    std::fill(output.begin(), output.end(), 0.0);
    for (int64_t key = 0; key < problem.seq_kv; ++key) {
      if (!sees(problem, row, key)) continue;
      const double weight = std::exp(scores[size_t(key)] - largest);
      sum += weight;
      for (int64_t d = 0; d < dim_v; ++d)
        output[size_t(d)] += weight * double(values[key * dim_v + d]);
    }
    for (const double value : output) result.o.push_back(sum > 0 ? value / sum : 0.0);
    result.lse.push_back(sum > 0 ? largest + std::log(sum) : largest);
  }
  return result;
}

ReferenceGradients plain_gradients(const Problem& problem, double scale,
                                   const std::vector<float>& q, const std::vector<float>& k,
                                   const std::vector<float>& v, const std::vector<float>& d_o) {
  const int64_t dim = problem.head_dim;
  const ReferenceResult forward = plain_reference(problem, scale, q, k, v);
  ReferenceGradients result{.dq = std::vector<double>(q.size()),
                            .dk = std::vector<double>(k.size()),
                            .dv = std::vector<double>(v.size())};
  for (int64_t flat = 0; flat < problem.batch * problem.heads * problem.seq_q; ++flat) {
    const int64_t row = flat % problem.seq_q;
    const int64_t head = flat / problem.seq_q;
    const int64_t kv_head = head / problem.heads * problem.kv_heads +
                            head % problem.heads / (problem.heads / problem.kv_heads);
    double row_sum = 0;
    for (int64_t d = flat * dim; d < (flat + 1) * dim; ++d)
      row_sum += double(d_o[size_t(d)]) * forward.o[size_t(d)];
    for (int64_t key = 0; key < problem.seq_kv; ++key) {
      if (!sees(problem, row, key)) continue;
      const int64_t at_q = flat * dim;
      const int64_t at_k = (kv_head * problem.seq_kv + key) * dim;
      double score = 0, change = -row_sum;
      for (int64_t d = 0; d < dim; ++d) {
        score += double(q[size_t(at_q + d)]) * double(k[size_t(at_k + d)]);
        change += double(d_o[size_t(at_q + d)]) * double(v[size_t(at_k + d)]);
      }
      const double weight = std::exp(scale * score - forward.lse[size_t(flat)]);
      for (int64_t d = 0; d < dim; ++d) {
        result.dv[size_t(at_k + d)] += weight * double(d_o[size_t(at_q + d)]);
        result.dq[size_t(at_q + d)] += scale * weight * change * double(k[size_t(at_k + d)]);
        result.dk[size_t(at_k + d)] += scale * weight * change * double(q[size_t(at_q + d)]);
      }
    }
  }
  return result;
}

}  // namespace sawtooth::kernels
