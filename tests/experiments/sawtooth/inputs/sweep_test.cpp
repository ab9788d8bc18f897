#include "experiments/sawtooth/inputs/sweep.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;

Settings command_line(const std::vector<std::pair<std::string, std::string>>& options) {
  Settings settings;
  for (const auto& [key, value] : options) assign(settings, key, value, {});
  return settings;
}

Configuration configuration(const std::string& text) {
  const TemporaryFolder folder;
  return read_configuration(folder.write("c.ini", text));
}

std::vector<std::string> values(const std::vector<Settings>& points,
                                const std::vector<std::string>& keys) {
  std::vector<std::string> texts;
  for (const Settings& point : points) {
    std::string text;
    for (const std::string& key : keys) {
      text += (text.empty() ? "" : " ") +
              (point.contains(key) ? point.at(key).values.front() : std::string("-"));
    }
    texts.push_back(text);
  }
  return texts;
}

TEST(Sweep, PointsAreTheCrossProductAndTheFirstKeyOfTheTableVariesSlowest) {
  const auto points = expand(configuration("scan = linear, sawtooth\nseq = 1K\nseq = 2K\n"), {});
  EXPECT_EQ(
      values(points, {"seq", "scan"}),
      (std::vector<std::string>{"1024 linear", "1024 sawtooth", "2048 linear", "2048 sawtooth"}));
}

TEST(Sweep, TheCommandLineReplacesAnAxisOfTheConfiguration) {
  const auto points = expand(configuration("scan = linear, sawtooth\nseq = 64\n"),
                             command_line({{"scan", "reverse"}}));
  EXPECT_EQ(values(points, {"seq", "scan"}), (std::vector<std::string>{"64 reverse"}));
}

TEST(Sweep, EachSectionVariesTheBaseInItsOwnWay) {
  const auto points =
      expand(configuration(
                 "seq = 64\nscan = linear\n[scans]\nscan = reverse, sawtooth\n[long]\nseq = 128\n"),
             {});
  EXPECT_EQ(values(points, {"seq", "scan"}),
            (std::vector<std::string>{"64 reverse", "64 sawtooth", "128 linear"}));
}

TEST(Sweep, SeqOfAHigherLayerReplacesBothLengthsOfALowerOne) {
  const auto points =
      expand(configuration("seq-q = 1\nseq-kv = 2\n"), command_line({{"seq", "64"}}));
  EXPECT_EQ(values(points, {"seq", "seq-q", "seq-kv"}), (std::vector<std::string>{"64 - -"}));
}

TEST(Sweep, OneLengthOfAHigherLayerLeavesTheOtherToSeq) {
  const auto points = expand(configuration("seq = 64\n"), command_line({{"seq-q", "1"}}));
  EXPECT_EQ(values(points, {"seq", "seq-q", "seq-kv"}), (std::vector<std::string>{"64 1 -"}));
}

TEST(Sweep, ASeqThatBothLengthsHideIsNoAxisAnyMore) {
  const auto points =
      expand(configuration("seq = 64, 128\n"), command_line({{"seq-q", "1"}, {"seq-kv", "2"}}));
  EXPECT_EQ(points.size(), 1u);
}

TEST(Sweep, OutputOptionsInASectionAreRefused) {
  EXPECT_NE(message_of<UsageError>([] {
              configuration("[a]\ncsv = x.csv\n");
            }).find("c.ini:2: csv: belongs before the first section"),
            std::string::npos);
}

TEST(Sweep, AnUnknownKeyIsNamedWithFileAndLine) {
  EXPECT_NE(message_of<UsageError>([] {
              configuration("seq = 1\nsek = 2\n");
            }).find("c.ini:2: sek: unknown key"),
            std::string::npos);
}

TEST(Sweep, MoreThan65536PointsOfAllSectionsTogetherAreRefused) {
  const auto numbers = [](int count) {
    std::string list = "1";
    for (int i = 2; i <= count; ++i) list.append(",").append(std::to_string(i));
    return list;
  };
  const std::string all = "seq = " + numbers(256) + "\nbatch = " + numbers(256) + "\n";
  EXPECT_EQ(expand(configuration(all), {}).size(), 65536u);
  for (const std::string& more : {"seq = " + numbers(257) + "\nbatch = " + numbers(256) + "\n",
                                  all + "[one]\nscan = linear\n[two]\nseq = 1\n"}) {
    EXPECT_NE(message_of<UsageError>([&] {
                expand(configuration(more), {});
              }).find("more than 65536 points; allowed: up to so many in all"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace sawtooth::experiments
