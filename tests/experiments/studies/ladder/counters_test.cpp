#include "experiments/studies/ladder/counters.hpp"

#include "tests/cupti/host_available.hpp"

namespace sawtooth::experiments::ladder {
namespace {

using LadderCounters = cupti::HostApiTest;

TEST_F(LadderCounters, AllExistOnHopperAndCanBeScheduledTogether) {
  EXPECT_EQ(available_counters("GH100").size(), counters.size());
  std::vector<std::string> metrics;
  for (const Counter& counter : counters) metrics.emplace_back(counter.metric);
  EXPECT_GE(cupti::passes_of("GH100", metrics), 1);
}

TEST_F(LadderCounters, AChipWithoutDramCountersKeepsTheOthers) {
  // GB10 has no dram__ metrics (cupti/metric_table.hpp).
  for (const size_t i : available_counters("GB20B"))
    EXPECT_NE(counters[i].column, "dram_read_sectors");
  EXPECT_GE(available_counters("GB20B").size(), counters.size() - 2);
}

TEST_F(LadderCounters, AnUnknownChipIsAnErrorNotAnEmptyList) {
  EXPECT_THROW(available_counters("GX999"), cupti::CounterError);
}

}  // namespace
}  // namespace sawtooth::experiments::ladder
