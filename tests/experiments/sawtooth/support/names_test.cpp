#include "experiments/sawtooth/support/names.hpp"

#include <gtest/gtest.h>

namespace sawtooth::experiments {
namespace {

const std::vector<std::string_view> names{"linear", "sawtooth", "sawtooth-item", "attach"};

TEST(Names, AreFoundInAnyCase) {
  EXPECT_EQ(found_name("Sawtooth-ITEM", names), "sawtooth-item");
  EXPECT_EQ(found_name("sawtoothitem", names), "");
}

TEST(Names, TheNearestOneIsOfferedWhereAThirdOfItsLettersChangeAtMost) {
  EXPECT_EQ(did_you_mean("swatooth", names), "; did you mean sawtooth?");  // neighbours exchanged
  EXPECT_EQ(did_you_mean("LINAR", names), "; did you mean linear?");       // a letter is missing
  EXPECT_EQ(did_you_mean("atach!", names), "; did you mean attach?");      // 2 of 6 letters
  EXPECT_EQ(did_you_mean("batch!", names), "");                            // 3 of 6 letters
  EXPECT_EQ(did_you_mean("", names), "");
}

}  // namespace
}  // namespace sawtooth::experiments
