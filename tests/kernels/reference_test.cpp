#include <algorithm>
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

// Not nearly nothing: weights that are denormal numbers make products a hundred times as slow.
TEST(AttentionReference, HiddenKeysWeighNothing) {
  for (const MaskKind mask : {MaskKind::causal, MaskKind::window}) {
    constexpr int64_t seq_q = 2, seq_kv = 40, head_dim = 4;
    const Problem problem{.batch = 1,
                          .heads = 1,
                          .kv_heads = 1,
                          .seq_q = seq_q,
                          .seq_kv = seq_kv,
                          .head_dim = head_dim,
                          .mask = {mask, 8}};
    std::mt19937 generator(3);
    const auto q = random_values(seq_q * head_dim, generator);
    const auto k = random_values(seq_kv * head_dim, generator);
    const auto d_o = random_values(seq_q * head_dim, generator);
    // No row sees the last key but the last one; a window hides the first keys from all.
    std::vector<float> v(size_t(seq_kv * head_dim), 0.0f);
    std::fill_n(v.end() - head_dim, head_dim, 1.0f);
    const ReferenceResult forward = attention_reference(problem, 0.5, q, k, v);
    for (int64_t d = 0; d < head_dim; ++d) EXPECT_EQ(forward.o[size_t(d)], 0.0);
    if (mask != MaskKind::window) continue;
    const ReferenceGradients gradients = gradients_reference(problem, 0.5, q, k, v, d_o);
    for (int64_t i = 0; i < (seq_kv - seq_q - 8) * head_dim; ++i) {
      EXPECT_EQ(gradients.dk[size_t(i)], 0.0);
      EXPECT_EQ(gradients.dv[size_t(i)], 0.0);
    }
  }
}

struct GradientCase {
  Problem problem;
  std::vector<float> q, k, v, d_o;
};

/// Values on a grid of 1/256, so that a small power of two can be added to them exactly.
std::vector<float> values_on_a_grid(int64_t count, std::mt19937& generator) {
  std::uniform_int_distribution<int> steps(-512, 512);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = float(steps(generator)) / 256;
  return values;
}

/// Every mask, more and fewer queries than keys, with groups of two heads.
template <class Visit>
void for_each_gradient_case(Visit visit) {
  std::mt19937 generator(11);
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window})
    for (const auto& [seq_q, seq_kv] : {std::pair{5, 5}, std::pair{3, 7}, std::pair{7, 3}}) {
      const Problem problem{.batch = 2,
                            .heads = 4,
                            .kv_heads = 2,
                            .seq_q = seq_q,
                            .seq_kv = seq_kv,
                            .head_dim = 3,
                            .mask = {mask, 2}};
      const int64_t q_elements = 2 * 4 * seq_q * 3, kv_elements = 2 * 2 * seq_kv * 3;
      visit(GradientCase{problem, values_on_a_grid(q_elements, generator),
                         values_on_a_grid(kv_elements, generator),
                         values_on_a_grid(kv_elements, generator),
                         values_on_a_grid(q_elements, generator)});
    }
}

TEST(GradientsReference, AreTheDifferenceQuotientsOfForward) {
  constexpr double scale = 0.4;
  constexpr float step = 1.0f / 1024;
  constexpr double tolerance = 2e-5;  // a third derivative of some 10 times step^2
  for_each_gradient_case([&](const GradientCase& one) {
    const ReferenceGradients gradients =
        gradients_reference(one.problem, scale, one.q, one.k, one.v, one.d_o);
    const auto loss = [&](const GradientCase& at) {
      const ReferenceResult forward = attention_reference(at.problem, scale, at.q, at.k, at.v);
      double sum = 0;
      for (size_t i = 0; i < forward.o.size(); ++i) sum += double(at.d_o[i]) * forward.o[i];
      return sum;
    };
    const auto expect_quotients = [&](std::vector<float> GradientCase::*input,
                                      const std::vector<double>& gradient) {
      ASSERT_EQ(gradient.size(), (one.*input).size());
      for (size_t i = 0; i < gradient.size(); ++i) {
        GradientCase above = one, below = one;
        (above.*input)[i] += step;
        (below.*input)[i] -= step;
        EXPECT_NEAR(gradient[i], (loss(above) - loss(below)) / (2 * double(step)), tolerance);
      }
    };
    expect_quotients(&GradientCase::q, gradients.dq);
    expect_quotients(&GradientCase::k, gradients.dk);
    expect_quotients(&GradientCase::v, gradients.dv);
  });
}

TEST(GradientsReference, AgreeWithThePlainLoops) {
  for_each_gradient_case([](const GradientCase& one) {
    const ReferenceGradients fast =
        gradients_reference(one.problem, 0.3, one.q, one.k, one.v, one.d_o);
    const ReferenceGradients plain =
        plain_gradients(one.problem, 0.3, one.q, one.k, one.v, one.d_o);
    const auto expect_near = [](const std::vector<double>& a, const std::vector<double>& b) {
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], rounding);
    };
    expect_near(fast.dq, plain.dq);
    expect_near(fast.dk, plain.dk);
    expect_near(fast.dv, plain.dv);
  });
}

}  // namespace
}  // namespace sawtooth::kernels
