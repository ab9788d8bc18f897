// The lists of points of studies: that each resolves, and that those of the validation are what
// they claim to be.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"

namespace sawtooth::experiments {
namespace {

const std::string root = SAWTOOTH_EXPERIMENTS_DIR;

const std::vector<std::string> drawn = {"drawn", "drawn_again", "drawn_third", "drawn_fourth"};

/// Points of a list; of those of its sections alone whose name begins with `word`, where one is
/// given.
std::vector<Point> points_of(const std::string& list, const std::string& word = "") {
  Configuration configuration = read_configuration(root + "/studies/" + list + ".ini");
  std::erase_if(configuration.sweeps, [&](const Sweep& sweep) {
    const std::string first = sweep.section.substr(0, sweep.section.find_first_of(", "));
    return !word.empty() && first != word;
  });
  Catalog catalog;
  std::vector<Point> points;
  for (const Settings& settings : expand(configuration, {}))
    points.push_back(resolve(settings, catalog));
  return points;
}

std::vector<Point> development(const std::string& list) {
  return points_of("validation/lists/development", list);
}

/// Everything that tells a point from another, as one text.
std::string identity(const Point& point) {
  std::string all;
  for (const OptionSpec& option : option_table())
    if (option.field.print != nullptr)
      all += std::string(option.key) + "=" + point.text(option.key) + " ";
  return all;
}

std::set<std::string> values(const std::vector<Point>& points, const std::string& key) {
  std::set<std::string> all;
  for (const Point& point : points) all.insert(point.text(key));
  return all;
}

std::set<int64_t> numbers(const std::vector<Point>& points, const std::string& key) {
  std::set<int64_t> all;
  for (const std::string& text : values(points, key)) all.insert(std::stoll(text));
  return all;
}

TEST(Lists, EveryPointOfEveryListResolvesAndOccursOnce) {
  std::set<std::string> lists;
  for (const std::string study : {"hopper", "matching", "unmeasured", "validation"})
    for (const auto& entry :
         std::filesystem::directory_iterator(root + "/studies/" + study + "/lists")) {
      if (entry.path().extension() != ".ini") continue;
      const std::string list = study + "/lists/" + entry.path().stem().string();
      lists.insert(entry.path().stem().string());
      const auto points = points_of(list);
      std::set<std::string> different;
      for (const Point& point : points)
        EXPECT_TRUE(different.insert(identity(point)).second) << list << ": " << identity(point);
      EXPECT_GE(points.size(), 1u) << list;
    }
  EXPECT_THAT(
      lists, testing::ElementsAre(
                 "a100", "calibration", "calibration_attach", "calibration_hopper",
                 "calibration_hopper_short", "calibration_mma_fp32", "calibration_prefetch",
                 "calibration_short", "development", "families", "families_again", "families_fifth",
                 "families_fourth", "families_sixth", "families_third", "gb10", "h200", "judgement",
                 "latency", "launches", "length", "libraries", "order", "predicted", "prefetch",
                 "scans", "schedules", "sections", "split"));
}

TEST(Lists, CalibrationIsSmallAndSharesNoLengthWithWhatIsJudged) {
  const auto calibration = points_of("validation/lists/calibration");
  EXPECT_LE(calibration.size(), 12u);
  for (const char* list : {"validation/lists/development", "validation/lists/judgement",
                           "validation/lists/families", "validation/lists/families_again",
                           "validation/lists/families_third", "validation/lists/families_fourth",
                           "validation/lists/families_fifth", "validation/lists/families_sixth"}) {
    const auto judged = numbers(points_of(list), "seq-kv");
    for (const int64_t length : numbers(calibration, "seq-kv"))
      EXPECT_FALSE(judged.contains(length)) << list;
  }
}

TEST(Lists, TheHeldOutListSharesNoPointWithTheGridAndOnlyItsOuterLengths) {
  const auto grid = development("grid");
  const auto holdout = development("holdout");
  EXPECT_EQ(grid.size(), 137u);
  EXPECT_EQ(holdout.size(), 130u);
  std::set<std::string> known;
  for (const Point& point : grid) known.insert(identity(point));
  for (const Point& point : holdout)
    EXPECT_FALSE(known.contains(identity(point))) << identity(point);
  std::set<int64_t> shared;
  std::ranges::set_intersection(numbers(grid, "seq-kv"), numbers(holdout, "seq-kv"),
                                std::inserter(shared, shared.end()));
  EXPECT_THAT(shared, testing::ElementsAre(4 << 10, 256 << 10));
}

TEST(Lists, DrawnListsShareNoLengthWithTheOthers) {
  std::map<int64_t, std::string> list_of;
  const auto take = [&](const std::string& list, const std::vector<Point>& points) {
    EXPECT_GE(points.size(), 120u) << list;
    for (const int64_t length : numbers(points, "seq-kv"))
      EXPECT_TRUE(list_of.emplace(length, list).second) << list << ": " << length;
  };
  for (const std::string& list : drawn) take(list, development(list));
  for (const std::string list : {"judgement", "families", "families_again", "families_third",
                                 "families_fourth", "families_fifth", "families_sixth"})
    take(list, points_of("validation/lists/" + list));
  for (const char* list : {"grid", "holdout"})
    for (const int64_t length : numbers(development(list), "seq-kv"))
      EXPECT_FALSE(list_of.contains(length)) << list << ": " << length;
}

class JudgedList : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Lists, JudgedList, testing::Values("grid", "holdout", "drawn"));

TEST_P(JudgedList, CoversWhatPredictionsAreJudgedOn) {
  using testing::IsSupersetOf;
  const auto grid = development(GetParam());
  EXPECT_GE(grid.size(), 120u);
  EXPECT_THAT(numbers(grid, "head-dim"), testing::ElementsAre(64, 128));
  EXPECT_LE(*numbers(grid, "seq-q").begin(), 5 << 10);
  EXPECT_GE(*numbers(grid, "seq-q").rbegin(), 200 << 10);
  EXPECT_EQ(*numbers(grid, "heads").begin(), 1);
  EXPECT_EQ(*numbers(grid, "heads").rbegin(), 32);
  EXPECT_THAT(values(grid, "mask"), IsSupersetOf({"none", "causal"}));
  EXPECT_TRUE(std::ranges::any_of(values(grid, "mask"),
                                  [](const std::string& m) { return m.starts_with("window:"); }));
  EXPECT_THAT(values(grid, "q-order"), IsSupersetOf({"ascending", "descending"}));
  EXPECT_THAT(values(grid, "launch"), IsSupersetOf({"grid", "static", "dynamic"}));
  EXPECT_THAT(values(grid, "scan"), IsSupersetOf({"linear", "reverse", "sawtooth", "attach"}));
  EXPECT_THAT(numbers(grid, "prefetch"), IsSupersetOf({0, 2, 8}));
  EXPECT_THAT(numbers(grid, "ctas-per-sm"), IsSupersetOf({1, 2}));
  EXPECT_GT(numbers(grid, "section").size(), 2u);
}

}  // namespace
}  // namespace sawtooth::experiments
