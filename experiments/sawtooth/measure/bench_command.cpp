// sawtooth bench: times all points of a sweep against each other. Every round launches each point
// once, in an order that is shuffled anew, so that clocks, heat and the neighbour before are the
// same for all; the first round warms up and says how many launches make a measurable burst.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/measure/measure_points.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr const char* default_rounds = "15";
/// A burst lasts so long that the resolution of events (0.5 us, CUDA Runtime API) is 0.05 %.
constexpr double burst_us = 1000;
/// From here on a launch's own time on the CPU, some 10 us, is below 0.2 %.
constexpr double long_launch_us = 5000;
constexpr uint32_t shuffle_seed = 20260118;

struct Contender {
  const MeasurePoint* point;
  std::unique_ptr<AttentionOnDevice> attention;
  std::vector<double> times_us;
  int launches = 1;
  bool behind_another = false;
};

/// Points of one problem share its tensors. What cannot be run becomes its point's refusal.
std::vector<Contender> contenders_of(std::vector<MeasurePoint>& points) {
  std::map<std::string, std::shared_ptr<const AttentionTensors>> tensors;
  std::vector<Contender> contenders;
  for (MeasurePoint& point : points) {
    if (!point.point.refusal.empty()) continue;
    std::string problem;
    for (const char* key : {"batch", "heads", "kv-heads", "seq-q", "seq-kv", "head-dim", "dtype",
                            "pass", "lengths", "prefix", "prefix-group", "page-rows", "page-table"})
      problem += point.point.text(key) + " ";
    try {
      std::shared_ptr<const AttentionTensors>& shared = tensors[problem];
      if (shared == nullptr) shared = tensors_of(point.point);
      contenders.push_back({&point, std::make_unique<AttentionOnDevice>(point.point, shared), {}});
    } catch (const UsageError& error) {
      point.point.refusal = error.what();
    } catch (const kernels::CudaError& error) {
      if (error.error() != cudaErrorMemoryAllocation) throw;
      cudaGetLastError();  // or the next launch would report it
      point.point.refusal = "the GPU's memory is too small for it beside the other points";
    }
  }
  return contenders;
}

void warm_up(std::vector<Contender>& contenders) {
  for (Contender& contender : contenders) {
    contender.attention->time_us();
    const double time_us = contender.attention->time_us();
    contender.behind_another = time_us < long_launch_us;
    contender.launches = std::max(1, int(burst_us / time_us));
  }
}

void run_round(std::vector<Contender>& contenders, std::mt19937& random) {
  std::vector<size_t> turns(contenders.size());
  std::iota(turns.begin(), turns.end(), size_t(0));
  std::shuffle(turns.begin(), turns.end(), random);
  for (const size_t turn : turns) {
    Contender& contender = contenders[turn];
    contender.times_us.push_back(
        contender.attention->time_us(contender.launches, contender.behind_another));
  }
}

/// In the order of the sweep, which is that of the contenders.
void write_rows(const std::vector<MeasurePoint>& points, const std::vector<Contender>& contenders,
                ResultLog& log) {
  log.start();
  auto contender = contenders.begin();
  for (const MeasurePoint& point : points) {
    if (!point.point.refusal.empty()) {
      log.append(refused_row(point));
      continue;
    }
    for (size_t round = 0; round < contender->times_us.size(); ++round)
      log.append(measured_row(point, int64_t(round),
                              {.counts = {}, .time_us = contender->times_us[round]}));
    ++contender;
  }
  log.finish();
}

}  // namespace

int run_bench(const Command& command, const Arguments& arguments) {
  MeasurePlan plan = measure_plan(command, arguments);
  const int64_t rounds = std::stoll(value_or(plan.outputs, "repetitions", default_rounds));
  ResultLog log(csv_path(plan.outputs), old_rows(plan.outputs));
  try {
    std::vector<Contender> contenders = contenders_of(plan.points);
    if (contenders.empty() && !plan.is_part) throw Refusal(plan.points.front().point.refusal);
    if (plan.is_part) log.keep_refused();
    if (for_people(plan.outputs)) log.remember_rows();
    warm_up(contenders);
    std::mt19937 random(shuffle_seed);
    for (int64_t round = 0; round < rounds; ++round) run_round(contenders, random);
    write_rows(plan.points, contenders, log);
    if (for_people(plan.outputs)) std::cout << short_table(log.sweep_rows());
    const Failures failures = refusals_of(plan);
    failures.print();
    return failures.empty() ? exit_fine : exit_check_failed;
  } catch (const kernels::CudaError& error) {
    std::cerr << "sawtooth bench: " << error.what() << "\n";
    return error.no_device() ? exit_no_device : exit_check_failed;
  }
}

}  // namespace sawtooth::experiments
