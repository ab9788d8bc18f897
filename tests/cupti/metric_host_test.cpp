#include "cupti/metric_host.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cupti/host_available.hpp"

namespace sawtooth::cupti {
namespace {

using ::testing::HasSubstr;
using MetricHost = HostApiTest;

Status status_thrown_by(const std::string& chip, const std::vector<std::string>& metrics,
                        std::string* message = nullptr) {
  try {
    passes_of(chip, metrics);
    return Status::ok;
  } catch (const CounterError& error) {
    if (message != nullptr) *message = error.what();
    return error.status();
  }
}

TEST_F(MetricHost, AnUnknownMetricIsNamed) {
  std::string message;
  EXPECT_EQ(status_thrown_by("GH100", {"lts__t_sectors.sum", "lts__t_sektors.sum"}, &message),
            Status::unknown_metric);
  EXPECT_THAT(message, HasSubstr("'lts__t_sektors.sum' on GH100"));
}

TEST_F(MetricHost, AMissingRollupIsReportedAsSuch) {
  std::string message;
  EXPECT_EQ(status_thrown_by("GH100", {"lts__t_sectors"}, &message), Status::unknown_metric);
  EXPECT_THAT(message, HasSubstr("rollup"));
}

TEST_F(MetricHost, AnUnknownChipIsRefused) {
  EXPECT_EQ(status_thrown_by("GX999", {"lts__t_sectors.sum"}), Status::chip_unknown);
}

// Lookup classes (total, hit, miss) never share a pass.
TEST_F(MetricHost, TotalsHitsAndMissesOfLookupsTakeAPassEach) {
  const std::string base = "lts__t_sectors_srcunit_tex_op_read";
  for (const char* chip : {"GA100", "GA102", "AD102", "GH100", "GB100", "GB202", "GB20B"}) {
    EXPECT_EQ(passes_of(chip, {base + ".sum"}), 1) << chip;
    EXPECT_GE(passes_of(chip, {base + ".sum", base + "_lookup_miss.sum"}), 2) << chip;
    EXPECT_GE(passes_of(chip, {base + ".sum", base + "_lookup_hit.sum", base + "_lookup_miss.sum"}),
              3)
        << chip;
  }
}

TEST_F(MetricHost, TheListIsFilteredSortedAndDescribed) {
  const std::vector<MetricInfo> found = list_metrics("GH100", "lts__t_sectors_srcunit_tex");
  ASSERT_GT(found.size(), 10u);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  const auto place = std::find_if(found.begin(), found.end(), [](const MetricInfo& info) {
    return info.name == "lts__t_sectors_srcunit_tex_op_read";
  });
  ASSERT_NE(place, found.end());
  EXPECT_EQ(place->kind, "counter");
  EXPECT_FALSE(place->description.empty());
  for (const MetricInfo& info : found)
    EXPECT_THAT(info.name, HasSubstr("lts__t_sectors_srcunit_tex"));
}

TEST_F(MetricHost, TheInstalledVersionIsOneThatHasTheRangeProfiler) {
  // 12.6 brought it; CUPTI_API_VERSION counts differently before 13, so only a floor is checked.
  EXPECT_GE(cupti_version().version, 24u);
}

TEST_F(MetricHost, ManyGroupsAreBuiltAndFreedInOneProcess) {
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(passes_of("GH100", {"lts__t_sectors_op_read.sum", "dram__sectors_read.sum"}), 1);
}

}  // namespace
}  // namespace sawtooth::cupti
