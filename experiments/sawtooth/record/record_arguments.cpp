#include "experiments/sawtooth/record/record_arguments.hpp"

#include <algorithm>
#include <stdexcept>

#include "cupti/inject/pass_file.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
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
  if (options.has("metrics")) record.metrics = metric_list(options.value_or("metrics", ""));
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
