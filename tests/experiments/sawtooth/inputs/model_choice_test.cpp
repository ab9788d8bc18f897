#include "experiments/sawtooth/inputs/model_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Settings settings(const Pairs& pairs) {
  Settings given;
  assign(given, "seq", "1K", {});
  for (const auto& [key, value] : pairs) assign(given, key, value, {});
  return given;
}

std::string model(const Pairs& pairs) {
  Catalog catalog;
  const Point point = resolve(settings(pairs), catalog);
  return point.text("timing") + " " + point.text("l2") + " " + std::string(point.judgement.word) +
         (point.costs.empty() ? "" : " " + point.costs) + (point.hides_time ? ", no time" : "");
}

TEST(ModelChoice, TakesTheFirstModelThatWasJudgedOnTheGpu) {
  EXPECT_EQ(model({{"gpu", "h200"}}), "timed halves measured");
  EXPECT_EQ(model({{"gpu", "h200"}, {"l2", "halves"}}), "timed halves measured");
  EXPECT_EQ(model({{"gpu", "h200"}, {"timing", "auto"}, {"l2", "auto"}}), "timed halves measured");
}

TEST(ModelChoice, TakesLockstepWhereNothingWasJudged) {
  EXPECT_EQ(model({{"gpu", "a100-sxm-40gb"}}), "lockstep halves none");
  EXPECT_EQ(model({{"gpu", "gb10"}}), "lockstep lru none");
  EXPECT_EQ(model({{"l2-bytes", "1MiB"}, {"workers", "4"}}), "lockstep lru none");
}

TEST(ModelChoice, LeavesToLockstepWhatTheJudgedModelCannotDo) {
  EXPECT_EQ(model({{"gpu", "h200"}, {"l2", "lru"}}), "lockstep lru measured");
  EXPECT_EQ(model({{"gpu", "h200"}, {"timing", "lockstep"}}), "lockstep halves measured");
  EXPECT_EQ(model({{"gpu", "h200"}, {"loop", "kv-outer"}}), "lockstep halves measured");
  EXPECT_EQ(model({{"gpu", "h200"}, {"dtype", "fp32"}}), "lockstep halves measured");
}

TEST(ModelChoice, NamesBorrowedCostsAndLeavesTheirTimesOutUnlessAskedFor) {
  EXPECT_EQ(model({{"gpu", "h200"}, {"kernel", "hopper"}, {"head-dim", "128"}}),
            "timed halves measured");
  EXPECT_EQ(model({{"gpu", "h200"}, {"kernel", "hopper"}, {"head-dim", "128"}, {"l2", "lru"}}),
            "lockstep lru none");
  const Pairs no_hopper_tile{
      {"gpu", "h200"}, {"kernel", "hopper"}, {"tile-q", "64"}, {"tile-kv", "64"}};
  EXPECT_EQ(model(no_hopper_tile), "timed halves borrowed mma-h200, no time");
  EXPECT_EQ(model({{"gpu", "h200"}, {"tile-q", "64"}, {"tile-kv", "64"}}),
            "timed halves borrowed mma-h200, no time");
  EXPECT_EQ(model({{"gpu", "gb10"}, {"timing", "timed"}}), "timed halves none mma");
  EXPECT_EQ(model({{"gpu", "h200"}, {"system", "flash-attention-3"}}), "timed halves measured");
}

TEST(ModelChoice, KnowsIntervalsOfWhatWasJudgedAlone) {
  const auto has_intervals = [](const Pairs& pairs) {
    Catalog catalog;
    return !resolve(settings(pairs), catalog).judgement.intervals.empty();
  };
  EXPECT_TRUE(has_intervals({{"gpu", "h200"}}));
  EXPECT_TRUE(has_intervals({{"gpu", "h200"}, {"launches", "2"}, {"l2-bytes", "60MiB"}}));
  EXPECT_TRUE(has_intervals({{"gpu", "h200"}, {"kernel", "hopper"}, {"head-dim", "128"}}));
  for (const Pairs& other : {Pairs{{"timing", "lockstep"}},
                             {{"kernel", "mma-1-stage"}},
                             {{"system", "flash-attention-3"}},
                             {{"without", "stalls"}},
                             {{"l2-bytes", "30MiB"}}}) {
    Pairs pairs{{"gpu", "h200"}};
    pairs.insert(pairs.end(), other.begin(), other.end());
    EXPECT_FALSE(has_intervals(pairs)) << other.front().first;
  }
}

