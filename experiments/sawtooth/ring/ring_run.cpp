#include "experiments/sawtooth/ring/ring_run.hpp"

#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/measure/counted_launch.hpp"
#include "experiments/sawtooth/measure/launch_counters.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "kernels/attention/automatic.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/common/cuda_check.hpp"
#include "kernels/common/event_pair.hpp"

namespace sawtooth::experiments {
namespace {

void require_launched(const kernels::Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

kernels::AttentionForward forward_call(const Point& point, bool chooses) {
  auto call = std::get<kernels::AttentionForward>(attention_call(point));
  if (!chooses) return call;
  call.schedule = kernels::automatic_schedule;
  call.tiling = {0, 0};
  if (point.keys.kernel.empty()) call.family = {};
  return call;
}

}  // namespace

RingRun::RingRun(const Point& point, const std::vector<int>& devices, bool chooses)
    : point_(point), devices_(devices), automatic_(chooses) {
  const Problem& problem = point.request.problem;
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices.front()));
  tensors_ = std::make_unique<AttentionTensors>(problem);
  lse_ =
      kernels::DeviceBuffer(problem.batch * problem.heads * problem.seq_q * int64_t(sizeof(float)));
  whole_ = forward_call(point, chooses);
  kernels::RingProblem ring;
  ring.ring = *point.ring;
  ring.call = whole_;
  ring.devices = devices;
  ring.transfer = point.keys.ring_mover == RingMover::nccl ? kernels::RingTransfer::nccl
                                                           : kernels::RingTransfer::copy;
  whole_.q = tensors_->q.as();
  whole_.k = tensors_->k.as();
  whole_.v = tensors_->v.as();
  whole_.o = tensors_->o.as();
  whole_.lse = lse_.as<float>();
  workspace_ = kernels::DeviceBuffer(int64_t(kernels::workspace_bytes(whole_)));
  require_launched(plan_.make(whole_, workspace_.as(), size_t(workspace_.bytes())));
  ring_ = std::make_unique<kernels::RingAttention>(ring);
  scatter(whole_.q, problem.heads, &kernels::RingAttention::q);
  scatter(whole_.k, problem.kv_heads, &kernels::RingAttention::k);
  scatter(whole_.v, problem.kv_heads, &kernels::RingAttention::v);
  for (const int device : devices) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    l2_.try_emplace(device);
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices.front()));
}

// Chunks of the whole tensor to the ranks that have them.
void RingRun::scatter(const void* whole, int64_t heads,
                      void* (kernels::RingAttention::*part)(int) const) {
  const Ring& ring = *point_.ring;
  const int64_t row = point_.request.problem.row_bytes();
  const auto chunk_bytes = size_t(ring.chunk_rows() * row);
  for (int rank = 0; rank < ring.ranks; ++rank)
    for (int64_t first = 0; first < ring.rank_rows(); first += ring.chunk_rows()) {
      char* const to = static_cast<char*>((ring_.get()->*part)(rank)) + first * row;
      const char* const from =
          static_cast<const char*>(whole) + ring.sequence_row(rank, first) * row;
      SAWTOOTH_CUDA_CHECK(cudaMemcpy2D(
          to, size_t(ring.rank_rows() * row), from, size_t(ring.seq * row), chunk_bytes,
          size_t(point_.request.problem.batch * heads), cudaMemcpyDefault));
    }
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
  require_launched(plan_.run(nullptr));
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  ring_->run();
  ring_->transfer_alone();
}

RingRound RingRun::round() {
  RingRound round;
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
  constexpr double us_per_ms = 1000;
  kernels::EventPair events;
  flush();
  l2_.at(devices_.front()).hold();
  round.one_gpu = events.time_us([&] { require_launched(plan_.run(nullptr)); }) / us_per_ms;
  flush();
  round.ring = ring_->run(true);
  round.transfers_alone = ring_->transfer_alone();
  return round;
}

RingRun::CellsByCall RingRun::count() {
  CellsByCall all;
  const int64_t ranks = point_.ring->ranks;
  for (auto& [device, l2] : l2_) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    SAWTOOTH_CUDA_CHECK(cudaFree(nullptr));  // its context is current then
    LaunchCounters counters(Pass::forward);
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
                            [this, step, together, device = device] {
                              ring_->run_step(step, together);
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

ResultDifference RingRun::check() {
  const Ring& ring = *point_.ring;
  const Problem& problem = point_.request.problem;
  const int64_t heads = problem.batch * problem.heads;
  const auto copied = [&](const void* o, const float* lse, int64_t rows) {
    HostResults results{std::vector<uint16_t>(size_t(heads * rows * problem.head_dim)),
                        std::vector<float>(size_t(heads * rows))};
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(results.o.data(), o, results.o.size() * sizeof results.o[0], cudaMemcpyDefault));
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(results.lse.data(), lse,
                                   results.lse.size() * sizeof results.lse[0], cudaMemcpyDefault));
    return results;
  };
  // What is not written stays NaN.
  const auto poison = [&](void* o, int64_t rows) {
    SAWTOOTH_CUDA_CHECK(cudaMemset(o, 0xff, size_t(heads * rows * problem.row_bytes())));
  };
  for (int rank = 0; rank < ring.ranks; ++rank) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_[size_t(rank)]));
    poison(ring_->o(rank), ring.rank_rows());
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
  poison(whole_.o, ring.seq);
  require_launched(plan_.run(nullptr));
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  ring_->run();
  const HostResults whole = copied(whole_.o, whole_.lse, ring.seq);
  ResultDifference difference(problem.dtype, problem.head_dim);
  for (int rank = 0; rank < ring.ranks; ++rank)
    difference.add(ring, rank, heads, whole,
                   copied(ring_->o(rank), ring_->lse(rank), ring.rank_rows()));
  return difference;
}

std::pair<Point, std::string> RingRun::as_run(int64_t rank, int64_t step) const {
  const kernels::AttentionForward* const call = ring_->call(int(rank), step);
  return as_run_of(call == nullptr ? whole_ : *call);
}

std::pair<Point, std::string> RingRun::as_run_of(const kernels::AttentionForward& call) const {
  Point point = point_;
  const kernels::DeviceLimits device = kernels::current_device();
  const kernels::KernelVariant* variant = nullptr;
  require_launched(kernels::choose_variant(call, device, variant));
  if (!automatic_) return {std::move(point), variant->family};
  const Schedule schedule =
      kernels::complete_schedule(call.schedule, call.problem, *variant, device, call.ctas_per_sm);
  Keys& keys = point.keys;
  keys.tile_q = variant->tiling.q_rows;
  keys.tile_kv = variant->tiling.kv_rows;
  keys.launch = schedule.launch;
  keys.scan = schedule.scan;
  keys.q_order = schedule.order.q_order;
  keys.section = Section{.heads = schedule.order.section};
  keys.workers = schedule.workers;
  return {std::move(point), variant->family};
}

}  // namespace sawtooth::experiments
