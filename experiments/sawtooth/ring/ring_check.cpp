#include "experiments/sawtooth/ring/ring_check.hpp"

#include <bit>
#include <cmath>

#include <Eigen/Core>

namespace sawtooth::experiments {
namespace {

/// Calls visit(values of a rank, row of all its heads, the same row of the whole).
template <class Values, class Visit>
void for_each_row(const Ring& ring, int64_t heads, const std::vector<Values>& of_ranks,
                  Visit visit) {
  const int64_t rows = ring.rank_rows();
  for (int64_t rank = 0; rank < ring.ranks; ++rank)
    for (int64_t i = 0; i < heads * rows; ++i)
      visit(of_ranks[size_t(rank)], i, i / rows * ring.seq + ring.sequence_row(rank, i % rows));
}

}  // namespace

float value_of_bits(uint16_t bits, ElementType dtype) {
  if (dtype == ElementType::bf16) return std::bit_cast<float>(uint32_t(bits) << 16);
  return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
}

double allowed_difference(ElementType dtype) {
  constexpr double rounded_bf16 = 1.0 / 256, rounded_fp16 = 1.0 / 2048;  // of one number
  return 2 * (dtype == ElementType::bf16 ? rounded_bf16 : rounded_fp16);
}

double relative_difference(const Ring& ring, int64_t heads, int64_t head_dim, ElementType dtype,
                           const std::vector<uint16_t>& whole,
                           const std::vector<std::vector<uint16_t>>& of_ranks) {
  double square = 0, norm = 0;
  for_each_row(ring, heads, of_ranks, [&](const auto& values, int64_t row, int64_t of_whole) {
    for (int64_t d = 0; d < head_dim; ++d) {
      const double expected = value_of_bits(whole[size_t(of_whole * head_dim + d)], dtype);
      const double got = value_of_bits(values[size_t(row * head_dim + d)], dtype);
      square += (got - expected) * (got - expected);
      norm += expected * expected;
    }
  });
  return std::sqrt(square / norm);
}

double largest_difference(const Ring& ring, int64_t heads, const std::vector<float>& whole,
                          const std::vector<std::vector<float>>& of_ranks) {
  double largest = 0;
  for_each_row(ring, heads, of_ranks, [&](const auto& values, int64_t row, int64_t of_whole) {
    const double found = std::abs(double(values[size_t(row)]) - double(whole[size_t(of_whole)]));
    if (found > largest || std::isnan(found)) largest = found;  // nothing is above NaN: it stays
  });
  return largest;
}

}  // namespace sawtooth::experiments
