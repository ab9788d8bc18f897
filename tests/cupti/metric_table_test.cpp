#include "cupti/metric_table.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "cupti/metric_host.hpp"
#include "tests/cupti/host_available.hpp"

namespace sawtooth::cupti {
namespace {

bool lists(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(MetricTable, EveryCounterStandsAtItsOwnPlaceWithAColumnOfItsOwn) {
  std::set<std::string_view> columns;
  ASSERT_EQ(l2_counters().size(), size_t{l2_counter_count});
  for (size_t i = 0; i < l2_counters().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(l2_counters()[i].counter), i);
    EXPECT_TRUE(columns.insert(l2_counters()[i].column).second) << l2_counters()[i].column;
  }
}

TEST(MetricTable, AMissingCounterCarriesItsReasonAndAPresentOneNone) {
  for (const ChipInfo& chip : chips_with_table()) {
    for (const L2CounterInfo& info : l2_counters()) {
      const MetricChoice choice = metric_for(chip.name, info.counter);
      EXPECT_NE(choice.metric.empty(), choice.reason.empty()) << chip.name << " " << info.column;
    }
  }
}

TEST(MetricTable, HolesAreWhereTheChipsHaveThem) {
  for (const ChipInfo& chip : chips_with_table()) {
    const bool fabric = metric_for(chip.name, L2Counter::fabric_read).available();
    EXPECT_EQ(fabric, chip.l2_halves == 2) << chip.name;
    const bool coalescer = metric_for(chip.name, L2Counter::coalescer_out).available();
    EXPECT_EQ(coalescer, chip.name == "GH100" || chip.name == "GB100") << chip.name;
    const bool dram = metric_for(chip.name, L2Counter::dram_read).available();
    EXPECT_EQ(dram, chip.name != "GB20B") << chip.name;
  }
  EXPECT_EQ(metric_for("GB202", L2Counter::dram_read).metric, "dram__sectors_op_read.sum");
  EXPECT_TRUE(metric_for("GB20B", L2Counter::fill_device).available());
  EXPECT_TRUE(metric_for("GB20B", L2Counter::fill_system).available());
}

TEST(MetricTable, AChipThatCuptiDoesNotKnowIsRefusedAndNeverGetsAnothersMetrics) {
  if (!why_not_under_sanitizer().empty()) GTEST_SKIP() << why_not_under_sanitizer();
  for (const char* chip : {"GH999", ""}) {
    try {
      metric_for(chip, L2Counter::l2_read);
      FAIL() << chip;
    } catch (const CounterError& error) {
      EXPECT_EQ(error.status(), Status::no_metric_table);
    }
  }
}

using MetricTableOnHostApi = HostApiTest;

TEST_F(MetricTableOnHostApi, EveryChipWithATableIsKnownToCupti) {
  const std::vector<std::string> known = known_chips();
  for (const ChipInfo& chip : chips_with_table()) EXPECT_TRUE(lists(known, chip.name)) << chip.name;
}

// A counter of the L2 slices or of DRAM takes one pass when nothing else is asked for.
TEST_F(MetricTableOnHostApi, EveryMetricExistsOnItsChipAndFitsOnePassAlone) {
  int checked = 0;
  for (const ChipInfo& chip : chips_with_table()) {
    for (const L2CounterInfo& info : l2_counters()) {
      const MetricChoice choice = metric_for(chip.name, info.counter);
      if (!choice.available()) continue;
      EXPECT_EQ(passes_of(std::string(chip.name), {std::string(choice.metric)}), 1)
          << chip.name << " " << choice.metric;
      ++checked;
    }
  }
  // 19 counters on 7 chips, less: 3 fabric on 4 chips, 3 coalescer on 5 chips, fill_system on 2,
  // DRAM (2) on 1.
  EXPECT_EQ(checked, 19 * 7 - 3 * 4 - 3 * 5 - 2 - 2);
}

// A hole is real: the name that other chips use is refused by CUPTI there.
TEST_F(MetricTableOnHostApi, EveryHoleIsAHoleForCuptiToo) {
  for (const ChipInfo& chip : chips_with_table()) {
    for (const L2CounterInfo& info : l2_counters()) {
      if (metric_for(chip.name, info.counter).available()) continue;
      const std::string elsewhere(metric_for("GH100", info.counter).metric);
      EXPECT_THROW(passes_of(std::string(chip.name), {elsewhere}), CounterError)
          << chip.name << " " << elsewhere;
    }
  }
}

using ResolvedMetricsOnHostApi = HostApiTest;

// The table is the second engine of what is resolved from CUPTI's lists, and the other way round.
TEST_F(ResolvedMetricsOnHostApi, EqualTheTableWhereThereIsOne) {
  for (const ChipInfo& chip : chips_with_table()) {
    const std::vector<MetricChoice>& resolved = resolve_metrics(chip.name);
    ASSERT_EQ(resolved.size(), l2_counters().size());
    for (const L2CounterInfo& info : l2_counters())
      EXPECT_EQ(resolved[static_cast<size_t>(info.counter)].metric,
                metric_for(chip.name, info.counter).metric)
          << chip.name << " " << info.column;
  }
}

TEST_F(ResolvedMetricsOnHostApi, NameTheCountersOfEveryOtherChipThatCuptiKnows) {
  int others = 0;
  for (const std::string& chip : known_chips()) {
    const auto known = chips_with_table();
    if (std::any_of(known.begin(), known.end(), [&](const ChipInfo& c) { return c.name == chip; }))
      continue;
    try {
      list_metrics(chip);
    } catch (const CounterError&) {
      continue;  // the range profiler has given up some old chips
    }
    ++others;
    EXPECT_TRUE(metric_for(chip, L2Counter::l2_read).available()) << chip;
    EXPECT_TRUE(metric_for(chip, L2Counter::duration_ns).available()) << chip;
    EXPECT_EQ(chip_info(chip).name, chip);
  }
  EXPECT_GT(others, 0);
}

}  // namespace
}  // namespace sawtooth::cupti
