#include "experiments/sawtooth/results/wavefront_tables.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/result_row.hpp"

namespace sawtooth::experiments {
namespace {

// One head, 3 Q tiles, 2 K/V tiles, 2 workers, static, sawtooth. Worker 0 has items 0 and 2,
// worker 1 item 1. Steps 0 and 1: both scan forwards. Then worker 0's second item goes backwards.
sim::Request request() {
  sim::Request r;
  r.problem = {.seq_q = 192, .seq_kv = 128};
  r.schedule.workers = 2;
  r.schedule.scan = scan_id<SawtoothScan>;
  return r;
}

TEST(WavefrontTable, ShowsWhoIsWhereAtEachStep) {
  const auto steps = wavefront_steps(request(), 100).steps;
  std::vector<std::array<int64_t, 4>> seen;
  for (const auto& s : steps) seen.push_back({s.step, s.worker, s.q_tile, s.kv_tile});
  EXPECT_EQ(
      seen,
      (std::vector<std::array<int64_t, 4>>{
          {0, 0, 0, 0}, {0, 1, 1, 0}, {1, 0, 0, 1}, {1, 1, 1, 1}, {2, 0, 2, 1}, {3, 0, 2, 0}}));
}

TEST(WavefrontTable, EndsAfterTheStepsAskedFor) {
  EXPECT_EQ(wavefront_steps(request(), 1).steps.size(), 2u);
  EXPECT_EQ(wavefront_steps(request(), 3).steps.size(), 5u);
  EXPECT_TRUE(wavefront_steps(request(), 3).is_cut);
  EXPECT_FALSE(wavefront_steps(request(), 4).is_cut);
}

// With 5 Q tiles and 2 workers the third wave is item 4 alone: 2 waves x 2 steps x 2 workers.
TEST(WavefrontTable, HasTwoWavesWhereNoStepsAreAskedFor) {
  sim::Request longer = request();
  longer.problem.seq_q = 320;
  const Wavefront two_waves = wavefront_steps(longer, std::nullopt);
  EXPECT_EQ(two_waves.steps.size(), 8u);
  EXPECT_TRUE(two_waves.is_cut);
  const Wavefront all = wavefront_steps(request(), std::nullopt);
  EXPECT_EQ(all.steps.size(), 6u);
  EXPECT_FALSE(all.is_cut);
}

// Causal, 6 Q and K/V tiles, 2 workers, items longest last: worker 0 has items of 1, 3 and 5 tiles,
// worker 1 of 2, 4 and 6. Items 0 to 3 end with step 5; worker 0 begins item 4 in step 4.
TEST(WavefrontTable, TwoWavesEndWithTheirLastItem) {
  sim::Request causal = request();
  causal.problem = {.seq_q = 384, .seq_kv = 384, .mask = {.kind = MaskKind::causal}};
  const Wavefront two_waves = wavefront_steps(causal, std::nullopt);
  ASSERT_FALSE(two_waves.steps.empty());
  EXPECT_EQ(two_waves.steps.back().step, 5);
  EXPECT_EQ(two_waves.steps.size(), 12u);
  EXPECT_TRUE(two_waves.is_cut);
}

TEST(Timeline, HasASliceForEveryStepAndARowForEveryWorker) {
  const std::string json =
      timeline_json({{CsvRow(key_column_count), wavefront_steps(request(), 100).steps}});
  const auto count = [&](const std::string& what) {
    size_t n = 0;
    for (size_t at = json.find(what); at != std::string::npos; at = json.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count(R"("ph":"X")"), 6u);
  EXPECT_EQ(count(R"("thread_name")"), 2u);
  EXPECT_EQ(count(R"("process_name")"), 1u);
  EXPECT_NE(json.find(R"("ts":3,"dur":1,"pid":0,"tid":0,"args":{"item":2,)"), std::string::npos);
  EXPECT_EQ(count("{"), count("}"));
}

TEST(Timeline, MergesTheStepsOfAnItemWhenThereAreTooMany) {
  sim::Request long_request;
  long_request.problem = {.seq_q = 128, .seq_kv = 64 * 250'000};
  const std::string json =
      timeline_json({{CsvRow(key_column_count), wavefront_steps(long_request, 500'000).steps}});
  EXPECT_NE(json.find(R"("ts":0,"dur":250000)"), std::string::npos);
  EXPECT_NE(json.find(R"("ts":250000,"dur":250000)"), std::string::npos);
}

}  // namespace
}  // namespace sawtooth::experiments
