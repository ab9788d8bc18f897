#include "experiments/sawtooth/inputs/die_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

class DieFileTest : public testing::Test {
 protected:
  DieFile read(const std::string& text) { return read_die_file(folder_.write("die.ini", text)); }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
  test::TemporaryFolder folder_;
};

TEST_F(DieFileTest, HasSpeedsAndTheHalfOfTickets) {
  const DieFile die = read(
      "[die]\nname = NVIDIA H200\n[sm-half]\nvalue = 0,1\n[sm-slowness]\nvalue = "
      "0.001,-0.0005,0\nnote = by hand\n[cta-half]\nvalue = 0,1,1\n[ticket-half]\nvalue = 1\n");
  EXPECT_THAT(die.speeds.slowness, testing::ElementsAre(0.001, -0.0005, 0));
  EXPECT_THAT(die.cta_half, testing::ElementsAre(0, 1, 1));
  EXPECT_EQ(die.ticket_half, 1);
}

TEST_F(DieFileTest, MayLackThem) {
  const DieFile die = read("[die]\nname = NVIDIA H200\n");
  EXPECT_TRUE(die.speeds.slowness.empty());
  EXPECT_TRUE(die.cta_half.empty());
  EXPECT_EQ(die.ticket_half, std::nullopt);
}

TEST_F(DieFileTest, HasSpeedsOfOneKernelAndOfTwoCtas) {
  const DieFile die = read(
      "[die]\n[sm-slowness]\nvalue = 0,0\n[sm-slowness d64-128x128]\nvalue = 0.03,0\n"
      "[sm-slowness-older d64-128x128]\nvalue = 0.02,0\n"
      "[sm-slowness-younger d64-128x128]\nvalue = -0.01,0\n");
  const SmSpeeds known = speeds_of(die, 64, {128, 128});
  EXPECT_THAT(known.slowness, testing::ElementsAre(0.03, 0));
  EXPECT_THAT(known.older, testing::ElementsAre(0.02, 0));
  EXPECT_THAT(known.younger, testing::ElementsAre(-0.01, 0));
  const SmSpeeds others = speeds_of(die, 64, {128, 64});
  EXPECT_THAT(others.slowness, testing::ElementsAre(0, 0));
  EXPECT_TRUE(others.older.empty());
}

TEST_F(DieFileTest, OfAKernelThatItKnowsInPartHasTheRestOfAll) {
  const DieFile die = read(
      "[die]\n[sm-slowness]\nvalue = 0.01,0\n[sm-slowness-older d64-128x128]\nvalue = 0.02,0\n");
  const SmSpeeds known = speeds_of(die, 64, {128, 128});
  EXPECT_THAT(known.slowness, testing::ElementsAre(0.01, 0));
  EXPECT_THAT(known.older, testing::ElementsAre(0.02, 0));
  EXPECT_TRUE(known.younger.empty());
}

TEST_F(DieFileTest, NamesWhatIsWrong) {
  EXPECT_THAT(refusal("[die]\n[sm-slowness d64]\nvalue = 0\n"),
              testing::HasSubstr("'d64' is no kernel; allowed: such as d128-128x64"));
  EXPECT_THAT(refusal("[die]\n[sm-slowness]\nvalue = 0.001,fast\n"),
              testing::HasSubstr(":3: [sm-slowness] value: number 2 is not allowed"));
  EXPECT_THAT(refusal("[die]\n[sm-slowness]\nvalue = 0.001,\n"), testing::HasSubstr("number 2"));
  EXPECT_THAT(refusal("[die]\n[sm-slowness]\nvalue = 7\n"),
              testing::HasSubstr("between -0.5 and 0.5"));
  EXPECT_THAT(refusal("[die]\n[ticket-half]\nvalue = 2\n"),
              testing::HasSubstr(":3: [ticket-half] value: '2' is not allowed; allowed: 0, 1"));
  for (const char* halves : {"0,2", "0,", "0 1", "0,01"})
    EXPECT_THAT(refusal(std::string("[die]\n[cta-half]\nvalue = ") + halves + "\n"),
                testing::HasSubstr("[cta-half] value: number"))
        << halves;
  EXPECT_THAT(refusal("[die]\n[sm-speed]\nvalue = 2\n"),
              testing::HasSubstr("[sm-speed]: unknown section"));
  EXPECT_THAT(refusal("[sm-slowness]\nvalue = 0\n"),
              testing::HasSubstr("section [die] is missing"));
}

}  // namespace
}  // namespace sawtooth::experiments
