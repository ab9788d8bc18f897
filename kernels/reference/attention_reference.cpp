#include "kernels/reference/attention_reference.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

namespace sawtooth::kernels {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Matrix number `index` of a contiguous array of rows x columns matrices.
Matrix matrix_at(const std::vector<float>& data, int64_t index, int64_t rows, int64_t columns) {
  return Eigen::Map<const FloatMatrix>(data.data() + index * rows * columns, rows, columns)
      .cast<double>();
}

void hide_masked(Matrix& scores, const Problem& problem) {
  const int64_t diagonal = problem.seq_kv - problem.seq_q;
  if (problem.mask.kind == MaskKind::none) return;
  for (int64_t i = 0; i < scores.rows(); ++i)
    for (int64_t j = 0; j < scores.cols(); ++j) {
      const bool future = j > i + diagonal;
      const bool left =
          problem.mask.kind == MaskKind::window && j <= i + diagonal - problem.mask.window;
      if (future || left) scores(i, j) = -std::numeric_limits<double>::infinity();
    }
}

}  // namespace

ReferenceResult attention_reference(const Problem& problem, double scale,
                                    const std::vector<float>& q, const std::vector<float>& k,
                                    const std::vector<float>& v) {
  const int64_t all_heads = problem.batch * problem.heads;
  ReferenceResult result{
      .o = std::vector<double>(size_t(all_heads * problem.seq_q * problem.head_dim)),
      .lse = std::vector<double>(size_t(all_heads * problem.seq_q))};
  for (int64_t head = 0; head < all_heads; ++head) {
    const int64_t kv_head =
        head / problem.heads * problem.kv_heads + problem.kv_head_of(head % problem.heads);
    const Matrix queries = matrix_at(q, head, problem.seq_q, problem.head_dim);
    const Matrix keys = matrix_at(k, kv_head, problem.seq_kv, problem.head_dim);
    const Matrix values = matrix_at(v, kv_head, problem.seq_kv, problem.head_dim);
    Matrix scores = scale * queries * keys.transpose();
    hide_masked(scores, problem);
    Eigen::Map<Matrix> output(result.o.data() + head * problem.seq_q * problem.head_dim,
                              problem.seq_q, problem.head_dim);
    for (int64_t row = 0; row < problem.seq_q; ++row) {
      double& lse = result.lse[size_t(head * problem.seq_q + row)];
      const double largest = scores.row(row).maxCoeff();
      if (std::isinf(largest)) {
        lse = -std::numeric_limits<double>::infinity();
        scores.row(row).setZero();
        continue;
      }
      lse = largest + std::log((scores.row(row).array() - largest).exp().sum());
      scores.row(row) = (scores.row(row).array() - lse).exp();
    }
    output.noalias() = scores * values;
  }
  return result;
}

}  // namespace sawtooth::kernels
