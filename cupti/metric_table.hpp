// The L2 counters of this project as metric names of each chip.
//
// Chips name the same quantity alike, with exceptions that are spelled out here and holes that
// carry their reason: a counter that a chip lacks is empty, never 0 and never another chip's.
// Checked against CUPTI's host API without a GPU (tests/cupti).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::cupti {

/// The rows of scheduler/counters.inc that are measured.
enum class L2Counter : uint8_t {
#define COUNTER(name, ...) name,
#define MEASURED_COUNTER(name, ...) name,
#include "scheduler/counters.inc"
};
inline constexpr int l2_counter_count = 0
#define COUNTER(...) +1
#define MEASURED_COUNTER(...) +1
#include "scheduler/counters.inc"
    ;

/// How a chip counts one L2Counter: a metric with its rollup, or none and the reason why.
struct MetricChoice {
  std::string_view metric;
  std::string_view reason;
  bool available() const { return !metric.empty(); }
};

struct L2CounterInfo {
  L2Counter counter;
  std::string_view column;  // name in tables, e.g. "l2_read_miss_sectors"
  std::string_view description;
  int place;                // in the passes of result_counters; 0: in none
  std::string_view metric;  // of most chips; metric_for knows the others
};

/// Every counter, in the order of the enumeration.
std::span<const L2CounterInfo> l2_counters();
std::string_view column_of(L2Counter counter);

struct ChipInfo {
  std::string_view name;  // CUPTI's
  std::string_view products;
  std::string_view compute;  // compute capability
  int l2_halves;             // 2: a far access crosses the fabric between the halves
};

/// Chips with a table: GA100, GA102, AD102, GH100, GB100, GB202, GB20B.
std::span<const ChipInfo> chips_with_table();

/// For a chip without a table this follows from its metrics. Throws as metric_for.
const ChipInfo& chip_info(std::string_view chip);

/// A chip without a table gets the name that the chips of the table use and CUPTI's host API lists
/// for this one. Throws CounterError (no_metric_table) where CUPTI does not know it either.
MetricChoice metric_for(std::string_view chip, L2Counter counter);

/// The choices by counter that metric_for makes for a chip without a table, of any chip. Throws as
/// list_metrics. The views stay valid.
const std::vector<MetricChoice>& resolve_metrics(std::string_view chip);

/// Metric names of those of `counters` that the chip has, in that order.
std::vector<std::string> metrics_for(std::string_view chip, std::span<const L2Counter> counters);

/// What rows of results.csv need: everything but the coalescer's own and the all-units counters.
std::span<const L2Counter> result_counters();

/// And of launches that add in L2: a backward pass.
std::span<const L2Counter> result_counters_with_reductions();

/// What every pass repeats, so that differences between replays show: SM-side reads, DRAM reads
/// and time.
std::span<const L2Counter> witness_counters();

}  // namespace sawtooth::cupti
