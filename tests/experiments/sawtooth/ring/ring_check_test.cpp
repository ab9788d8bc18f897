// Whether results differ: rounding is no difference, a block of keys that was left out is one.
#include "experiments/sawtooth/ring/ring_check.hpp"

#include <cmath>
#include <cstring>
#include <vector>

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

/// O, [rows, dim], and log-sum-exp of some rows.
struct Results {
  std::vector<uint16_t> o;
  std::vector<float> lse;
};

/// Row r of the sequence has O = r + 1 and log-sum-exp r.
void add_row(Results& results, int64_t row) {
  results.lse.push_back(float(row));
  results.o.insert(results.o.end(), head_dim, bf16_bits(float(row + 1)));
}

Results of_rank(int64_t rank) {
  Results results;
  for (int64_t row = 0; row < ring.rank_rows(); ++row)
    add_row(results, ring.sequence_row(rank, row));
  return results;
}

double o_difference(const Results& first, const Results& second) {
  Results whole;
  for (int64_t row = 0; row < ring.seq; ++row) add_row(whole, row);
  return relative_difference(ring, heads, head_dim, ElementType::bf16, whole.o,
                             {first.o, second.o});
}

double lse_difference(const Results& first, const Results& second) {
  Results whole;
  for (int64_t row = 0; row < ring.seq; ++row) add_row(whole, row);
  return largest_difference(ring, heads, whole.lse, {first.lse, second.lse});
}

bool is_small(const Results& first, const Results& second) {
  return o_difference(first, second) <= allowed_difference(ElementType::bf16) &&
         lse_difference(first, second) <= allowed_lse_difference;
}

TEST(RingCheck, FindsTheRowsOfEachRankInTheWhole) {
  EXPECT_EQ(o_difference(of_rank(0), of_rank(1)), 0);
  EXPECT_EQ(lse_difference(of_rank(0), of_rank(1)), 0);
}

TEST(RingCheck, LetsRoundingPass) {
  Results rounded = of_rank(1);
  for (uint16_t& value : rounded.o) value += 1;  // one in the last place
  rounded.lse.front() += 1e-5f;
  EXPECT_TRUE(is_small(of_rank(0), rounded));
}

TEST(RingCheck, FindsAWrongRowByEitherResult) {
  Results wrong = of_rank(1);
  wrong.lse.back() += 0.01f;
  EXPECT_FALSE(is_small(of_rank(0), wrong));
  wrong = of_rank(0);
  wrong.o[2] = bf16_bits(3);  // of row 1, whose O is 2
  EXPECT_NEAR(o_difference(wrong, of_rank(1)), 1 / std::sqrt(2.0 * 204), 1e-12);
  EXPECT_FALSE(is_small(wrong, of_rank(1)));
  EXPECT_FALSE(is_small(of_rank(1), of_rank(1)));
  wrong = of_rank(0);
  wrong.lse[0] = NAN;
  EXPECT_FALSE(is_small(wrong, of_rank(1)));
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
