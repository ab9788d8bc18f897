// sawtooth bench: times all points of a sweep against each other. Launches are interleaved (one
// of every point, then again), so that clocks and temperature are the same for all; the first
// round warms up.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>

#include "experiments/attention_on_device.hpp"
#include "experiments/command_line.hpp"
#include "experiments/exit_code.hpp"
#include "experiments/measure_points.hpp"
#include "experiments/result_log.hpp"
#include "experiments/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr const char* default_rounds = "15";

struct Contender {
  const MeasurePoint* point;
  std::unique_ptr<AttentionOnDevice> attention;
  std::vector<double> times_us;
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[size_t(share * double(values.size() - 1) + 0.5)];
}

void print_contender(const Contender& contender) {
  const Point& point = contender.point->point;
  const double middle = quantile(contender.times_us, 0.5);
  constexpr double flop_per_us_of_a_teraflop = 1e6;
  std::cout << std::fixed << std::setprecision(1) << std::setw(8)
            << forward_flop(point.request.problem) / middle / flop_per_us_of_a_teraflop
            << " TFLOP/s  median " << std::setw(10) << middle << " us  10-90 % "
            << quantile(contender.times_us, 0.1) << " to " << quantile(contender.times_us, 0.9);
  for (const char* key : {"batch", "heads", "seq-q", "seq-kv", "head-dim", "mask", "tile-q",
                          "tile-kv", "launch", "workers", "scan", "q-order", "prefetch"})
    std::cout << "  " << key << " " << point.text(key);
  std::cout << "\n";
}

}  // namespace

int run_bench(const Command& command, const Arguments& arguments) {
  const MeasurePlan plan = measure_plan(command, arguments);
  const int64_t rounds = std::stoll(value_or(plan.outputs, "repetitions", default_rounds));
  try {
    std::vector<Contender> contenders;
    for (const MeasurePoint& point : plan.points)
      contenders.push_back({&point, std::make_unique<AttentionOnDevice>(point.point), {}});
    for (int64_t round = -1; round < rounds; ++round)
      for (Contender& contender : contenders) {
        const double time_us = contender.attention->time_us();
        if (round >= 0) contender.times_us.push_back(time_us);
      }
    for (const Contender& contender : contenders) print_contender(contender);
    const std::string path = value_or(plan.outputs, "csv", "");
    if (!path.empty()) {
      ResultLog log(path, false);
      log.start();
      for (const Contender& contender : contenders)
        for (size_t round = 0; round < contender.times_us.size(); ++round)
          log.append(measured_row(*contender.point, int64_t(round),
                                  {.counts = {}, .time_us = contender.times_us[round]}));
      log.finish();
    }
    return exit_fine;
  } catch (const kernels::CudaError& error) {
    std::cerr << "sawtooth bench: " << error.what() << "\n";
    return error.no_device() ? exit_no_device : exit_check_failed;
  }
}

}  // namespace sawtooth::experiments
