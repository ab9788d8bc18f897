// The parts of a search: what it minimises, the space, what is the same schedule twice, ranks, and
// the proof through a measurer that is none.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/search/search_table.hpp"
#include "experiments/sawtooth/search/staged_search.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Shape> shapes_of(const std::string& text) {
  Catalog catalog;
  return search_space(parse_configuration(text, "space.ini"), {}, "test", catalog);
}

std::vector<std::string> values_of(const Shape& shape, const std::string& key) {
  std::vector<std::string> values;
  for (const Candidate& candidate : shape.candidates)
    if (const std::string value = candidate.point.text(key);
        std::ranges::find(values, value) == values.end())
      values.push_back(value);
  return values;
}

TEST(SearchGoal, NamesColumnsAndSaysWhatIsAllowed) {
  EXPECT_EQ(objective_named("time", "--minimise").name, "time_us");
  EXPECT_EQ(objective_named("dram_read_sectors", "x").column, result_column("dram_read_sectors"));
  EXPECT_THAT(message_of<UsageError>([] { objective_named("gpu", "--minimise"); }),
              HasSubstr("--minimise: 'gpu' is no column that can be minimised; allowed: time"));
}

TEST(SearchGoal, ReadsConstraints) {
  const auto both = constraints_in("time<=1.01*best, dram_read_sectors <= 5000", "--subject-to");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_TRUE(both[0].of_best);
  EXPECT_DOUBLE_EQ(both[0].limit, 1.01);
  EXPECT_FALSE(both[1].of_best);
  EXPECT_DOUBLE_EQ(both[1].limit, 5000);
  for (const char* wrong : {"time", "time<=fast", "time<=0.9*best", "time<=2*worst", "time<=-1"})
    EXPECT_THROW(constraints_in(wrong, "x"), UsageError) << wrong;
}

TEST(SearchGoal, ReadsBudgets) {
  EXPECT_EQ(budget_of("200", "x").evaluations, 200);
  EXPECT_DOUBLE_EQ(*budget_of("1.5s", "x").seconds, 1.5);
  for (const char* wrong : {"", "s", "0", "2.5", "-3s", "many", "3m"})
    EXPECT_THROW(budget_of(wrong, "x"), UsageError) << wrong;
}

TEST(SearchSpace, IsLaunchScanOrderAndSectionWhereNothingIsDeclared) {
  const auto shapes = shapes_of("gpu = gb10\nseq = 1K\nheads = 4\nlaunch = static\ntile-q = 64\n");
  ASSERT_EQ(shapes.size(), 1u);
  const Shape& shape = shapes.front();
  EXPECT_THAT(values_of(shape, "launch"), ElementsAre("static"));
  EXPECT_THAT(values_of(shape, "section"), ElementsAre("1", "2", "4"));
  EXPECT_THAT(values_of(shape, "q-order"), ElementsAre("ascending", "descending", "fold"));
  EXPECT_THAT(values_of(shape, "scan"),
              testing::Not(testing::Contains(testing::AnyOf("random", "attach"))));
  EXPECT_EQ(shape.candidates.size(), 3u * 3 * (Scans::size - 2));
  EXPECT_EQ(shape.candidates.front().point.text("timing"), "timed");
}

// Programs with some kernels offer these; 64x64 of head dim 128 is in all of them.
TEST(SearchSpace, HasEveryTileAndNumberOfCtasThatFitsTheGpu) {
  const std::string point = "seq = 1K\nhead-dim = 128\nkernel = mma\ngpu = ";
  using Ctas = std::map<std::string, std::set<std::string>>;  // by tile
  const auto ctas_of_tiles = [&](const std::string& gpu) {
    Ctas ctas;
    const auto shapes = shapes_of(point + gpu);
    for (const Candidate& candidate : shapes.front().candidates) {
      const auto text = [&](const char* key) { return candidate.point.text(key); };
      ctas[text("tile-q") + "x" + text("tile-kv")].insert(text("ctas-per-sm"));
      EXPECT_EQ(text("kernel"), "mma");
    }
    return ctas;
  };
  const Ctas on_h200 = ctas_of_tiles("h200");
  EXPECT_THAT(on_h200.at("64x64"), ElementsAre("1", "2"));  // 84 KiB a CTA of 227
  const auto largest = on_h200.find("128x128");
  if (largest != on_h200.end()) {
    EXPECT_THAT(largest->second, ElementsAre("1"));
  }
  EXPECT_EQ(ctas_of_tiles("gb10"), (Ctas{{"64x64", {"1"}}}));  // of 99
  EXPECT_THAT(values_of(shapes_of(point + "h200\nctas-per-sm = 2\n").front(), "tile-q"),
              testing::SizeIs(1));  // given: the tile stays the kernel's own
}

