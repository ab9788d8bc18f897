#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/record/record_rows.hpp"
#include "experiments/sawtooth/record/recording.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

struct CounterGroups {
  std::string chip;
  std::vector<std::vector<std::string>> groups;  // of one pass each
  std::vector<std::string> metrics;              // all, once each
};

/// Asked of the GPU in this process, so that nothing is run where counters are off.
CounterGroups plan_groups(const RecordArguments& arguments) {
  const cupti::RangeProfiler profiler(arguments.device);
  CounterGroups planned{profiler.chip(), {}, {}};
  const auto names = [&](std::span<const cupti::L2Counter> counters) {
    return cupti::metrics_for(planned.chip, counters);
  };
  const std::vector<std::string> witnesses = names(cupti::witness_counters());
  const std::vector<std::string> metrics =
      arguments.metrics.empty() ? names(cupti::result_counters()) : arguments.metrics;
  const cupti::MetricPlan plan = profiler.plan(
      metrics, witnesses,
      arguments.metrics.empty() ? cupti::BadMetrics::drop : cupti::BadMetrics::refuse);
  for (const cupti::DroppedMetric& dropped : plan.dropped)
    std::cerr << "note: " << dropped.metric
              << " is not counted: " << cupti::status_name(dropped.status) << '\n';
  for (const cupti::MetricGroup& group : plan.groups) {
    if (group.passes() != 1)
      throw UsageError("--metrics: " + group.metrics().front() + " needs " +
                       std::to_string(group.passes()) +
                       " passes by itself; only metrics of one pass can be recorded");
    planned.groups.push_back(group.metrics());
    for (const std::string& metric : group.metrics())
      if (std::find(planned.metrics.begin(), planned.metrics.end(), metric) ==
          planned.metrics.end())
        planned.metrics.push_back(metric);
  }
  return planned;
}

/// Beside the program or in lib/sawtooth/ beside its folder; $SAWTOOTH_RECORD_LIBRARY comes first.
std::string find_library() {
  if (const char* named = std::getenv("SAWTOOTH_RECORD_LIBRARY")) return named;
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& place : {folder, folder.parent_path() / "lib/sawtooth"}) {
    const fs::path library = place / "libsawtooth_record.so";
    if (fs::exists(library, ignored)) return library.string();
  }
  throw cupti::CounterError(cupti::Status::not_built, "libsawtooth_record.so is not there");
}

int finish(const RecordArguments& arguments, const CounterGroups& planned,
           const Recording& recording) {
  for (const std::string& note : notes_of(recording.passes)) std::cerr << "note: " << note << '\n';
  for (const std::string& end : recording.ends) std::cerr << "note: " << end << '\n';
  std::vector<MergedLaunch> launches;
  try {
    launches = merge_passes(recording.passes, 1 + planned.groups.size());
  } catch (const PassMismatch& error) {
    std::cerr << "sawtooth: the command does not repeat its launches, so its counters cannot be "
                 "put together: "
              << error.what() << '\n';
    return exit_check_failed;
  }
  if (launches.empty() && !recording.interrupted) {
    std::cerr << "sawtooth: no launch of the command matched; without --kernel, --nvtx and --skip "
                 "every launch does\n";
    return exit_check_failed;
  }
  const RecordLabels labels{arguments.csv == "-" ? "record" : stem_of(arguments.csv), arguments.gpu,
                            arguments.launches.flush ? "cold" : "as-is"};
  write_output(arguments.csv, record_table(launches, planned.metrics, planned.chip, labels));
  if (recording.interrupted) return exit_interrupted;
  const bool all_read = std::all_of(launches.begin(), launches.end(),
                                    [](const MergedLaunch& one) { return one.status == "ok"; });
  return recording.ends.empty() && all_read ? exit_fine : exit_check_failed;
}

}  // namespace

int run_record(const Command&, const Arguments& given) {
  const RecordArguments arguments = parse_record_arguments(given);
  if (std::getenv("CUDA_INJECTION64_PATH") != nullptr)
    throw UsageError(
        "CUDA_INJECTION64_PATH is set: another tool is in the command's way; unset it");
  if (arguments.csv != "-") output_path(arguments.csv);  // refuses what cannot be written
  try {
    const std::string library = find_library();
    const CounterGroups planned = plan_groups(arguments);
    return finish(arguments, planned, record_command(arguments, planned.groups, library));
  } catch (const cupti::CounterError& error) {
    const bool wrong_metric = error.status() == cupti::Status::unknown_metric ||
                              error.status() == cupti::Status::metric_not_schedulable;
    if (wrong_metric) throw UsageError(std::string("--metrics: ") + error.what());
    std::cerr << "sawtooth: " << error.what() << '\n';
    return exit_no_device;
  }
}

}  // namespace sawtooth::experiments
