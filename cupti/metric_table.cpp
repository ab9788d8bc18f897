#include "cupti/metric_table.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"

namespace sawtooth::cupti {
namespace {

constexpr auto infos = std::to_array<L2CounterInfo>({
#define COUNTER(name, column, ...) {L2Counter::name, #column, __VA_ARGS__},
#define MEASURED_COUNTER(name, column, ...) {L2Counter::name, #column, __VA_ARGS__},
#include "scheduler/counters.inc"
});

constexpr std::array<ChipInfo, 7> chips{{
    {"GA100", "A100, A30", "8.0", 2},
    {"GA102", "RTX 30 series, A40, A10", "8.6", 1},
    {"AD102", "RTX 4090, L40", "8.9", 1},
    {"GH100", "H100, H200, GH200", "9.0", 2},
    {"GB100", "B100, B200", "10.0", 2},
    {"GB202", "RTX 5090", "12.0", 1},
    {"GB20B", "GB10 (DGX Spark)", "12.1", 1},
}};

struct Exception {
  std::string_view chip;
  L2Counter counter;
  MetricChoice choice;
};

constexpr auto exceptions = std::to_array<Exception>({
#define COUNTER_ON(chip, name, metric, reason) {chip, L2Counter::name, {metric, reason}},
#include "scheduler/counters.inc"
});

/// Null for a chip without a table.
const ChipInfo* chip_of_table(std::string_view chip) {
  const auto found =
      std::find_if(chips.begin(), chips.end(), [&](const ChipInfo& c) { return c.name == chip; });
  return found == chips.end() ? nullptr : &*found;
}

constexpr bool is_fabric(L2Counter counter) {
  return counter == L2Counter::fabric_read || counter == L2Counter::fabric_read_hit ||
         counter == L2Counter::fabric_read_miss;
}

constexpr bool is_coalescer(L2Counter counter) {
  return counter == L2Counter::coalescer_in || counter == L2Counter::coalescer_out ||
         counter == L2Counter::coalescer_shared;
}

/// The request coalescer's counters exist from Hopper on, on data-centre chips only.
bool has_coalescer(std::string_view chip) {
  return chip == "GH100" || chip == "GB100";
}

constexpr auto reduction_list = [] {
  constexpr auto size = std::ranges::count_if(infos, [](auto& info) { return info.place > 0; });
  std::array<L2Counter, size_t(size)> list{};
  for (const L2CounterInfo& info : infos)
    if (info.place > 0) list[size_t(info.place) - 1] = info.counter;
  return list;
}();
constexpr std::span result_list = std::span(reduction_list).first(reduction_list.size() - 1);

constexpr std::array witness_list{L2Counter::sm_read, L2Counter::dram_read, L2Counter::duration_ns};

}  // namespace

std::span<const L2CounterInfo> l2_counters() {
  return infos;
}

std::string_view column_of(L2Counter counter) {
  return infos[static_cast<size_t>(counter)].column;
}

std::span<const ChipInfo> chips_with_table() {
  return chips;
}

const std::vector<MetricChoice>& resolve_metrics(std::string_view chip) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<MetricChoice>, std::less<>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(chip); found != known.end()) return found->second;
  std::set<std::string, std::less<>> listed;
  for (const MetricInfo& metric : list_metrics(std::string(chip))) listed.insert(metric.name);
  std::vector<MetricChoice> choices;
  for (const L2CounterInfo& info : infos) {
    MetricChoice choice{"", "CUPTI lists no metric of this counter for the chip"};
    const auto try_name = [&](std::string_view metric) {
      if (choice.available() || !listed.contains(metric.substr(0, metric.find('.')))) return;
      choice = {metric, ""};
    };
    try_name(info.metric);
    for (const Exception& exception : exceptions)
      if (exception.counter == info.counter) try_name(exception.choice.metric);
    choices.push_back(choice);
  }
  return known.emplace(chip, std::move(choices)).first->second;
}

const ChipInfo& chip_info(std::string_view chip) {
  const ChipInfo* const found = chip_of_table(chip);
  if (found != nullptr) return *found;
  static std::mutex mutex;
  static std::map<std::string, ChipInfo, std::less<>> made;
  const std::lock_guard lock(mutex);
  if (const auto known = made.find(chip); known != made.end()) return known->second;
  const bool fabric = metric_for(chip, L2Counter::fabric_read).available();
  const auto place = made.emplace(chip, ChipInfo{}).first;
  place->second = {place->first, "not in the table, names as CUPTI lists them", "", fabric ? 2 : 1};
  return place->second;
}

MetricChoice metric_for(std::string_view chip, L2Counter counter) {
  if (chip_of_table(chip) == nullptr) {
    try {
      return resolve_metrics(chip)[static_cast<size_t>(counter)];
    } catch (const CounterError& error) {
      throw CounterError(Status::no_metric_table, "chip " + std::string(chip), error.code());
    }
  }
  const ChipInfo& info = chip_info(chip);
  for (const Exception& exception : exceptions)
    if (exception.chip == chip && exception.counter == counter) return exception.choice;
  if (is_fabric(counter) && info.l2_halves == 1)
    return {"", "this chip's L2 has one part and no fabric"};
  if (is_coalescer(counter) && !has_coalescer(chip))
    return {"", "CUPTI has no lrc__ metrics on this chip"};
  return {infos[static_cast<size_t>(counter)].metric, ""};
}

std::vector<std::string> metrics_for(std::string_view chip, std::span<const L2Counter> counters) {
  std::vector<std::string> metrics;
  for (const L2Counter counter : counters) {
    const MetricChoice choice = metric_for(chip, counter);
    if (choice.available()) metrics.emplace_back(choice.metric);
  }
  return metrics;
}

std::span<const L2Counter> result_counters() {
  return result_list;
}
std::span<const L2Counter> result_counters_with_reductions() {
  return reduction_list;
}
std::span<const L2Counter> witness_counters() {
  return witness_list;
}

}  // namespace sawtooth::cupti