TEST(SearchSpace, IsWhatIsDeclaredAndOtherAxesAreShapes) {
  const auto shapes =
      shapes_of("gpu = gb10\nseq = 1K, 2K\nmask = none, causal\nscan = linear, sawtooth\n");
  ASSERT_EQ(shapes.size(), 4u);
  for (const Shape& shape : shapes) {
    EXPECT_EQ(shape.candidates.size(), 2u);
    EXPECT_EQ(shape.usual_index, std::nullopt);  // static is all that was declared
    ASSERT_TRUE(shape.usual_outside);
    EXPECT_EQ(shape.usual_outside->point.text("launch"), "grid");
  }
  EXPECT_EQ(shapes[0].name, "seq 1024 mask none");
  EXPECT_EQ(shapes[1].usual_outside->point.text("q-order"), "descending");
}

TEST(SearchSpace, SchedulesWithOneKeyReadTheSameInLockstep) {
  std::map<std::string, std::string> reads;
  size_t same = 0;
  for (const Shape& shape :
       shapes_of("workers = 3\nl2-bytes = 64KiB\nseq = 512\nheads = 2\nmask = none, causal\n"
                 "timing = lockstep\nl2 = lru\n")) {
    for (const Candidate& candidate : shape.candidates) {
      const CsvRow row = predict_point(candidate.point, candidate.key_cells).row;
      const auto [at, is_new] =
          reads.emplace(visits_key(candidate), row[result_column("dram_read_sectors")]);
      EXPECT_EQ(at->second, row[result_column("dram_read_sectors")]) << visits_key(candidate);
      same += is_new ? 0 : 1;
    }
  }
  EXPECT_GT(same, 50u);
  EXPECT_GT(reads.size(), 50u);
}

TEST(Screening, KeepsTheShareOfAHeadThatFitsInL2) {
  const auto shapes = shapes_of(
      "gpu = h200\nseq = 256K\nmask = window:32K\nscan = linear, reverse\n"
      "section = auto:32MiB\nheads = 8\n");
  const Candidate& whole = shapes.front().candidates.front();
  const int64_t divisor = shortening(whole);
  EXPECT_GT(divisor, 1);
  Catalog catalog;
  const Candidate cheaper = shortened(whole, divisor, "test", catalog);
  ASSERT_EQ(cheaper.point.refusal, "");
  const sim::Request& before = whole.point.request;
  const sim::Request& after = cheaper.point.request;
  EXPECT_EQ(after.problem.seq_q * divisor, before.problem.seq_q);
  EXPECT_EQ(after.l2_bytes * divisor, before.l2_bytes);
  EXPECT_EQ(after.problem.mask.window * divisor, before.problem.mask.window);
  EXPECT_EQ(after.schedule.order.section, before.schedule.order.section);
  EXPECT_EQ(after.schedule.workers, before.schedule.workers);
}