TEST(ModelChoice, GivesAllPointsOfARunOneModel) {
  Catalog catalog;
  std::vector<Settings> points{settings({{"gpu", "h200"}}), settings({{"gpu", "gb10"}}),
                               settings({{"gpu", "h200"}, {"timing", "timed"}, {"l2", "lru"}})};
  EXPECT_THAT(give_one_model(points, false, catalog),
              testing::EndsWith("take timing = lockstep l2 = halves"));
  std::vector<std::string> models;
  for (const Settings& each : points) {
    const Point point = resolve(each, catalog);
    models.push_back(point.text("timing") + " " + point.text("l2"));
  }
  EXPECT_THAT(models, testing::ElementsAre("lockstep halves", "lockstep halves", "timed lru"));

  std::vector<Settings> alike{settings({{"gpu", "h200"}}), settings({{"gpu", "h200"}})};
  EXPECT_EQ(give_one_model(alike, false, catalog), "");
  EXPECT_EQ(resolve(alike.front(), catalog).text("timing"), "timed");
}

TEST(ModelChoice, LeavesModelsThatTheKeysNameAsTheyAre) {
  Catalog catalog;
  std::vector<Settings> bounds{settings({{"gpu", "h200"}, {"l2", "lru"}}),
                               settings({{"gpu", "h200"}, {"l2", "opt"}})};
  EXPECT_EQ(give_one_model(bounds, false, catalog), "");
  std::vector<Settings> timings{settings({{"gpu", "h200"}, {"timing", "lockstep"}}),
                                settings({{"gpu", "h200"}, {"timing", "timed"}})};
  EXPECT_EQ(give_one_model(timings, false, catalog), "");
  // halves would be timed, and lru in lockstep: two timings in one run, which no option asks for.
  std::vector<Settings> l2s{settings({{"gpu", "h200"}, {"l2", "lru"}}),
                            settings({{"gpu", "h200"}, {"l2", "halves"}})};
  EXPECT_THAT(give_one_model(l2s, false, catalog), testing::EndsWith("take timing = lockstep"));
  EXPECT_EQ(resolve(l2s.back(), catalog).text("timing"), "lockstep");
}

TEST(ModelChoice, TakesLockstepAndLruForTablesOverCapacities) {
  Catalog catalog;
  std::vector<Settings> points{settings({{"gpu", "h200"}})};
  EXPECT_THAT(give_one_model(points, true, catalog),
              testing::EndsWith("timing = lockstep l2 = lru"));
  EXPECT_EQ(resolve(points.front(), catalog).text("l2"), "lru");
}

// A list made point by point agrees on the model of a list that is looked at as a whole.
TEST(ModelChoice, LooksAtAsManyPointsAsDecide) {
  for (const Pairs& axes :
       {Pairs{{"gpu", "h200, gb10"}, {"batch", "1..4"}}, Pairs{{"gpu", "h200"}, {"batch", "1..4"}},
        Pairs{{"gpu", "h200"}, {"l2", "lru, halves"}, {"seq", "1K, 2K"}},
        Pairs{{"gpu", "h200"}, {"dtype", "bf16, fp32"}, {"heads", "1..3"}},
        Pairs{{"gpu", "h200"}, {"system", "flash-attention-3"}, {"mask", "none, causal"}}}) {
    for (const bool curves : {false, true}) {
      Settings given;
      if (axes.back().first != "seq") assign(given, "seq", "512", {});
      for (const auto& [key, value] : axes) assign(given, key, value, {});
      Catalog catalog;
      auto points = expand(empty_configuration(), given);
      const std::string note = give_one_model(points, curves, catalog);
      const PointList list(empty_configuration(), given);
      const OneModel model(list, curves, catalog);
      EXPECT_EQ(model.note(), note);
      EXPECT_LE(model.deciding().size(), 2u);
      for (size_t i = 0; i < points.size(); ++i) {
        const Point whole = resolve_or_refuse(points[i], catalog);
        const Point single = model.resolve(list[i], catalog);
        EXPECT_EQ(single.text("timing") + single.text("l2"),
                  whole.text("timing") + whole.text("l2"));
      }
    }
  }
}

TEST(ModelChoice, RefusesAJudgementOfAModelThatIsNone) {
  const test::TemporaryFolder folder;
  const std::string path =
      folder.write("g.ini",
                   "[gpu]\ndescription = x\nsms = 4; assumed; x\nl2-bytes = 1MiB; assumed; x\n"
                   "[judged]\ntimed-magic = good; measured; x\n");
  try {
    read_gpu_file(path);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("timed-magic: unknown"),
                                             testing::HasSubstr("timed-halves")));
  }
}

}  // namespace
}  // namespace sawtooth::experiments
