// Whether results differ: rounding is no difference, a block of keys that was left out is one.
#include "experiments/sawtooth/ring/ring_check.hpp"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

namespace sawtooth::experiments {
namespace {

constexpr Ring ring{2, RingLayout::zigzag, MaskKind::causal, 8};
constexpr int64_t head_dim = 2, heads = 1;

uint16_t bf16_bits(float value) {
  uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return uint16_t(word >> 16);
}

/// Row r of the sequence has O = r + 1 and log-sum-exp r.
HostResults whole() {
  HostResults results;
  for (int64_t row = 0; row < ring.seq; ++row) {
    results.lse.push_back(float(row));
    for (int64_t d = 0; d < head_dim; ++d) results.o.push_back(bf16_bits(float(row + 1)));
  }
  return results;
}

HostResults of_rank(int64_t rank) {
  HostResults results;
  for (int64_t row = 0; row < ring.rank_rows(); ++row) {
    const int64_t at = ring.sequence_row(rank, row);
    results.lse.push_back(float(at));
    for (int64_t d = 0; d < head_dim; ++d) results.o.push_back(bf16_bits(float(at + 1)));
  }
  return results;
}

ResultDifference difference_of(const HostResults& first, const HostResults& second) {
  ResultDifference difference(ElementType::bf16, head_dim);
  difference.add(ring, 0, heads, whole(), first);
  difference.add(ring, 1, heads, whole(), second);
  return difference;
}

TEST(RingCheck, FindsTheRowsOfEachRankInTheWhole) {
  const ResultDifference difference = difference_of(of_rank(0), of_rank(1));
  EXPECT_EQ(difference.o(), 0);
  EXPECT_EQ(difference.lse(), 0);
  EXPECT_TRUE(difference.is_small());
}

TEST(RingCheck, LetsRoundingPass) {
  HostResults rounded = of_rank(1);
  for (uint16_t& value : rounded.o) value += 1;  // one in the last place
  rounded.lse.front() += 1e-5f;
  EXPECT_TRUE(difference_of(of_rank(0), rounded).is_small());
}

TEST(RingCheck, FindsAWrongRowByEitherResult) {
  HostResults wrong = of_rank(1);
  wrong.lse.back() += 0.01f;
  EXPECT_FALSE(difference_of(of_rank(0), wrong).is_small());
  wrong = of_rank(0);
  wrong.o[2] = bf16_bits(3);  // of row 1, whose O is 2
  EXPECT_NEAR(difference_of(wrong, of_rank(1)).o(), 1 / std::sqrt(2.0 * 204), 1e-12);
  EXPECT_FALSE(difference_of(wrong, of_rank(1)).is_small());
  EXPECT_FALSE(difference_of(of_rank(1), of_rank(1)).is_small());
  wrong = of_rank(0);
  wrong.lse[0] = NAN;
  EXPECT_FALSE(difference_of(wrong, of_rank(1)).is_small());
}

TEST(RingCheck, ReadsHalfPrecision) {
  EXPECT_EQ(value_of_bits(0x3c00, ElementType::fp16), 1);
  EXPECT_EQ(value_of_bits(0xc000, ElementType::fp16), -2);
  EXPECT_EQ(value_of_bits(0x0001, ElementType::fp16), std::ldexp(1.0f, -24));
  EXPECT_EQ(value_of_bits(0x7bff, ElementType::fp16), 65504);
  EXPECT_EQ(value_of_bits(0x3f80, ElementType::bf16), 1);
}

}  // namespace
}  // namespace sawtooth::experiments
