#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using Pairs = test::Options;

Settings settings(const Pairs& pairs) {
  return test::given(pairs, {{"seq", "1K"}});
}

Point point(const Pairs& pairs) {
  return test::point_of(pairs, {{"seq", "1K"}});
}

std::string model(const Pairs& pairs) {
  const Point p = point(pairs);
  const std::string judged = p.judgement.known()            ? "judged"
                             : p.judgement.borrowed.empty() ? "none"
                                                            : "borrowed";
  return p.text("timing") + " " + p.text("l2") + " " + judged +
         (p.costs.empty() ? "" : " " + p.costs) + (p.hides_time ? ", no time" : "");
}

TEST(ModelChoice, TakesTheFirstModelThatWasJudgedOnTheGpu) {
  EXPECT_EQ(model({{"gpu", "h200"}, {"scan", "linear"}}), "timed halves judged");
  EXPECT_EQ(model({{"gpu", "h200"}, {"scan", "linear"}, {"l2", "halves"}}), "timed halves judged");
  EXPECT_EQ(model({{"gpu", "h200"}, {"scan", "linear"}, {"timing", "auto"}, {"l2", "auto"}}),
            "timed halves judged");
}

TEST(ModelChoice, TakesLockstepWhereNothingWasJudged) {
  EXPECT_EQ(model({{"gpu", "a100-sxm-40gb"}}), "lockstep halves none");
  EXPECT_EQ(model({{"gpu", "gb10"}}), "lockstep sets none");
  EXPECT_EQ(model({{"gpu", "gb10"}, {"l2-bytes", "1000000"}}), "lockstep lru none") << "no sets";
  EXPECT_EQ(model({{"gpu", "gb10"}, {"ring", "2"}}), "lockstep lru none");
  EXPECT_EQ(model({{"l2-bytes", "1MiB"}, {"workers", "4"}}), "lockstep lru none");
}

// A kernel that hides latency, and one that waits for its tiles.
TEST(ModelChoice, SpansKernelsWhereThePointsOwnIsNotKnown) {
  const auto ends = [](const Pairs& pairs) { return point(pairs).kernel_ends; };
  const std::vector<sim::KernelCost> both =
      ends({{"gpu", "h200"}, {"kernel", "unknown"}, {"tile-q", "128"}, {"tile-kv", "128"}});
  ASSERT_EQ(both.size(), 2u);
  // 2 x 128 x 128 x (64 + 64) FLOP at 989 TFLOP/s over 132 SMs take 560 ns; 128 x 128 exponentials,
  // 16 a clock of 1980 MHz, 517 ns.
  EXPECT_NEAR(*both[0].step_ns, 559.8 / 0.75, 1);
  EXPECT_GT(*both[1].step_ns, *both[0].step_ns);
  EXPECT_EQ(both[1].lead_k_steps, 0);
  EXPECT_EQ(ends({{"gpu", "gb10"}, {"kernel", "unknown"}}).size(), 2u);
  EXPECT_EQ(ends({{"gpu", "h200"}, {"tile-q", "64"}, {"tile-kv", "32"}}).size(), 2u);
  for (const auto& known : {Pairs{{"gpu", "h200"}}, Pairs{{"gpu", "h200"}, {"kernel", "mma"}},
                            Pairs{{"gpu", "h200"}, {"system", "flash-attention-2"}},
                            Pairs{{"gpu", "h200"}, {"kernel", "unknown"}, {"pass", "backward"}},
                            Pairs{{"gpu", "h200"}, {"kernel", "unknown"}, {"timing", "lockstep"}}})
    EXPECT_TRUE(ends(known).empty()) << known.back().second;
}

TEST(ModelChoice, ExactLeavesTheJudgementAndTakesNoOtherMechanismAway) {
  const Point exact = point({{"gpu", "h200"}, {"scan", "linear"}, {"exact", "on"}});
  EXPECT_EQ(exact.text("without"), "repeats");
  EXPECT_TRUE(exact.judgement.known());
  EXPECT_EQ(point({{"gpu", "gb10"}, {"exact", "on"}}).text("without"), "nothing");  // lockstep
  EXPECT_EQ(point({{"gpu", "h200"}, {"exact", "off"}}).text("without"), "nothing");
  EXPECT_THROW(point({{"gpu", "h200"}, {"exact", "on"}, {"without", "jitter"}}), UsageError);
}

