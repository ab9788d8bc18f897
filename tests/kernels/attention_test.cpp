#include <gtest/gtest.h>

#include "tests/kernels/random_points.hpp"

namespace sawtooth::kernels {
namespace {

TEST(Attention, AgreesWithTheReferenceOnRandomProblemsAndSchedules) {
  std::string reason;
  if (!device_available(reason)) GTEST_SKIP() << reason;
  constexpr uint64_t points = 300;
  double worst = 0;
  for (uint64_t seed = 0; seed < points; ++seed) EXPECT_EQ(run_and_judge(seed, worst), "");
}

}  // namespace
}  // namespace sawtooth::kernels
