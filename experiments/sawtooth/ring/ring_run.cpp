#include "experiments/sawtooth/ring/ring_run.hpp"

#include "experiments/sawtooth/measure/launch_counters.hpp"
#include "kernels/common/cuda_check.hpp"
#include "kernels/common/event_pair.hpp"

namespace sawtooth::experiments {

RingRun::RingRun(const Point& point, const std::vector<int>& devices, bool chooses)
    : point_(point), devices_(devices), problem_(ring_problem(point, devices, chooses)) {
  for (const int device : devices) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    l2_.try_emplace(device);
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices.front()));
}

void RingRun::flush() {
  if (point_.keys.state == L2Content::as_is) return;
  for (auto& [device, l2] : l2_) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    l2.flush();
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
}

void RingRun::warm_up() {
  problem_->run_whole();
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  problem_->ring().run();
  problem_->ring().transfer_alone();
}

RingRound RingRun::round() {
  RingRound round;
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
  constexpr double us_per_ms = 1000;
  kernels::EventPair events;
  flush();
  l2_.at(devices_.front()).hold();
  round.one_gpu = events.time_us([&] { problem_->run_whole(); }) / us_per_ms;
  flush();
  round.ring = problem_->ring().run(true);
  round.transfers_alone = problem_->ring().transfer_alone();
  return round;
}

RingRun::CellsByCall RingRun::count() {
  CellsByCall all;
  const int64_t ranks = point_.ring->ranks;
  for (auto& [device, l2] : l2_) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    SAWTOOTH_CUDA_CHECK(cudaFree(nullptr));  // its context is current then
    LaunchCounters counters(point_.request.problem.pass);
    std::vector<int> here, elsewhere;
    for (int rank = 0; rank < ranks; ++rank)
      (devices_[size_t(rank)] == device ? here : elsewhere).push_back(rank);
    std::vector<cupti::NamedLaunch> launches{{"prepare", [&, device = device] {
                                                flush();
                                                SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
                                              }}};
    std::vector<std::pair<int64_t, int64_t>> calls;
    for (int64_t step = 0; step < ranks; ++step)
      for (const int rank : here) {
        std::vector<int> together{rank};
        if (rank == here.front())
          together.insert(together.end(), elsewhere.begin(), elsewhere.end());
        calls.emplace_back(rank, step);
        launches.push_back({std::to_string(rank) + " " + std::to_string(step),
                            [this, step, ranks, together, device = device] {
                              problem_->ring().run_step(step, together);
                              if (step + 1 == ranks) problem_->ring().finish(together);
                              SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
                            }});
      }
    MeasuredCells failed;
    counters.read(
        [&](cupti::RangeProfiler& profiler, const cupti::MetricPlan& plan) {
          const cupti::Reading reading = profiler.measure(
              plan, [] {}, launches);
          for (size_t i = 0; i < calls.size(); ++i)
            counters.fill(reading.ranges[i + 1], reading.replay_passes, all[calls[i]]);
        },
        failed);
    if (failed.status != "ok")
      for (const auto& call : calls) all[call] = failed;
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
  return all;
}

}  // namespace sawtooth::experiments
