#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "kernels/reference/attention_reference.hpp"
#include "tests/kernels/plain_reference.hpp"

namespace sawtooth::kernels {
namespace {

constexpr double rounding = 1e-12;  // two orders of summation in double precision

std::vector<float> random_values(int64_t count, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

TEST(AttentionReference, AgreesWithThePlainLoopsForEveryMask) {
  std::mt19937 generator(7);
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window})
    for (const auto& [seq_q, seq_kv] : {std::pair{17, 17}, std::pair{9, 23}, std::pair{23, 9}}) {
      const Problem problem{.batch = 2,
                            .heads = 4,
                            .kv_heads = 2,
                            .seq_q = seq_q,
                            .seq_kv = seq_kv,
                            .head_dim = 8,
                            .mask = {mask, 5}};
      const auto q = random_values(2 * 4 * seq_q * 8, generator);
      const auto k = random_values(2 * 2 * seq_kv * 8, generator);
      const auto v = random_values(2 * 2 * seq_kv * 8, generator);
      const ReferenceResult fast = attention_reference(problem, 0.35, q, k, v);
      const ReferenceResult plain = plain_reference(problem, 0.35, q, k, v);
      for (size_t i = 0; i < plain.o.size(); ++i) EXPECT_NEAR(fast.o[i], plain.o[i], rounding);
      for (size_t i = 0; i < plain.lse.size(); ++i) {
        if (std::isinf(plain.lse[i]))
          EXPECT_EQ(fast.lse[i], plain.lse[i]);
        else
          EXPECT_NEAR(fast.lse[i], plain.lse[i], rounding);
      }
    }
}

// Equal scores: the output is the mean of the values, lse = score + ln(keys).
TEST(AttentionReference, EqualScoresGiveTheMeanOfTheValues) {
  const Problem problem{
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 1, .seq_kv = 4, .head_dim = 2, .mask = {}};
  const ReferenceResult result =
      attention_reference(problem, 0.5, {1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}, {1, 0, 2, 0, 3, 0, 6, 8});
  EXPECT_NEAR(result.o[0], 3.0, rounding);
  EXPECT_NEAR(result.o[1], 2.0, rounding);
  EXPECT_NEAR(result.lse[0], 1.0 + std::log(4.0), rounding);
}

}  // namespace
}  // namespace sawtooth::kernels
