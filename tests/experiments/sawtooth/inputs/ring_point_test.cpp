// Points of a ring and of shared heads: their keys, their rows and what they refuse.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/predicted_ring.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Options = std::vector<std::pair<std::string, std::string>>;

Settings settings_of_options(const Options& options) {
  Settings given;
  assign(given, "gpu", "h200", {});
  const bool has_lengths = std::any_of(options.begin(), options.end(), [](const auto& option) {
    return option.first.starts_with("seq-");
  });
  if (!has_lengths) assign(given, "seq", "1K", {});
  for (const auto& [key, value] : options) assign(given, std::string(key_of_name(key)), value, {});
  return given;
}

Point point_of(const Options& options) {
  Catalog catalog;
  return resolve(settings_of_options(options), catalog);
}

std::string refusal_of(const Options& options) {
  try {
    point_of(options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(RingPoint, SaysItsPartOfTheRing) {
  const Point point = point_of({{"ranks", "4"}, {"mask", "causal"}, {"ring-rank", "2"}});
  EXPECT_EQ(point.ring->ranks, 4);
  EXPECT_EQ(point.ring->chunk_rows(), 128);
  const CsvRow cells = key_cells(point, "", "predicted");
  EXPECT_EQ(cells[result_column("ring")], "4");
  EXPECT_EQ(cells[result_column("ring_order")], "zigzag");
  EXPECT_EQ(cells[result_column("ring_mover")], "copy");
  EXPECT_EQ(cells[result_column("ring_rank")], "2");
  EXPECT_EQ(cells[result_column("ring_step")], "all");
  EXPECT_EQ(point.judgement.word, "borrowed");
}

TEST(RingPoint, LeavesRowsOfOneGpuAsTheyWere) {
  const CsvRow cells = key_cells(point_of({}), "", "predicted");
  for (const char* column :
       {"ring", "ring_order", "ring_mover", "ring_rank", "ring_step", "head_shards", "exchange"})
    for (size_t i = 0; i < key_column_count; ++i) {
      if (result_columns[i].name == column) {
        EXPECT_EQ(cells[i], "") << column;
      }
    }
}

TEST(RingPoint, StandsForTheWholeAndEachStepOfEachGpu) {
  const PointList list(
      {"", {}, {{"", settings_of_options({{"ring", "1, 2"}, {"mask", "causal"}})}}}, {});
  std::vector<std::string> parts;
  for (size_t i = 0; i < list.size(); ++i) {
    Catalog catalog;
    const Point point = resolve(list[i], catalog);
    parts.push_back(point.text("ring") + ":" + point.text("ring-rank") + ":" +
                    point.text("ring-step"));
  }
  EXPECT_THAT(parts,
              ElementsAre("1:all:all", "1:0:0", "2:all:all", "2:0:0", "2:0:1", "2:1:0", "2:1:1"));
}

TEST(RingPoint, RefusesWhatNoRingHas) {
  for (const auto& [key, value, words] : {std::tuple{"mask", "window:64", "none or causal"},
                                          {"seq-kv", "512", "as many queries as keys"},
                                          {"kv-split", "2", "takes 1"},
                                          {"lse", "on", "leave it out"},
                                          {"launches", "3", "takes no ring"},
                                          {"head-shards", "1", "a ring takes none"},
                                          {"ring-rank", "2", "below ring = 2"},
                                          {"ring-step", "9", "below ring = 2"}}) {
    Options options{{"ring", "2"}, {key, value}};
    if (std::string(key) == "seq-kv") options.push_back({"seq-q", "1K"});
    EXPECT_THAT(refusal_of(options), HasSubstr(words)) << key;
  }
  EXPECT_EQ(refusal_of({{"ring", "2"}, {"pass", "backward"}}), "");
  EXPECT_THAT(refusal_of({{"ring", "3"}}), HasSubstr("multiple of 6"));
  EXPECT_THAT(refusal_of({{"ring-step", "1"}}), HasSubstr("no effect without ring"));
  EXPECT_THAT(refusal_of({{"ring", "2"}, {"ring-rank", "some"}}), HasSubstr("or all"));
}

// 386 10^9 bytes a second for messages of any size: K and V of 512 rows of 128 bytes.
TEST(RingPoint, TakesTheTransfersTimeFromTheLinkOfTheProfile) {
  const Point point = point_of({{"ring", "2"}, {"ring-rank", "0"}, {"ring-step", "1"}});
  RingReplays replays;
  const PredictedResult result =
      predict_point_or_ring(point, point.request, key_cells(point, "", "predicted"), replays);
  EXPECT_NEAR(*result.prediction.transfer_us, 2 * 512 * 128 / 386e3, 1e-9);
  EXPECT_EQ(result.prediction.total.incoming_write_sectors, 0);  // all of it in step 0
}

TEST(HeadShards, AreOneGpusProblemWithItsTransfers) {
  const Point point =
      point_of({{"heads", "8"}, {"kv-heads", "4"}, {"head-shards", "4"}, {"exchange", "ulysses"}});
  EXPECT_EQ(point.request.problem.heads, 2);
  EXPECT_EQ(point.request.problem.kv_heads, 1);
  EXPECT_EQ(point.text("heads"), "8");
  RingReplays replays;
  const PredictedResult result =
      predict_point_or_ring(point, point.request, key_cells(point, "", "predicted"), replays);
  // 256 rows of a GPU: Q and O of 6 heads, K and V of 3, of 128 bytes; 164 GB/s below 8 MiB.
  EXPECT_NEAR(*result.prediction.transfer_us, 256 * (2 * 6 + 2 * 3) * 128 / 164e3, 1e-9);
  const Point reduced = point_of({{"heads", "8"}, {"head-shards", "4"}, {"exchange", "megatron"}});
  const PredictedResult added =
      predict_point_or_ring(reduced, reduced.request, key_cells(reduced, "", "predicted"), replays);
  // All 1,024 rows of 8 heads, to which 3 of 4 GPUs add, and which come back from 3 of 4.
  EXPECT_NEAR(*added.prediction.transfer_us, 2 * 1024 * 8 * 128 * 3 / 4 / 164e3, 1e-9);
  EXPECT_EQ(*added.prediction.exposed_us, *added.prediction.transfer_us);
  EXPECT_THAT(refusal_of({{"heads", "8"}, {"head-shards", "3"}}), HasSubstr("no equal heads"));
  EXPECT_THAT(refusal_of({{"exchange", "ulysses"}}), HasSubstr("without head-shards"));
}

}  // namespace
}  // namespace sawtooth::experiments
