// What the programs that check kernels on a GPU take for right and for wrong.
#include "tests/kernels/random_check.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sawtooth::kernels {
namespace {

constexpr Tolerance tolerated{.o = 1e-2, .lse = 1e-3};

ReferenceResult expected() {
  return {.o = {3, 4, 0, 0}, .lse = {0.5, -INFINITY}};
}

TEST(RandomCheck, TakesResultsWithinTheTolerance) {
  const std::vector<float> o{3, 4.04f, 0, 0}, lse{0.5005f, -INFINITY};
  const Judged judged = judge_rows(o, lse, expected(), tolerated);
  EXPECT_EQ(judged.wrong, "");
  EXPECT_NEAR(judged.error, 0.04 / 5, 1e-6);
  EXPECT_EQ(judge_rows(o, {}, expected(), tolerated).wrong, "");
}

TEST(RandomCheck, NamesWhatIsWrong) {
  const std::vector<float> right{3, 4, 0, 0}, lse{0.5f, -INFINITY};
  const auto wrong = [](const std::vector<float>& o, const std::vector<float>& of_rows) {
    return judge_rows(o, of_rows, expected(), tolerated).wrong;
  };
  EXPECT_EQ(wrong({3, 4.1f, 0, 0}, lse).find("O differs by 0.02"), 0u);
  EXPECT_NE(wrong({3, NAN, 0, 0}, lse), "");
  EXPECT_EQ(wrong(right, {0.502f, -INFINITY}).find("lse is 0.502"), 0u);
  EXPECT_EQ(wrong(right, {0.5f, 0}).find("lse is 0.000000, expected -inf"), 0u);
  EXPECT_NE(wrong(right, {NAN, -INFINITY}), "");
}

// A sequence that saw no key has O 0, whose error is that of the difference alone.
TEST(RandomCheck, OfZeroTheErrorIsAbsolute) {
  const ReferenceResult nothing{.o = {0, 0}, .lse = {-INFINITY}};
  const std::vector<float> lse{-INFINITY};
  EXPECT_EQ(judge_rows(std::vector<float>{0, 0}, lse, nothing, tolerated).wrong, "");
  EXPECT_NE(judge_rows(std::vector<float>{0, 0.1f}, lse, nothing, tolerated).wrong, "");
}

}  // namespace
}  // namespace sawtooth::kernels
