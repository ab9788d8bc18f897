// ladder [LEVEL ...]: runs the levels of kernels/ladder, checks each against the double-precision
// reference, times them in turn, counts, and prints a table. Exit codes as `sawtooth`.
#include <algorithm>
#include <functional>
#include <iostream>

#include <cuda_runtime_api.h>

#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "experiments/studies/speed/ladder/options.hpp"
#include "experiments/studies/speed/ladder/table.hpp"
#include "kernels/ladder/checked_run.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::experiments::ladder;

constexpr int64_t check_tiles = 16;  // Q tiles of the output that are compared with the reference
constexpr uint64_t seed = 1;         // of the inputs

// Microseconds of each launch of each function: `repetitions` rounds, all functions in turn in
// every round, so that clocks and heat are the same for all; one round before is not counted.
std::vector<std::vector<double>> interleaved_times_us(
    const std::vector<std::function<void()>>& launches, int repetitions) {
  cudaEvent_t begin = nullptr, end = nullptr;
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&begin));
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&end));
  std::vector<std::vector<double>> times(launches.size());
  for (int round = -1; round < repetitions; ++round)
    for (std::size_t i = 0; i < launches.size(); ++i) {
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(begin));
      launches[i]();
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(end));
      SAWTOOTH_CUDA_CHECK(cudaEventSynchronize(end));
      float milliseconds = 0;
      SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
      if (round >= 0) times[i].push_back(double{milliseconds} * 1000);
    }
  SAWTOOTH_CUDA_CHECK(cudaEventDestroy(begin));
  SAWTOOTH_CUDA_CHECK(cudaEventDestroy(end));
  return times;
}

std::vector<Row> timed_rows(const Options& options, const kernels::ladder::CheckedRun& run) {
  std::vector<Row> rows;
  std::vector<std::function<void()>> launches;
  for (const int level : options.levels) {
    Row row;
    row.level = kernels::ladder::levels()[size_t(level - 1)];
    row.footprint = kernels::ladder::footprint(level, options.problem.dtype);
    row.output_error = run.check(level, check_tiles, seed).output;
    row.allowed_error = kernels::ladder::allowed_error(level, options.problem);
    rows.push_back(row);
    launches.push_back([&run, level] { run.launch(level); });
  }
  const auto times = interleaved_times_us(launches, options.repetitions);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].time_us = experiments::median_of(times[i]);
    rows[i].fastest_us = *std::min_element(times[i].begin(), times[i].end());
    rows[i].slowest_us = *std::max_element(times[i].begin(), times[i].end());
    rows[i].tflops = kernels::ladder::flop_count(options.problem) / rows[i].time_us / 1e6;
  }
  return rows;
}

/// Counters are read after all times: launches under a profiler are slower.
void count_rows(std::vector<Row>& rows, const kernels::ladder::CheckedRun& run) {
  try {
    cupti::RangeProfiler profiler;
    std::vector<std::string> metrics;
    for (const size_t i : available_counters(profiler.chip()))
      metrics.emplace_back(counters[i].metric);
    const cupti::MetricPlan plan = profiler.plan(metrics);
    for (Row& row : rows) {
      const int level = row.level.number;
      const cupti::Reading reading =
          profiler.measure(plan, [] {}, {{"launch", [&run, level] { run.launch(level); }}});
      for (size_t i = 0; i < counters.size(); ++i)
        for (const cupti::MetricValue& value : reading.ranges.front().values)
          if (value.metric == counters[i].metric) row.counters[i] = value.value;
    }
  } catch (const cupti::CounterError& error) {
    std::cerr << "ladder: counters are off: " << error.what() << "\n";
    for (Row& row : rows) row.status = cupti::status_name(error.status());
  }
}

void write_file(const std::string& path, const Problem& problem, const std::vector<Row>& rows) {
  cudaDeviceProp device{};
  SAWTOOTH_CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  experiments::OutputFile file(path);
  write_csv(file.stream(), device.name, problem, rows);
  file.commit();
}

int run_ladder(const Options& options) {
  const kernels::ladder::CheckedRun run(options.problem, seed);
  std::vector<Row> rows = timed_rows(options, run);
  if (options.read_counters) count_rows(rows, run);
  print_table(std::cout, options.problem, rows);
  if (!options.csv.empty()) write_file(options.csv, options.problem, rows);
  // A NaN fails too.
  const bool correct = std::all_of(rows.begin(), rows.end(), [](const Row& row) {
    return row.output_error <= row.allowed_error;
  });
  if (!correct) std::cerr << "ladder: a level differs from the reference by more than allowed\n";
  return correct ? experiments::exit_fine : experiments::exit_check_failed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.help) {
      std::cout << usage();
      return experiments::exit_fine;
    }
    return run_ladder(options);
  } catch (const experiments::UsageError& error) {
    std::cerr << "ladder: " << error.what() << "\n";
    return experiments::exit_wrong_usage;
  } catch (const kernels::CudaError& error) {
    std::cerr << "ladder: " << error.what() << "\n";
    return error.no_device() ? experiments::exit_no_device : experiments::exit_check_failed;
  } catch (const std::exception& error) {
    std::cerr << "ladder: " << error.what() << "\n";
    return experiments::exit_check_failed;
  }
}
