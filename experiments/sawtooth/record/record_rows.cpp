#include "experiments/sawtooth/record/record_rows.hpp"

#include <algorithm>

#include "cupti/metric_table.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

using inject::LaunchRecord;
using inject::ProcessRecord;

std::string described(const LaunchRecord& launch) {
  return "'" + launch.name + "' of grid " + (launch.grid.empty() ? "none" : launch.grid);
}

/// "run 3, process 0" as a person counts runs.
std::string place_of(size_t pass, size_t process) {
  return "run " + std::to_string(pass + 1) + ", process " + std::to_string(process);
}

void require_same(const LaunchRecord& first, const LaunchRecord& other, const std::string& place,
                  size_t number) {
  if (first.name == other.name && first.grid == other.grid && first.block == other.block) return;
  throw PassMismatch(place + ": matching launch " + std::to_string(number) + " is " +
                     described(other) + ", in run 1 it was " + described(first));
}

void require_as_many(size_t first, size_t other, bool both_complete, const std::string& what) {
  if (first == other || !both_complete) return;
  throw PassMismatch(what + ": " + std::to_string(other) + ", in run 1 " + std::to_string(first));
}

void add_pass(MergedLaunch& merged, const LaunchRecord& launch) {
  if (merged.status == "ok" && launch.status != "ok") {
    merged.status = launch.status;
    merged.message = launch.message;
  }
  if (launch.values.empty()) return;
  ++merged.passes;
  for (const auto& [metric, value] : launch.values) merged.values[metric].push_back(value);
}

void merge_process(std::vector<MergedLaunch>& all, const std::vector<PassRecord>& passes,
                   size_t process, size_t wanted) {
  const ProcessRecord& first = passes.front().processes[process];
  std::vector<MergedLaunch> merged;
  for (const LaunchRecord& launch : first.launches) {
    MergedLaunch one;
    one.process = process;
    one.first = launch;
    one.status = launch.status;
    one.message = launch.message;
    merged.push_back(std::move(one));
  }
  std::vector<size_t> seen(merged.size(), 1);
  for (size_t pass = 1; pass < passes.size(); ++pass) {
    const PassRecord& other = passes[pass];
    if (process >= other.processes.size()) continue;
    const std::string place = place_of(pass, process);
    const std::vector<LaunchRecord>& launches = other.processes[process].launches;
    require_as_many(first.launches.size(), launches.size(),
                    passes.front().complete && other.complete, place + ", matching launches");
    for (size_t i = 0; i < std::min(launches.size(), merged.size()); ++i) {
      require_same(merged[i].first, launches[i], place, i);
      add_pass(merged[i], launches[i]);
      ++seen[i];
    }
  }
  for (size_t i = 0; i < merged.size(); ++i) {
    if (merged[i].status == "ok" && seen[i] < wanted) {
      merged[i].status = "incomplete";
      merged[i].message = "only " + std::to_string(seen[i]) + " of " + std::to_string(wanted) +
                          " runs of the command finished this launch";
    }
    all.push_back(std::move(merged[i]));
  }
}

}  // namespace

std::vector<MergedLaunch> merge_passes(const std::vector<PassRecord>& passes, size_t wanted) {
  std::vector<MergedLaunch> all;
  if (passes.empty()) return all;
  const PassRecord& first = passes.front();
  for (size_t pass = 1; pass < passes.size(); ++pass) {
    const PassRecord& other = passes[pass];
    require_as_many(first.processes.size(), other.processes.size(),
                    first.complete && other.complete,
                    "run " + std::to_string(pass + 1) + ", processes that use CUDA");
  }
  for (size_t process = 0; process < first.processes.size(); ++process)
    merge_process(all, passes, process, wanted);
  return all;
}

std::vector<std::string> notes_of(const std::vector<PassRecord>& passes) {
  std::vector<std::string> notes;
  for (const PassRecord& pass : passes)
    for (const ProcessRecord& process : pass.processes)
      for (const std::string& note : process.notes)
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return notes;
}