TEST(ModelChoice, SpansModelsWhereNoneIsNamedAndNoneWasJudged) {
  const auto spans = [](const Pairs& pairs) { return point(pairs).spans_models(); };
  EXPECT_TRUE(spans({{"gpu", "h200"}, {"dtype", "fp32"}, {"kernel", "mma-fp32"}}));
  EXPECT_TRUE(spans({{"gpu", "h200"}, {"ring", "2"}}));
  EXPECT_TRUE(spans({{"gpu", "gb10"}}));
  EXPECT_TRUE(spans({{"gpu", "a100-sxm-40gb"}, {"timing", "auto"}}));
  EXPECT_FALSE(spans({{"gpu", "gb10"}, {"timing", "lockstep"}}));
  EXPECT_FALSE(spans({{"gpu", "gb10"}, {"l2", "lru"}}));
  EXPECT_FALSE(spans({{"gpu", "h200"}}));
  EXPECT_FALSE(spans({{"l2-bytes", "1MiB"}, {"workers", "4"}}));
}

TEST(ModelChoice, LeavesToLockstepWhatTheJudgedModelCannotDo) {
  EXPECT_EQ(model({{"gpu", "h200"}, {"scan", "linear"}, {"l2", "lru"}}), "lockstep lru judged");
  EXPECT_EQ(model({{"gpu", "h200"}, {"scan", "linear"}, {"timing", "lockstep"}}),
            "lockstep halves judged");
  for (const auto& [key, value] : Pairs{{"loop", "kv-outer"}, {"dtype", "fp32"}, {"dtype", "fp8"}})
    EXPECT_EQ(model({{"gpu", "h200"}, {"scan", "linear"}, {key, value}}), "lockstep halves none");
  EXPECT_EQ(model({{"gpu", "h200"}, {"pass", "backward"}}), "timed halves judged");
  EXPECT_EQ(model({{"gpu", "h200"}, {"mask", "prefix-lm:64"}}), "timed halves judged");
  for (const auto& other : Pairs{{"kv-split", "2"}, {"dq", "ordered"}, {"hints", "q-first"}}) {
    Pairs pairs{{"gpu", "h200"}, {"kernel", "mma"}, {"pass", "backward"}, {"heads", "4"}};
    pairs.insert(pairs.end(), {{"kv-heads", "1"}, other});
    EXPECT_EQ(model(pairs), "timed halves none") << other.first;
  }
  for (const auto& [key, value] : Pairs{{"dq", "separate"}, {"small-kernels", "on"}})
    EXPECT_EQ(model({{"gpu", "h200"}, {"pass", "backward"}, {key, value}}).find("lockstep halves"),
              0u);
}

TEST(ModelChoice, NamesBorrowedCostsAndLeavesTheirTimesOutUnlessAskedFor) {
  EXPECT_EQ(model({{"gpu", "h200"}, {"kernel", "hopper"}, {"head-dim", "128"}}),
            "timed halves judged");
  const Pairs no_hopper_tile{
      {"gpu", "h200"}, {"kernel", "hopper"}, {"tile-q", "64"}, {"tile-kv", "64"}};
  EXPECT_EQ(model(no_hopper_tile), "timed halves borrowed mma-h200, no time");
  EXPECT_EQ(model({{"gpu", "h200"}, {"tile-q", "64"}, {"tile-kv", "64"}}),
            "timed halves borrowed mma-h200, no time");
  EXPECT_EQ(model({{"gpu", "gb10"}, {"timing", "timed"}}), "timed halves none mma");
  EXPECT_EQ(model({{"gpu", "h200"}, {"system", "flash-attention-3"}}), "timed halves judged");
}

