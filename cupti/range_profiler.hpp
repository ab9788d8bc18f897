// Counters around launches: CUPTI's Range Profiler with user ranges and user replay.
//
//   RangeProfiler profiler;                                   // once; throws why counters are off
//   MetricPlan plan = profiler.plan({"lts__t_sectors.sum"});  // once a set of metrics
//   Reading reading = profiler.measure(plan, flush, {{"run", launch}});
//   reading.ranges[0].count("lts__t_sectors.sum");            // an exact integer
//
// User replay runs `prepare` and all launches again for every pass, so the program itself puts L2
// into the same state each time. (Kernel replay saves and restores memory around a kernel, which
// changes what L2 holds.) Times read under the profiler are not times of the program.
// Source: CUPTI documentation, "Range Profiling"; cupti_range_profiler.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"

namespace sawtooth::cupti {

// Which metrics share a replay pass.
//
// Totals, hits and misses of L2 lookups are three classes of filters that never share a pass, so
// a miss rate always mixes replays. The plan therefore packs metrics into groups of one pass each
// and adds witnesses (DRAM sectors, SM-side sectors, time) to every group: when the replays of a
// point differ, the witnesses show it.

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

/// A named part of one measurement. Ranges run in order, with a synchronisation after each.
struct NamedLaunch {
  std::string name;
  std::function<void()> launch;  // enqueues work on the current context; may synchronise
};

struct MetricValue {
  std::string metric;
  double value = 0;         // counters are integers below 2^53 and therefore exact
  int64_t replay_pass = 0;  // first replay pass that collected it, from 0
};

struct RangeReading {
  std::string name;
  std::vector<MetricValue> values;  // by pass; witnesses appear once in every pass

  /// The counter's value in the first pass that collected it; empty when it was not collected.
  /// Throws CounterError (failed) when the value is no integer, as for a ratio.
  std::optional<int64_t> count(std::string_view metric) const;
  /// One value a pass that collected it, in pass order.
  std::vector<int64_t> counts_by_pass(std::string_view metric) const;
};

struct Reading {
  std::vector<RangeReading> ranges;
  int64_t replay_passes = 0;
};

/// One a process and context, for any number of measurements. Each group of a plan costs about
/// 0.16 s on an H200, whatever the kernels take.
class RangeProfiler {
 public:
  /// Profiles the current context; with none current, the primary context of `device` is made
  /// current for the life of this object. Throws CounterError with the reason why counters are off.
  explicit RangeProfiler(int device = 0);

  /// CUPTI's name of the GPU's chip, e.g. "GH100".
  const std::string& chip() const;

  /// Schedules metrics for this device, with its counter availability.
  MetricPlan plan(const std::vector<std::string>& metrics,
                  const std::vector<std::string>& witnesses = {},
                  BadMetrics bad = BadMetrics::refuse) const;

  /// In every pass: prepare(), synchronise, then each launch in a range of its own. The passes of
  /// all groups of `plan` are run. What `prepare` and a launch throw comes through, after which the
  /// profiler can be used again.
  Reading measure(const MetricPlan& plan, const std::function<void()>& prepare,
                  const std::vector<NamedLaunch>& launches);

  /// One range around work that other code enqueues between the two calls, for a group of one pass.
  /// `prepare` runs in the pass and before the range. All work of the context is waited for at
  /// both ends. What throws leaves the profiler usable. CUPTI's object is kept for the next range
  /// of the same group, which takes 14 ms on an H200 where one with a new object takes 160;
  /// meanwhile no other context or process can count on this GPU.
  void begin(const MetricGroup& group, const std::function<void()>& prepare);
  /// Values of group.metrics().
  std::vector<double> end(const MetricGroup& group);
  /// Gives up the kept object. From any thread, outside begin() and end().
  void release();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sawtooth::cupti