namespace {

// Replays of one launch that differ by more are said: their counters are of different launches.
constexpr double told_drift = 0.005;

/// What the witnesses say of a launch that did not repeat itself.
std::string drift_of(const MergedLaunch& launch,
                     const std::map<std::string, std::string>& columns) {
  for (const auto& [metric, values] : launch.values) {
    const auto column = columns.find(metric);
    if (column == columns.end() || column->second != "sm_read_sectors" || values.empty()) continue;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*high <= *low * (1 + told_drift)) continue;
    return "sm_read_sectors differs by " + fixed(100 * (*high / *low - 1), 1) +
           " % between the runs";
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> columns_of_metrics(const std::string& chip) {
  std::map<std::string, std::string> columns;
  for (const cupti::L2CounterInfo& info : cupti::l2_counters()) {
    const cupti::MetricChoice choice = cupti::metric_for(chip, info.counter);
    if (choice.available()) columns.emplace(choice.metric, info.column);
  }
  return columns;
}

LaunchTable::LaunchTable(const std::vector<std::string>& extra) {
  for (const ResultColumn& column : result_columns) header_.emplace_back(column.name);
  header_.insert(header_.end(), launch_columns.begin(), launch_columns.end());
  header_.insert(header_.end(), extra.begin(), extra.end());
}

void LaunchTable::describe(CsvRow& row, const inject::LaunchRecord& launch, size_t process) {
  const auto known = [](int64_t value) { return value < 0 ? "" : std::to_string(value); };
  const std::string shape = std::to_string(process) + " " + launch.grid + " " + launch.block + " " +
                            launch.name + row[result_column("run_id")];
  set(row, "repetition", std::to_string(seen_[shape]++));
  set(row, "kernel_name", launch.name);
  set(row, "grid", launch.grid);
  set(row, "block", launch.block);
  set(row, "shared_bytes", known(launch.shared_bytes));
  set(row, "registers", known(launch.registers));
  set(row, "stream", known(launch.stream));
  set(row, "device", known(launch.device));
  set(row, "context", known(launch.context));
  set(row, "process", std::to_string(process));
  set(row, "launch_index", known(launch.index));
  if (launch.time_us > 0) set(row, "time_us", fixed(launch.time_us, 2));
}

std::string record_table(const std::vector<MergedLaunch>& launches,
                         const std::vector<std::string>& metrics, const std::string& chip,
                         const RecordLabels& labels) {
  const std::map<std::string, std::string> columns = columns_of_metrics(chip);
  const auto column_of = [&](const std::string& metric) {
    const auto known = columns.find(metric);
    return known == columns.end() ? metric : known->second;
  };
  std::vector<std::string> extra;
  for (const std::string& metric : metrics) {
    const std::string column = column_of(metric);
    const bool known =
        std::ranges::find(result_columns, column, &ResultColumn::name) != result_columns.end();
    if (column != "duration_ns" && !known) extra.push_back(column);
  }
  LaunchTable table(extra);
  std::string text = table.header();
  for (const MergedLaunch& launch : launches) {
    CsvRow row = table.empty_row();
    table.set(row, "experiment", labels.experiment);
    table.set(row, "source", "measured");
    table.set(row, "gpu", labels.gpu);
    table.set(row, "state", labels.state);
    table.describe(row, launch.first, launch.process);
    for (const auto& [metric, values] : launch.values) {
      const std::string column = column_of(metric);
      if (column == "duration_ns")
        table.set(row, "profiled_time_us", fixed(values.front() / ns_a_us, 2));
      else
        table.set(row, column, counted(values.front()));
    }
    if (launch.passes > 0) table.set(row, "replay_passes", std::to_string(launch.passes));
    table.set(row, "status", launch.status);
    table.set(row, "message", launch.message.empty() ? drift_of(launch, columns) : launch.message);
    text += csv_line(row);
  }
  return text;
}

}  // namespace sawtooth::experiments
