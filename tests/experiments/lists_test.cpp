// The lists of points in experiments/studies/hopper and experiments/studies/validation: that each
// resolves, and that the two sets of the validation are what they claim to be.
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

std::vector<Point> points_of(const std::string& list) {
  Catalog catalog;
  std::vector<Point> points;
  for (const Settings& settings : expand(read_configuration(root + "/studies/" + list), {}))
    points.push_back(resolve(settings, catalog));
  return points;
}

/// Everything that tells a point from another, as one text.
std::string identity(const Point& point) {
  std::string all;
  for (const auto& [key, assignment] : point.settings)
    all += key + "=" + assignment.values.front() + " ";
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
  for (const char* folder : {"/hopper", "/validation"})
    for (const auto& entry : std::filesystem::directory_iterator(root + "/studies" + folder)) {
      if (entry.path().extension() != ".ini") continue;
      lists.insert(entry.path().stem().string());
      const auto points = points_of(std::string(folder) + "/" + entry.path().filename().string());
      std::set<std::string> different;
      for (const Point& point : points)
        EXPECT_TRUE(different.insert(identity(point)).second) << entry << ": " << identity(point);
      EXPECT_GE(points.size(), 1u) << entry;
    }
  EXPECT_THAT(lists,
              testing::ElementsAre("calibration", "drawn", "drawn_again", "drawn_fifth",
                                   "drawn_fourth", "drawn_third", "elsewhere", "grid", "holdout",
                                   "launches", "length", "prefetch", "scans", "sections", "split"));
}

TEST(Lists, CalibrationIsSmallAndSharesNoLengthWithWhatIsJudged) {
  const auto calibration = points_of("validation/calibration.ini");
  EXPECT_LE(calibration.size(), 12u);
  for (const char* list : {"validation/grid.ini", "validation/holdout.ini", "validation/drawn.ini",
                           "validation/drawn_again.ini", "validation/drawn_third.ini",
                           "validation/drawn_fourth.ini", "validation/drawn_fifth.ini"}) {
    const auto judged = numbers(points_of(list), "seq-kv");
    for (const int64_t length : numbers(calibration, "seq-kv"))
      EXPECT_FALSE(judged.contains(length)) << list;
  }
}

TEST(Lists, TheHeldOutListSharesNoPointWithTheGridAndOnlyItsOuterLengths) {
  const auto grid = points_of("validation/grid.ini");
  const auto holdout = points_of("validation/holdout.ini");
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
  EXPECT_GE(points_of("validation/drawn_again.ini").size(), 120u);
  EXPECT_GE(points_of("validation/drawn_third.ini").size(), 120u);
  EXPECT_GE(points_of("validation/drawn_fourth.ini").size(), 120u);
  EXPECT_GE(points_of("validation/drawn_fifth.ini").size(), 120u);
  std::map<int64_t, std::string> list_of;
  for (const char* list :
       {"validation/drawn.ini", "validation/drawn_again.ini", "validation/drawn_third.ini",
        "validation/drawn_fourth.ini", "validation/drawn_fifth.ini"})
    for (const int64_t length : numbers(points_of(list), "seq-kv"))
      EXPECT_TRUE(list_of.emplace(length, list).second) << list << ": " << length;
  for (const char* list : {"validation/grid.ini", "validation/holdout.ini"})
    for (const int64_t length : numbers(points_of(list), "seq-kv"))
      EXPECT_FALSE(list_of.contains(length)) << list << ": " << length;
}

class JudgedList : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Lists, JudgedList,
                         testing::Values("validation/grid.ini", "validation/holdout.ini",
                                         "validation/drawn.ini"));

TEST_P(JudgedList, CoversWhatPredictionsAreJudgedOn) {
  using testing::IsSupersetOf;
  const auto grid = points_of(GetParam());
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
