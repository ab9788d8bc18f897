#include "cupti/inject/launch_filter.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace sawtooth::inject {
namespace {

std::vector<int64_t> taken(LaunchFilter& filter, const std::vector<std::string>& symbols) {
  std::vector<int64_t> indices;
  for (const std::string& symbol : symbols) {
    const int64_t index = filter.launches();
    if (filter.takes(symbol, false)) indices.push_back(index);
  }
  return indices;
}

TEST(LaunchFilter, WithoutConditionsEveryLaunchIsTaken) {
  LaunchFilter filter({});
  EXPECT_EQ(taken(filter, {"a", "b", ""}), (std::vector<int64_t>{0, 1, 2}));
}

TEST(LaunchFilter, TheExpressionIsSearchedInTheDemangledName) {
  LaunchFilter filter({.kernel = "^void flash::fwd<[0-9]+"});
  // void flash::fwd<64>(float*), and the same without its namespace
  EXPECT_EQ(taken(filter, {"_ZN5flash3fwdILi64EEEvPf", "_Z3fwdILi64EEvPf", "flash::fwd<64>",
                           "_ZN5flash3fwdILi64EEEvPf"}),
            (std::vector<int64_t>{0, 3}));
}

TEST(LaunchFilter, SkipAndCountGoByMatchingLaunches) {
  LaunchFilter filter({.kernel = "attention", .skip = 1, .count = 2});
  EXPECT_EQ(taken(filter, {"attention", "gemm", "attention", "gemm", "attention", "attention"}),
            (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(filter.launches(), 6);
}

TEST(LaunchFilter, AnNvtxRangeThatIsAskedForMustBeOpen) {
  LaunchFilter filter({.kernel = "k", .nvtx = "step", .count = 1});
  EXPECT_FALSE(filter.takes("k", false));
  EXPECT_FALSE(filter.takes("other", true));
  EXPECT_TRUE(filter.takes("k", true));
  EXPECT_FALSE(filter.takes("k", true));  // one was asked for
}

TEST(LaunchFilter, ABrokenExpressionIsRefusedWithItsReason) {
  try {
    const LaunchFilter filter({.kernel = "a(b"});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'a(b' is no regular expression: "),
              std::string::npos);
  }
}

TEST(LaunchFilter, NamesThatAreNotMangledStayAsTheyAre) {
  EXPECT_EQ(demangled("_attn_fwd"), "_attn_fwd");
  EXPECT_EQ(demangled("_Z1kPf"), "k(float*)");
}

}  // namespace
}  // namespace sawtooth::inject
