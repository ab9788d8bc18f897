#include "experiments/sawtooth/record/record_arguments.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

std::string refusal(const Arguments& arguments) {
  try {
    parse_record_arguments(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(RecordArguments, OptionsStandBeforeTheDashesAndTheCommandBehind) {
  const RecordArguments record = parse_record_arguments(
      {"--kernel", "flash|attn", "--nvtx=step", "--skip", "2", "--count", "10", "--flush",
       "--metrics", "a.sum, b.sum", "--csv", "out.csv", "--", "python", "x.py", "--kernel", "--"});
  EXPECT_EQ(record.launches, (inject::PassRequest{"flash|attn", "step", 2, 10, true, {}}));
  EXPECT_EQ(record.metrics, (std::vector<std::string>{"a.sum", "b.sum"}));
  EXPECT_EQ(record.csv, "out.csv");
  EXPECT_EQ(record.command, (std::vector<std::string>{"python", "x.py", "--kernel", "--"}));
}

TEST(RecordArguments, MistakesAreRefusedWithTheirKey) {
  EXPECT_NE(refusal({"--kernel", "x"}).find("no command"), std::string::npos);
  EXPECT_NE(refusal({"--"}).find("no command"), std::string::npos);
  EXPECT_NE(refusal({"--kernl", "x", "--", "ls"}).find("'--kernl' is no option"),
            std::string::npos);
  EXPECT_EQ(refusal({"--csv", "--", "ls"}), "--csv: a value is missing");
  EXPECT_NE(refusal({"--kernel", "(", "--", "ls"}).find("--kernel: '(' is no regular"),
            std::string::npos);
  EXPECT_NE(refusal({"--skip", "-1", "--", "ls"}).find("--skip: "), std::string::npos);
  EXPECT_NE(refusal({"--metrics", ",", "--", "ls"}).find("--metrics: "), std::string::npos);
}

}  // namespace
}  // namespace sawtooth::experiments
