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
#include "cupti/status.hpp"

namespace sawtooth::cupti {

/// A metric that cannot be read on this chip, and why.
struct DroppedMetric {
  std::string metric;
  Status status;  // unknown_metric or metric_not_schedulable
};

struct MetricPlan {
  std::string chip;
  std::vector<std::string> witnesses;  // collected in every group of one pass
  std::vector<MetricGroup> groups;     // witnesses first, then the group's own metrics
  std::vector<DroppedMetric> dropped = {};

  int64_t passes() const;
};

/// First-fit packing of `metrics` in their order; a metric that needs several passes alone gets a
/// group of its own without witnesses. Duplicates are collected once. A metric that cannot be read
/// is refused, or with BadMetrics::drop left out, so that it does not cost the others.
/// Throws CounterError as MetricGroup does, std::invalid_argument when there is no metric.
enum class BadMetrics : uint8_t { refuse, drop };
MetricPlan plan_metrics(const std::string& chip, const std::vector<std::string>& metrics,
                        const std::vector<std::string>& witnesses = {},
                        const std::vector<uint8_t>& availability = {},
                        BadMetrics bad = BadMetrics::refuse);

}  // namespace sawtooth::cupti
