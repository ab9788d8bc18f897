#include "experiments/sawtooth/support/progress.hpp"

#include <gtest/gtest.h>

namespace sawtooth::experiments {
namespace {

// A quarter of the work took 10 s, so three quarters take 30 s.
TEST(Progress, TheTimeLeftFollowsFromTheShareOfTheWork) {
  const std::string line = progress_line(1, 8, 0.25, 10);
  EXPECT_NE(line.find("1 of 8  25 %  0:30 left"), std::string::npos) << line;
}

TEST(Progress, NoTimeIsPromisedBeforeAnythingIsDone) {
  EXPECT_EQ(progress_line(0, 8, 0, 10).find("left"), std::string::npos);
}

}  // namespace
}  // namespace sawtooth::experiments
