#include "kernels/reference/attention_reference.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "scheduler/tile_lists.hpp"

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
      if (is_listed(problem.mask)) {
        if (!sees(*problem.mask.listed, i, j))
          scores(i, j) = -std::numeric_limits<double>::infinity();
        continue;
      }
      const bool future = j > i + diagonal;
      const bool left =
          problem.mask.kind == MaskKind::window && j <= i + diagonal - problem.mask.window;
      if (future || left) scores(i, j) = -std::numeric_limits<double>::infinity();
    }
}

/// A row of -inf becomes zeros, and its log-sum-exp is -inf.
double to_probabilities(Eigen::Ref<Eigen::RowVectorXd> scores) {
  const double largest = scores.maxCoeff();
  if (std::isinf(largest)) {
    scores.setZero();
    return -std::numeric_limits<double>::infinity();
  }
  const double lse = largest + std::log((scores.array() - largest).exp().sum());
  // Eigen's exp of -inf is a denormal number, and products with those take a hundred times as long.
  scores = (scores.array() == -std::numeric_limits<double>::infinity())
               .select(0.0, (scores.array() - lse).exp());
  return lse;
}

int64_t kv_head_of(const Problem& problem, int64_t flat_head) {
  return flat_head / problem.heads * problem.kv_heads +
         problem.kv_head_of(flat_head % problem.heads);
}

}  // namespace

ReferenceResult attention_reference(const Problem& problem, double scale,
                                    const std::vector<float>& q, const std::vector<float>& k,
                                    const std::vector<float>& v) {
  const int64_t all_heads = problem.batch * problem.heads;
  ReferenceResult result{
      .o = std::vector<double>(size_t(all_heads * problem.seq_q * problem.v_dim())),
      .lse = std::vector<double>(size_t(all_heads * problem.seq_q))};
  for (int64_t head = 0; head < all_heads; ++head) {
    const int64_t kv_head = kv_head_of(problem, head);
    const Matrix queries = matrix_at(q, head, problem.seq_q, problem.head_dim);
    const Matrix keys = matrix_at(k, kv_head, problem.seq_kv, problem.head_dim);
    const Matrix values = matrix_at(v, kv_head, problem.seq_kv, problem.v_dim());
    Matrix scores = scale * queries * keys.transpose();
    hide_masked(scores, problem);
    Eigen::Map<Matrix> output(result.o.data() + head * problem.seq_q * problem.v_dim(),
                              problem.seq_q, problem.v_dim());
    for (int64_t row = 0; row < problem.seq_q; ++row)
      result.lse[size_t(head * problem.seq_q + row)] = to_probabilities(scores.row(row));
    output.noalias() = scores * values;
  }
  return result;
}

ReferenceGradients gradients_reference(const Problem& problem, double scale,
                                       const std::vector<float>& q, const std::vector<float>& k,
                                       const std::vector<float>& v, const std::vector<float>& d_o) {
  const int64_t q_size = problem.seq_q * problem.head_dim;
  const int64_t kv_size = problem.seq_kv * problem.head_dim;
  const int64_t all_heads = problem.batch * problem.heads;
  const auto all_kv = size_t(problem.batch * problem.kv_heads * kv_size);
  ReferenceGradients result{.dq = std::vector<double>(size_t(all_heads * q_size)),
                            .dk = std::vector<double>(all_kv),
                            .dv = std::vector<double>(all_kv)};
  for (int64_t head = 0; head < all_heads; ++head) {
    const int64_t kv_head = kv_head_of(problem, head);
    const Matrix queries = matrix_at(q, head, problem.seq_q, problem.head_dim);
    const Matrix keys = matrix_at(k, kv_head, problem.seq_kv, problem.head_dim);
    const Matrix values = matrix_at(v, kv_head, problem.seq_kv, problem.head_dim);
    const Matrix output_gradients = matrix_at(d_o, head, problem.seq_q, problem.head_dim);
    Matrix probabilities = scale * queries * keys.transpose();
    hide_masked(probabilities, problem);
    for (int64_t row = 0; row < problem.seq_q; ++row) to_probabilities(probabilities.row(row));
    Matrix score_gradients = output_gradients * values.transpose();
    for (int64_t row = 0; row < problem.seq_q; ++row) {
      const double row_sum = probabilities.row(row).dot(score_gradients.row(row));
      score_gradients.row(row) =
          probabilities.row(row).array() * (score_gradients.row(row).array() - row_sum);
    }
    Eigen::Map<Matrix>(result.dq.data() + head * q_size, problem.seq_q, problem.head_dim) =
        scale * score_gradients * keys;
    Eigen::Map<Matrix>(result.dk.data() + kv_head * kv_size, problem.seq_kv, problem.head_dim) +=
        scale * score_gradients.transpose() * queries;
    Eigen::Map<Matrix>(result.dv.data() + kv_head * kv_size, problem.seq_kv, problem.head_dim) +=
        probabilities.transpose() * output_gradients;
  }
  return result;
}

}  // namespace sawtooth::kernels
