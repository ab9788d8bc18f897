#include "experiments/sawtooth/inputs/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/results/result_row.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::given;
using test::message_of;
using test::TemporaryFolder;
using testing::HasSubstr;

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
                             given({{"scan", "reverse"}}, {}));
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
  const auto points = expand(configuration("seq-q = 1\nseq-kv = 2\n"), given({{"seq", "64"}}, {}));
  EXPECT_EQ(values(points, {"seq", "seq-q", "seq-kv"}), (std::vector<std::string>{"64 - -"}));
}

TEST(Sweep, OneLengthOfAHigherLayerLeavesTheOtherToSeq) {
  const auto points = expand(configuration("seq = 64\n"), given({{"seq-q", "1"}}, {}));
  EXPECT_EQ(values(points, {"seq", "seq-q", "seq-kv"}), (std::vector<std::string>{"64 1 -"}));
}

TEST(Sweep, ASeqThatBothLengthsHideIsNoAxisAnyMore) {
  const auto points =
      expand(configuration("seq = 64, 128\n"), given({{"seq-q", "1"}, {"seq-kv", "2"}}, {}));
  EXPECT_EQ(points.size(), 1u);
}

TEST(Sweep, OutputOptionsInASectionAreRefused) {
  EXPECT_THAT(message_of<UsageError>([] { configuration("[a]\ncsv = x.csv\n"); }),
              HasSubstr("c.ini:2: csv: belongs before the first section"));
}

TEST(Sweep, AnUnknownKeyIsNamedWithFileAndLine) {
  EXPECT_THAT(message_of<UsageError>([] { configuration("seq = 1\nsek = 2\n"); }),
              HasSubstr("c.ini:2: sek: unknown key"));
}

TEST(Sweep, ARangeStandsForItsValuesWithBothEnds) {
  const auto seqs = [](const std::string& text) {
    return values(expand(configuration("seq = " + text + "\n"), {}), {"seq"});
  };
  EXPECT_EQ(seqs("96K..104K:4K"), (std::vector<std::string>{"98304", "102400", "106496"}));
  EXPECT_EQ(seqs("3..5, 9, 1K .. 1026 : 2"),
            (std::vector<std::string>{"3", "4", "5", "9", "1024", "1026"}));
  EXPECT_EQ(seqs("5..9:3"), (std::vector<std::string>{"5", "8"}));
  EXPECT_EQ(
      values(expand(configuration("seq = 1\nl2-bytes = 1MiB..2MiB:512KiB\n"), {}), {"l2-bytes"}),
      (std::vector<std::string>{"1048576", "1572864", "2097152"}));
}

TEST(Sweep, ARangeThatIsNoneIsRefused) {
  const auto message = [](const std::string& line) {
    return message_of<UsageError>([&] { configuration(line + "\n"); });
  };
  EXPECT_THAT(message("seq = 5..4"),
              HasSubstr("c.ini:1: seq: '5..4' is not allowed; allowed: BEGIN..END"));
  EXPECT_THAT(message("seq = 1..4:0"), HasSubstr("STEP from 1 on"));
  EXPECT_THAT(message("seq = 0..4"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(message("seq = 1..G"), HasSubstr("or a range such as"));
  EXPECT_THAT(message("seed = 0..1G"), HasSubstr("up to 1048576 values"));
  EXPECT_THAT(message("threads = 1..4"), HasSubstr("is not allowed"));
  EXPECT_THAT(message("scan = linear..reverse"), HasSubstr("is not allowed"));
}

TEST(PointList, HasThePointsOfALongListWithoutMakingThem) {
  const PointList list(configuration("seq = 1..1M\nbatch = 1..1M\nscan = linear, reverse\n"), {});
  ASSERT_EQ(list.size(), size_t{1} << 41);
  // batch varies slowest, then seq, then scan.
  const Settings point = list[(size_t{6} << 21) + (size_t{4} << 1) + 1];
  EXPECT_EQ(values({point}, {"batch", "seq", "scan"}), (std::vector<std::string>{"7 5 reverse"}));
  EXPECT_EQ(values({list[list.size() - 1]}, {"batch", "seq", "scan"}),
            (std::vector<std::string>{"1048576 1048576 reverse"}));
}

TEST(PointList, RefusesWhatCannotBeCounted) {
  const std::string axes = "seq = 1..1M\nbatch = 1..1M\nheads = 1..1M\n";
  EXPECT_THAT(
      message_of<UsageError>([&] { PointList(configuration(axes + "workers = 1..8\n"), {}); }),
      HasSubstr("more than 2^62 points"));
  EXPECT_EQ(PointList(configuration(axes + "workers = 1..4\n"), {}).size(), size_t{1} << 62);
}

TEST(PointList, KnowsWhetherPointsMayRepeat) {
  const auto may_repeat = [](const std::string& text) {
    return PointList(configuration(text), {}).may_repeat();
  };
  EXPECT_FALSE(may_repeat("seq = 1..9\nscan = linear, reverse\n"));
  EXPECT_TRUE(may_repeat("seq = 1, 2, 1\n"));
  EXPECT_TRUE(may_repeat("seq = 1\nsection = 1, 2\n")) << "of fewer heads both are the same";
  EXPECT_TRUE(may_repeat("seq = 1\n[a]\nbatch = 1\n[b]\nbatch = 1\n"));
}

// The resolved form of a configuration means what the configuration means.
std::vector<CsvRow> rows_of(const Configuration& configuration, Catalog& catalog) {
  std::vector<CsvRow> rows;
  for (const Settings& settings : expand(configuration, {}))
    rows.push_back(key_cells(resolve(settings, catalog), "e", "predicted"));
  return rows;
}

TEST(PrintConfig, KeepsTheTilesOfGpusThatDifferInOneSide) {
  // Each GPU has a default tile of its own; one half given would take its other side from it.
  const size_t tile_q = result_column("tile_q"), tile_kv = result_column("tile_kv");
  for (const std::string launch : {"launch = static\n", ""}) {  // without it a plain call's
    Catalog catalog;
    const Configuration both =
        parse_configuration("gpu = gb10, h200\nseq = 1K\nhead-dim = 128\n" + launch, "given.ini");
    const std::vector<CsvRow> rows = rows_of(both, catalog);
    ASSERT_EQ(rows.size(), 2);
    ASSERT_NE(rows[0][tile_q], rows[1][tile_q]);
    if (!launch.empty()) {
      ASSERT_EQ(rows[0][tile_kv], rows[1][tile_kv]);
    }
    const std::string text = resolved_configuration(both, {}, "e", catalog);
    EXPECT_EQ(rows_of(parse_configuration(text, "resolved.ini"), catalog), rows) << text;
  }
}

}  // namespace
}  // namespace sawtooth::experiments
