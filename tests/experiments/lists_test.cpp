// The lists of points of studies: that each resolves, and that what judges predictions is what it
// claims to be.
#include <algorithm>
#include <filesystem>
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
  const Configuration configuration = read_configuration(root + "/studies/" + list + ".ini");
  Catalog catalog;
  std::vector<Point> points;
  for (const Settings& settings : expand(configuration, {}))
    points.push_back(resolve(settings, catalog));
  return points;
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
  for (const std::string study : {"orders", "prediction"})
    for (const auto& entry :
         std::filesystem::directory_iterator(root + "/studies/" + study + "/lists")) {
      if (entry.path().extension() != ".ini") continue;
      const std::string list = study + "/lists/" + entry.path().stem().string();
      lists.insert(entry.path().stem().string());
      const auto points = points_of(list);
      EXPECT_GE(points.size(), 1u) << list;
      std::set<std::string> different;
      // A list for `search` is a space: section = 4 and section = all are one where heads are 4.
      if (entry.path().stem() == "proof") continue;
      for (const Point& point : points)
        EXPECT_TRUE(different.insert(identity(point)).second) << list << ": " << identity(point);
    }
  EXPECT_TRUE(lists.contains("families_sixth"));
}

TEST(Lists, CalibrationIsSmallAndSharesNoLengthWithWhatIsJudged) {
  const auto calibration = points_of("prediction/lists/calibration");
  EXPECT_LE(calibration.size(), 12u);
  const auto judged = numbers(points_of("prediction/lists/families_sixth"), "seq-kv");
  for (const int64_t length : numbers(calibration, "seq-kv"))
    EXPECT_FALSE(judged.contains(length)) << length;
}

TEST(Lists, TheListThatJudgesCoversWhatPredictionsAreJudgedOn) {
  using testing::IsSupersetOf;
  const auto list = points_of("prediction/lists/families_sixth");
  EXPECT_GE(list.size(), 120u);
  EXPECT_THAT(numbers(list, "head-dim"), testing::ElementsAre(64, 128));
  EXPECT_LE(*numbers(list, "seq-q").begin(), 6 << 10);
  EXPECT_GE(*numbers(list, "seq-q").rbegin(), 200 << 10);
  EXPECT_EQ(*numbers(list, "heads").begin(), 1);
  EXPECT_EQ(*numbers(list, "heads").rbegin(), 32);
  EXPECT_THAT(values(list, "mask"), IsSupersetOf({"none", "causal"}));
  EXPECT_TRUE(std::ranges::any_of(values(list, "mask"),
                                  [](const std::string& m) { return m.starts_with("window:"); }));
  EXPECT_THAT(values(list, "q-order"), IsSupersetOf({"ascending", "descending"}));
  EXPECT_THAT(values(list, "launch"), IsSupersetOf({"grid", "static", "dynamic"}));
  EXPECT_THAT(values(list, "scan"), IsSupersetOf({"linear", "reverse", "sawtooth", "attach"}));
  EXPECT_THAT(numbers(list, "prefetch"), IsSupersetOf({0, 2, 8}));
  EXPECT_THAT(numbers(list, "ctas-per-sm"), IsSupersetOf({1, 2}));
  EXPECT_GT(numbers(list, "section").size(), 2u);
}

}  // namespace
}  // namespace sawtooth::experiments
