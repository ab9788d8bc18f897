// Points of sequences of different lengths: their keys, and the columns of their rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/print_config.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/forward_flop.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using testing::HasSubstr;

using Options = std::vector<std::pair<std::string, std::string>>;

Point point_of(const Options& options) {
  Settings given;
  assign(given, "gpu", "h200", {});
  for (const auto& [key, value] : options) assign(given, key, value, {});
  Catalog catalog;
  return resolve(given, catalog);
}

std::vector<SequenceLengths> lengths_in(const Point& point) {
  return point.sequences->lengths;
}

TEST(LengthsPoint, ListsSayHowManySequencesThereAreAndWhichIsTheLongest) {
  const Point point = point_of({{"lengths", "4K+1K+2K"}});
  EXPECT_EQ(point.text("batch"), "3");
  EXPECT_EQ(point.text("seq-kv"), "4096");
  EXPECT_EQ(point.text("seq-q"), "4096");  // queries as keys where nothing else is said
  EXPECT_EQ(point.text("q-lengths"), "4096+1024+2048");
  EXPECT_EQ(lengths_in(point),
            (std::vector<SequenceLengths>{{4096, 4096}, {1024, 1024}, {2048, 2048}}));
}

TEST(LengthsPoint, DecodeAndPrefillMayStandInOneLaunch) {
  EXPECT_EQ(lengths_in(point_of({{"lengths", "4K+1K"}, {"seq-q", "1"}})),
            (std::vector<SequenceLengths>{{1, 4096}, {1, 1024}}));
  EXPECT_EQ(lengths_in(point_of({{"lengths", "2x4K+512"}, {"q-lengths", "2x1+512"}})),
            (std::vector<SequenceLengths>{{1, 4096}, {1, 4096}, {512, 512}}));
  EXPECT_EQ(lengths_in(point_of({{"seq-kv", "4K"}, {"q-lengths", "1+4"}})),
            (std::vector<SequenceLengths>{{1, 4096}, {4, 4096}}));
}

TEST(LengthsPoint, ADistributionHasAsManySequencesAsTheBatch) {
  const Point point = point_of({{"lengths", "uniform:1K..64K:7"}, {"seq-q", "1"}, {"batch", "5"}});
  EXPECT_EQ(lengths_in(point).size(), 5u);
  EXPECT_EQ(point.text("lengths"), "uniform:1024..65536:7");
}

TEST(LengthsPoint, LongestFirstSortsByPairsAndKeepsEqualOnes) {
  const Options options{{"lengths", "1K+4K+1K+2K"}, {"seq-q", "1"}, {"sequence-order", "longest"}};
  EXPECT_EQ(point_of(options).sequences->order, (std::vector<int64_t>{1, 3, 0, 2}));
}

TEST(LengthsPoint, PackedQueriesAreRowsOfAllHeadsOfTheGroup) {
  const Options options{{"lengths", "4K+1K"},
                        {"q-lengths", "1+3"},
                        {"heads", "8"},
                        {"kv-heads", "2"},
                        {"pack-gqa", "on"}};
  EXPECT_EQ(lengths_in(point_of(options)), (std::vector<SequenceLengths>{{4, 4096}, {12, 1024}}));
}

// 4 D FLOP a pair, D = 64: 1 x 4096 and 512 x 512 pairs, of which a causal mask hides half.
TEST(LengthsPoint, FlopAreThoseOfTheSequences) {
  const auto flop = [](const char* mask) {
    const Point point = point_of({{"lengths", "4K+512"}, {"q-lengths", "1+512"}, {"mask", mask}});
    const sim::Request& request = point.request;
    return attention_flop(request.problem, request.tiling, request.sequences);
  };
  EXPECT_EQ(flop("none"), 4.0 * 64 * (4096 + 512 * 512));
  EXPECT_EQ(flop("causal"), 4.0 * 64 * (4096 - 0.5 + 512 * 512 / 2));
}

TEST(LengthsPoint, ItsColumnsTellPointsApartAndAreEmptyForOneLength) {
  const CsvRow row = key_cells(point_of({{"lengths", "4K+1K"}}), "e", "predicted");
  const CsvRow longest =
      key_cells(point_of({{"lengths", "4K+1K"}, {"sequence-order", "longest"}}), "e", "predicted");
  EXPECT_EQ(row[result_column("lengths")], "4096+1024");
  EXPECT_EQ(row[result_column("q_lengths")], "4096+1024");
  EXPECT_EQ(row[result_column("sequence_order")], "given");
  EXPECT_NE(run_id(row), run_id(longest));
  const CsvRow plain = key_cells(point_of({{"seq", "4K"}, {"batch", "2"}}), "e", "predicted");
  EXPECT_EQ(plain[result_column("lengths")], "");
  EXPECT_EQ(plain[result_column("q_lengths")], "");
  EXPECT_EQ(plain[result_column("sequence_order")], "");
}

TEST(LengthsPoint, NoKernelHasBeenMeasuredThatTakesThem) {
  EXPECT_EQ(point_of({{"lengths", "4K+1K"}}).judgement.word, "borrowed");
}

TEST(LengthsPoint, WhatTheyContradictIsRefusedByItsKey) {
  const auto refused = [](const Options& options, const char* words) {
    EXPECT_THAT(message_of<UsageError>([&] { point_of(options); }), HasSubstr(words));
  };
  refused({{"lengths", "4K+1K"}, {"seq-kv", "4K"}}, "seq-kv: has no effect beside lengths");
  refused({{"lengths", "4K+1K"}, {"seq", "4K"}}, "seq: has no effect beside lengths");
  refused({{"lengths", "4K"}, {"q-lengths", "1"}, {"seq-q", "1"}},
          "seq-q: has no effect beside q-lengths");
  refused({{"lengths", "4K+1K"}, {"batch", "3"}}, "lengths: has 2 sequences, batch = 3");
  refused({{"lengths", "4K+1K"}, {"q-lengths", "1"}}, "q-lengths: has 1 sequences, batch = 2");
  refused({{"lengths", "0+0"}}, "lengths: all sequences are empty");
  refused({{"q-lengths", "1+2"}}, "seq: not given");
  refused({{"lengths", "4K+1K"}, {"pass", "backward"}}, "pass: backward takes sequences of one");
  refused({{"lengths", "4K+1K"}, {"prefetch", "1"}}, "prefetch: is not modelled with lengths");
  refused({{"lengths", "4K+1K"}, {"launch", "balanced"}}, "launch: balanced cuts items of one");
  refused({{"lengths", "4K+1K"}, {"loop", "kv-outer"}}, "loop: kv-outer takes sequences of one");
  refused({{"seq", "4K"}, {"sequence-order", "longest"}}, "sequence-order: has no effect without");
}

TEST(LengthsPoint, ItsResolvedConfigurationIsTheSamePoint) {
  for (const Options& options :
       {Options{{"lengths", "4K+1K"}}, Options{{"lengths", "4K+1K"}, {"seq-q", "1"}},
        Options{{"seq-kv", "1K"}, {"q-lengths", "2+1"}}}) {
    Settings given;
    assign(given, "gpu", "h200", {});
    for (const auto& [key, value] : options) assign(given, key, value, {});
    Catalog catalog;
    const std::string text = resolved_configuration(empty_configuration(), given, "e", catalog);
    Settings again = expand(parse_configuration(text, "resolved.ini"), {}).front();
    const CsvRow before = key_cells(resolve(given, catalog), "e", "predicted");
    EXPECT_EQ(key_cells(resolve(again, catalog), "e", "predicted"), before) << text;
  }
}

}  // namespace
}  // namespace sawtooth::experiments
