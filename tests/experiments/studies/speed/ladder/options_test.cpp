#include "experiments/studies/speed/ladder/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments::ladder {
namespace {

Options parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "ladder");
  return parse_options(int(arguments.size()), arguments.data());
}

std::string complaint(const std::vector<const char*>& arguments) {
  try {
    parsed(arguments);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(LadderOptions, DefaultsAreAllLevelsInTheShapeOfTheSeed) {
  const Options options = parsed({});
  EXPECT_THAT(options.levels, testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(options.problem.batch, 2);
  EXPECT_EQ(options.problem.heads, 8);
  EXPECT_EQ(options.problem.seq_q, 1024);
  EXPECT_EQ(options.problem.head_dim, 128);
  EXPECT_EQ(options.problem.dtype, ElementType::fp16);
}

TEST(LadderOptions, LevelsAreTakenByNumberInAscendingOrderOnceEach) {
  EXPECT_THAT(parsed({"4", "2", "4"}).levels, testing::ElementsAre(2, 4));
  EXPECT_THAT(parsed({"--level", "3"}).levels, testing::ElementsAre(3));
}

TEST(LadderOptions, AMistakeIsNamed) {
  EXPECT_THAT(complaint({"6"}), testing::HasSubstr("'6' is none of 1 to 5"));
  EXPECT_THAT(complaint({"2x"}), testing::HasSubstr("2x"));
  EXPECT_THAT(complaint({"--seq", "1000"}), testing::HasSubstr("multiple of 64"));
  EXPECT_THAT(complaint({"--seq", "many"}), testing::HasSubstr("--seq: 'many'"));
  EXPECT_THAT(complaint({"--repetitions", "0"}), testing::HasSubstr("from 1"));
  EXPECT_THAT(complaint({"--dtype", "fp32"}), testing::HasSubstr("fp16, bf16"));
  EXPECT_THAT(complaint({"--colour", "red"}), testing::HasSubstr("colour"));
}

}  // namespace
}  // namespace sawtooth::experiments::ladder
