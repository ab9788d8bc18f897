#include "experiments/sawtooth/inputs/option_values.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

std::string canonical(std::string_view key, std::string_view text) {
  return canonical_value(*find_option(key), text);
}

TEST(OptionValues, SuffixesOfCountsArePowersOf1024) {
  EXPECT_EQ(canonical("seq", "128K"), "131072");
  EXPECT_EQ(canonical("seq", "2M"), "2097152");
  EXPECT_EQ(canonical("seq", "1G"), "1073741824");
  EXPECT_EQ(canonical("seq", "7"), "7");
  EXPECT_EQ(canonical("seq", "4k"), "4096");
  EXPECT_THROW(parse_count("9223372036854775807K"), std::invalid_argument);
}

TEST(OptionValues, BytesTakeUnitsAndFractionsOfThem) {
  EXPECT_EQ(parse_bytes("24MiB"), 24 * 1024 * 1024);
  EXPECT_EQ(parse_bytes("24 MiB"), 24 * 1024 * 1024);
  EXPECT_EQ(parse_bytes("1.5 KiB"), 1536);
  EXPECT_EQ(parse_bytes("32"), 32);
  EXPECT_EQ(parse_bytes("24mib"), 24 * 1024 * 1024);
}

TEST(OptionValues, BytesThatAreNoBytesAreRefused) {
  for (const char* text : {"12 bananas", "", "-1", "0", "1.5", "nan", "1e400", "MiB", "1 MB"}) {
    EXPECT_THROW(parse_bytes(text), std::invalid_argument) << text;
  }
}

TEST(OptionValues, MasksAreReadWithTheirWindow) {
  EXPECT_EQ(parse_mask("window:4K").window, 4096);
  EXPECT_EQ(canonical("mask", "window:4K"), "window:4096");
  EXPECT_EQ(canonical("mask", "Window:4k"), "window:4096");
  EXPECT_EQ(canonical("mask", "Causal"), "causal");
  // As long as keys may be: the sums of rows and keys of longer ones overflow.
  EXPECT_EQ(parse_mask("window:1024G").window, int64_t{1} << 40);
  for (const char* text : {"window:0", "window:", "window", "casual", "window:-3",
                           "window:1099511627777", "window:9223372036854775807"}) {
    EXPECT_THROW(canonical("mask", text), std::invalid_argument) << text;
  }
}

TEST(OptionValues, SectionsAreCountsAllOrAutomatic) {
  EXPECT_EQ(canonical("section", "all"), "all");
  EXPECT_EQ(canonical("section", "auto:32MiB"), "auto:33554432");
  EXPECT_EQ(canonical("section", "8"), "8");
  for (const char* text : {"0", "auto", "auto:", "auto:x", "some"}) {
    EXPECT_THROW(canonical("section", text), std::invalid_argument) << text;
  }
}

TEST(OptionValues, MessagesSayWhatIsAllowed) {
  EXPECT_EQ(test::message_of<std::invalid_argument>([] { canonical("launch", "sideways"); }),
            "'sideways' is not allowed; allowed: one of grid, static, dynamic, balanced");
}

TEST(OptionValues, EveryDefaultOfTheTableIsAllowedAndCanonical) {
  for (const OptionSpec& option : option_table()) {
    if (option.default_text.empty()) continue;
    EXPECT_EQ(canonical_value(option, option.default_text), option.default_text) << option.key;
  }
}

TEST(OptionValues, NoKeyIsInTheTableTwice) {
  for (const OptionSpec& option : option_table()) {
    EXPECT_EQ(find_option(option.key), &option) << option.key;
  }
}

TEST(OptionValues, ListsKeepEmptyPartsSoThatTheyAreSeen) {
  EXPECT_EQ(split_list("1, 2,,3"), (std::vector<std::string>{"1", "2", "", "3"}));
}

}  // namespace
}  // namespace sawtooth::experiments
