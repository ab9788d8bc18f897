#include "experiments/sawtooth/record/record_arguments.hpp"

#include <algorithm>
#include <stdexcept>

#include "cupti/inject/launch_filter.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

std::vector<std::string> metrics_of(const std::string& text) {
  std::vector<std::string> metrics = split_list(text);
  std::erase(metrics, "");
  if (metrics.empty())
    throw UsageError("--metrics: name at least one metric, such as lts__t_sectors.sum");
  return metrics;
}

}  // namespace

RecordArguments parse_record_arguments(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const PlainOptions options = parse_plain_options(
      "record", {arguments.begin(), dashes},
      {"kernel", "nvtx", "skip", "count", "metrics", "csv", "gpu", "device"}, {"flush"}, 0);
  RecordArguments record;
  record.launches.kernel = options.value_or("kernel", "");
  record.launches.nvtx = options.value_or("nvtx", "");
  record.launches.skip = options.count_or("skip", 0);
  record.launches.count = options.count_or("count", 0);
  record.launches.flush = options.has("flush");
  if (options.has("metrics")) record.metrics = metrics_of(options.value_or("metrics", ""));
  record.csv = options.value_or("csv", "-");
  record.gpu = options.value_or("gpu", "");
  record.device = static_cast<int>(options.count_or("device", 0));
  if (dashes == arguments.end() || dashes + 1 == arguments.end())
    throw UsageError(
        "record: no command; write it behind --, as in `sawtooth record --kernel "
        "attention -- python program.py`");
  record.command.assign(dashes + 1, arguments.end());
  try {
    const inject::LaunchFilter valid(record.launches);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--kernel: ") + error.what());
  }
  return record;
}

}  // namespace sawtooth::experiments