// Verdicts with times and DRAM reads by hand.
class Ranking : public testing::Test {
 protected:
  Ranking() : shapes_(shapes_of("gpu = gb10\nseq = 256\nscan = linear,reverse,sawtooth,attach\n")) {
    const std::pair<double, int> results[] = {{100, 90}, {103, 40}, {101, 60}, {110, 70}};
    for (size_t i = 0; i < 4; ++i) {
      Verdict verdict;
      verdict.candidate = &shapes_.front().candidates[i];
      verdict.row = row_without_result(verdict.candidate->key_cells, "ok", "");
      verdict.row[result_column("time_us")] = std::to_string(results[i].first);
      verdict.row[result_column("dram_read_sectors")] = std::to_string(results[i].second);
      verdict.decided = true;
      verdicts_.push_back(verdict);
    }
  }
  std::vector<std::string> ranked(const char* minimise, const char* subject_to) {
    rank(verdicts_, {objective_named(minimise, ""), constraints_in(subject_to, ""), 0});
    std::vector<std::string> scans;
    for (const Verdict& verdict : verdicts_) scans.push_back(verdict.candidate->point.text("scan"));
    return scans;
  }
  std::vector<Shape> shapes_;
  std::vector<Verdict> verdicts_;
};

TEST_F(Ranking, IsByTheObjective) {
  EXPECT_THAT(ranked("time", ""), ElementsAre("linear", "sawtooth", "reverse", "attach"));
  EXPECT_EQ(verdicts_.front().why, "best");
  EXPECT_THAT(verdicts_[1].why, HasSubstr("time_us +1.00 %"));
}

TEST_F(Ranking, ChoosesTheFewestReadsOfTimesWithinHalfAPercent) {
  verdicts_[1].row[result_column("time_us")] = "100.4";
  verdicts_[2].row[result_column("time_us")] = "100.6";
  EXPECT_THAT(ranked("time", ""), ElementsAre("reverse", "linear", "sawtooth", "attach"));
  EXPECT_THAT(verdicts_.front().why, HasSubstr("fewest DRAM reads of those within 0.5 %"));
}

TEST_F(Ranking, ChoosesTheFastestWhereReadsDifferByLessThanModelsAreOff) {
  for (const auto& [index, time, reads] :
       {std::tuple(0, "100", "52"), {1, "100.4", "50"}, {2, "100.3", "50.9"}}) {
    verdicts_[size_t(index)].row[result_column("time_us")] = time;
    verdicts_[size_t(index)].row[result_column("dram_read_sectors")] = reads;
  }
  EXPECT_EQ(ranked("time", "").front(), "sawtooth");
}

TEST_F(Ranking, GivesATieToTheOneThatReadsLess) {
  verdicts_[1].row[result_column("time_us")] = "100";
  EXPECT_THAT(ranked("time", ""), ElementsAre("reverse", "linear", "sawtooth", "attach"));
}

TEST_F(Ranking, PutsWhatBreaksAConstraintBehindTheOthers) {
  EXPECT_THAT(ranked("dram_read_sectors", "time<=1.02*best"),
              ElementsAre("sawtooth", "linear", "reverse", "attach"));
  EXPECT_TRUE(verdicts_[1].feasible);
  EXPECT_FALSE(verdicts_[2].feasible);
  EXPECT_THAT(verdicts_[2].why, HasSubstr("beyond its limit"));
}

TEST_F(Ranking, MarksTheParetoFrontOfTimeAndReads) {
  ranked("time", "");
  for (const Verdict& verdict : verdicts_)
    EXPECT_EQ(verdict.pareto, verdict.candidate->point.text("scan") != "attach");
}

TEST(SearchTable, BestConfigurationResolvesToTheSamePoints) {
  const auto shapes = shapes_of(
      "gpu = h200\nseq = 4K, 8K\nheads = 8\nkv-heads = 2\nhead-dim = 128\n"
      "mask = causal\n");
  std::vector<const Candidate*> chosen;
  for (const Shape& shape : shapes) chosen.push_back(&shape.candidates.back());
  Catalog catalog;
  const auto points = expand(parse_configuration(configuration_of(chosen), "best.ini"), {});
  ASSERT_EQ(points.size(), 2u);
  for (size_t i = 0; i < points.size(); ++i) {
    Settings settings = points[i];
    settings["timing"] = {{"timed"}, {}};
    EXPECT_EQ(key_cells(resolve(settings, catalog), "test", "predicted"), chosen[i]->key_cells);
  }
}

}  // namespace
}  // namespace sawtooth::experiments