TEST(ModelChoice, KnowsIntervalsOfWhatWasJudgedAlone) {
  const auto has_intervals = [](const Pairs& pairs) {
    return !point(pairs).judgement.intervals.empty();
  };
  EXPECT_TRUE(has_intervals({{"gpu", "h200"}, {"scan", "linear"}}));
  EXPECT_TRUE(has_intervals(
      {{"gpu", "h200"}, {"scan", "linear"}, {"launches", "2"}, {"l2-bytes", "60MiB"}}));
  EXPECT_TRUE(has_intervals({{"gpu", "h200"}, {"kernel", "hopper"}, {"head-dim", "128"}}));
  for (const Pairs& other : {Pairs{{"timing", "lockstep"}},
                             {{"kernel", "mma-1-stage"}},
                             {{"kernel", "unknown"}},
                             {{"system", "flash-attention-3"}},
                             {{"without", "stalls"}},
                             {{"l2-bytes", "30MiB"}}}) {
    Pairs pairs{{"gpu", "h200"}, {"scan", "linear"}};
    if (other.front().first == "system") pairs.pop_back();
    pairs.insert(pairs.end(), other.begin(), other.end());
    EXPECT_FALSE(has_intervals(pairs)) << other.front().first;
  }
}

TEST(ModelChoice, IsByPointInAList) {
  Catalog catalog;
  const PointList list(empty_configuration(),
                       settings({{"gpu", "h200, gb10"}, {"seq", "512"}, {"scan", "linear"}}));
  EXPECT_EQ(resolve(list[0], catalog).text("timing"), "timed");
  EXPECT_EQ(resolve(list[1], catalog).text("timing"), "lockstep");
}

TEST(ModelChoice, TakesLockstepAndLruForTablesOverCapacities) {
  Catalog catalog;
  std::vector<Settings> points{settings({{"gpu", "h200"}}),
                               settings({{"gpu", "h200"}, {"timing", "timed"}, {"l2", "halves"}})};
  for (Settings& point : points) take_lockstep_lru(point, catalog);
  EXPECT_EQ(resolve(points.front(), catalog).text("l2"), "lru");
  EXPECT_EQ(resolve(points.back(), catalog).text("l2"), "halves");  // as it is named
}

// What holds for a whole list is seen on few of its points: all of its gpus, systems and models.
TEST(ModelChoice, LooksAtAsManyPointsAsDecide) {
  for (const Pairs& axes :
       {Pairs{{"gpu", "h200, gb10"}, {"batch", "1..4"}}, Pairs{{"gpu", "h200"}, {"batch", "1..4"}},
        Pairs{{"gpu", "h200"}, {"system", "flash-attention-3"}, {"mask", "none, causal"}}}) {
    const Settings given = test::given(axes, {{"seq", "512"}});
    Catalog catalog;
    const PointList list(empty_configuration(), given);
    const auto models_of = [&](const std::vector<Settings>& points) {
      std::set<std::string> models;
      for (const Settings& point : points) {
        const Point resolved = resolve_or_refuse(point, catalog);
        models.insert(resolved.text("gpu") + resolved.text("timing") + resolved.text("l2"));
      }
      return models;
    };
    const auto deciding = deciding_points(list, catalog);
    EXPECT_LE(deciding.size(), 2u);
    EXPECT_EQ(models_of(deciding), models_of(expand(empty_configuration(), given)));
  }
}

TEST(ModelChoice, RefusesAJudgementOfAModelThatIsNone) {
  const test::TemporaryFolder folder;
  const std::string path =
      folder.write("g.ini",
                   "[gpu]\ndescription = x\nsms = 4; assumed; x\nl2-bytes = 1MiB; assumed; x\n"
                   "[judged]\ntimed-magic = good; measured; x\n");
  EXPECT_THAT(test::message_of<UsageError>([&] { read_gpu_file(path); }),
              testing::AllOf(testing::HasSubstr("timed-magic: unknown"),
                             testing::HasSubstr("timed-halves")));
}

}  // namespace
}  // namespace sawtooth::experiments
