// Points whose query heads are packed: their keys, and the columns of their rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/point.hpp"
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
  for (const auto& [key, value] :
       {std::pair{"gpu", "h200"}, {"seq", "1K"}, {"heads", "16"}, {"kv-heads", "4"}})
    assign(given, key, value, {});
  for (const auto& [key, value] : options) assign(given, key, value, {});
  Catalog catalog;
  return resolve(given, catalog);
}

TEST(PackGqaPoint, SectionsCountKvHeads) {
  EXPECT_EQ(point_of({{"pack-gqa", "on"}, {"section", "all"}}).text("section"), "4");
  // K and V of one head are 2 x 1024 x 128 bytes; two of them fit.
  const Options section{{"pack-gqa", "on"}, {"section", "auto:600KiB"}};
  EXPECT_EQ(point_of(section).text("section"), "2");
}

TEST(PackGqaPoint, OffIsAnEmptyCellThatLeavesTheRunAsItWas) {
  const CsvRow without = key_cells(point_of({}), "e", "predicted");
  const CsvRow off = key_cells(point_of({{"pack-gqa", "off"}}), "e", "predicted");
  const CsvRow on = key_cells(point_of({{"pack-gqa", "on"}}), "e", "predicted");
  EXPECT_EQ(off, without);
  EXPECT_EQ(off[result_column("pack_gqa")], "");
  EXPECT_EQ(on[result_column("pack_gqa")], "on");
  EXPECT_EQ(on[result_column("heads")], "16");
  EXPECT_EQ(on[result_column("seq_q")], "1024");
  EXPECT_NE(run_id(on), run_id(off));
}

TEST(PackGqaPoint, FlopAreThoseOfTheHeadsItPacks) {
  for (const char* mask : {"none", "causal", "window:100"}) {
    for (const char* seq_q : {"1", "1K", "1500"}) {
      const auto flop = [&](const char* pack) {
        const Point point = point_of({{"mask", mask}, {"seq-q", seq_q}, {"pack-gqa", pack}});
        return forward_flop(point.request.problem, point.request.tiling);
      };
      EXPECT_EQ(flop("on"), flop("off")) << mask << " " << seq_q;
    }
  }
}

TEST(PackGqaPoint, NoKernelHasBeenMeasuredThatPacks) {
  EXPECT_EQ(point_of({{"kernel", "mma"}, {"timing", "timed"}}).judgement.word, "measured");
  const Point timed = point_of({{"kernel", "mma"}, {"timing", "timed"}, {"pack-gqa", "on"}});
  EXPECT_EQ(timed.judgement.word, "borrowed");
  EXPECT_EQ(timed.costs, "mma-h200");
  EXPECT_EQ(point_of({{"timing", "lockstep"}, {"pack-gqa", "on"}}).judgement.word, "borrowed");
}

TEST(PackGqaPoint, TheBackwardPassIsRefusedByItsKey) {
  const std::string message = message_of<UsageError>([] {
    point_of({{"pass", "backward"}, {"pack-gqa", "on"}});
  });
  EXPECT_THAT(message, HasSubstr("pack-gqa: "));
  EXPECT_THAT(message, HasSubstr("allowed with pass = backward: off"));
}

}  // namespace
}  // namespace sawtooth::experiments
