// Which metrics share a replay pass.
//
// Totals, hits and misses of L2 lookups are three classes of filters that never share a pass, so
// a miss rate always mixes replays. The plan therefore packs metrics into groups of one pass each
// and adds witnesses (DRAM sectors, SM-side sectors, time) to every group: when the replays of a
// point differ, the witnesses show it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cupti/metric_host.hpp"

namespace sawtooth::cupti {

struct MetricPlan {
  std::string chip;
  std::vector<std::string> witnesses;  // collected in every group of one pass
  std::vector<MetricGroup> groups;     // witnesses first, then the group's own metrics

  int64_t passes() const;
};

/// First-fit packing of `metrics` in their order; a metric that needs several passes alone gets a
/// group of its own without witnesses. Duplicates are collected once.
/// Throws CounterError as MetricGroup does, std::invalid_argument when there is no metric.
MetricPlan plan_metrics(const std::string& chip, const std::vector<std::string>& metrics,
                        const std::vector<std::string>& witnesses = {},
                        const std::vector<uint8_t>& availability = {});

}  // namespace sawtooth::cupti
