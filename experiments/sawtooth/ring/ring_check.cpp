#include "experiments/sawtooth/ring/ring_check.hpp"

#include <bit>
#include <cmath>

#include <Eigen/Core>

#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

float value_of_bits(uint16_t bits, ElementType dtype) {
  if (dtype == ElementType::bf16) return std::bit_cast<float>(uint32_t(bits) << 16);
  return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
}

double allowed_difference(ElementType dtype) {
  constexpr double rounded_bf16 = 1.0 / 256, rounded_fp16 = 1.0 / 2048;  // of one number
  return 2 * (dtype == ElementType::bf16 ? rounded_bf16 : rounded_fp16);
}

void TensorDifference::add(const Ring& ring, int64_t rank, int64_t heads,
                           const std::vector<uint16_t>& whole,
                           const std::vector<uint16_t>& of_rank) {
  const int64_t rows = ring.rank_rows();
  for (int64_t i = 0; i < heads * rows; ++i) {
    const int64_t at = i / rows * ring.seq + ring.sequence_row(rank, i % rows);
    for (int64_t d = 0; d < head_dim_; ++d) {
      const double expected = value_of_bits(whole[size_t(at * head_dim_ + d)], dtype_);
      const double got = value_of_bits(of_rank[size_t(i * head_dim_ + d)], dtype_);
      square_ += (got - expected) * (got - expected);
      norm_ += expected * expected;
    }
  }
}

double TensorDifference::relative() const {
  return std::sqrt(square_ / norm_);
}

void ResultDifference::add(const Ring& ring, int64_t rank, int64_t heads, const HostResults& whole,
                           const HostResults& of_rank) {
  o_.add(ring, rank, heads, whole.o, of_rank.o);
  const int64_t rows = ring.rank_rows();
  for (int64_t i = 0; i < heads * rows; ++i) {
    const int64_t at = i / rows * ring.seq + ring.sequence_row(rank, i % rows);
    const double lse = std::abs(double(of_rank.lse[size_t(i)]) - double(whole.lse[size_t(at)]));
    if (lse > lse_ || std::isnan(lse)) lse_ = lse;  // nothing is above NaN: it stays
  }
}

std::string ResultDifference::text() const {
  return "O differs by " + shortest(o()) + " (allowed " + shortest(allowed_difference(dtype_)) +
         "), log-sum-exp by " + shortest(lse()) + " (allowed " + shortest(allowed_lse) + ")";
}

}  // namespace sawtooth::experiments
