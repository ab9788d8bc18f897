#include "kernels/ring/ring_pass.hpp"

#include <atomic>
#include <numeric>
#include <string>
#include <thread>

namespace sawtooth::kernels {

RingPass::RingPass(const Ring& ring, const Problem& whole, const std::vector<int>& devices,
                   RingTransfer transfer)
    : ring_(ring), problem_(whole) {
  if (ring.ranks < 1 || ring.seq < ring.chunks() || ring.seq % ring.chunks() != 0)
    throw std::runtime_error("the sequence of " + std::to_string(ring.seq) +
                             " rows has no equal chunks; allowed: multiples of " +
                             std::to_string(ring.chunks()));
  if (devices.size() != std::size_t(ring.ranks))
    throw std::runtime_error("a ring needs a device for each rank");
  const auto bytes = int64_t(kv_bytes());
  std::vector<cudaStream_t> streams;
  for (const int device : devices) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    auto rank = std::make_unique<RingRank>();
    rank->device = device;
    for (int tensor = 0; tensor < 2; ++tensor) {
      rank->own[tensor] = DeviceBuffer(bytes);
      for (int half = 0; half < 2 && half + 1 < ring.ranks; ++half)
        rank->received[(half + 1) % 2][tensor] = DeviceBuffer(bytes);
    }
    rank->steps = std::vector<StepEvents>(std::size_t(ring.ranks));
    streams.push_back(rank->transfer);
    ranks_.push_back(std::move(rank));
  }
  mover_ = ring_mover(transfer, devices, streams);
  // NCCL connects ranks in their first transfers, which wait for the device: later `run` can hold
  // the device until all is enqueued.
  for (int64_t step = 1; step < ring.ranks; ++step) enqueue_transfer(step, all_ranks(), false);
  wait_for(all_ranks());
}

std::vector<int> RingPass::all_ranks() const {
  std::vector<int> all(ranks_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The K and V of step `step` to some ranks. A buffer is written when what was computed with its
/// former content, two steps ago, is done.
void RingPass::enqueue_transfer(int64_t step, const std::vector<int>& to, bool behind_calls) {
  std::vector<RingMove> moves;
  for (const int number : to) {
    RingRank& here = rank(number);
    const auto from = int(ring_.source(int64_t(number), step));
    const RingRank& owner = rank(from);
    moves.push_back({from,
                     number,
                     {owner.own[0].as(), owner.own[1].as()},
                     {here.received[step % 2][0].as(), here.received[step % 2][1].as()},
                     kv_bytes()});
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(here.device));
    if (behind_calls && step > 2)
      make_wait(here.transfer, here.steps[std::size_t(step - 2)].compute_end);
    record(here.steps[std::size_t(step)].moved_begin, here.transfer);
  }
  mover_->move(moves);
  for (const int number : to) {
    RingRank& here = rank(number);
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(here.device));
    record(here.steps[std::size_t(step)].moved, here.transfer);
  }
}

/// Behind its K and V; then what came back behind the step before, which moved beside this call.
void RingPass::enqueue_step(int64_t step, int number) {
  RingRank& here = rank(number);
  StepEvents& events = here.steps[std::size_t(step)];
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(here.device));
  if (step > 0) make_wait(here.compute, events.moved);
  record(events.compute_begin, here.compute);
  enqueue_call(step, number);
  if (step > 0) enqueue_additions(step - 1, number);
  record(events.compute_end, here.compute);
}

/// Times by events of the first rank's device: all streams start behind its first and it ends
/// behind all. A host function holds the start until everything is enqueued.
RingTimes RingPass::run(bool steps) {
  RingRank& first = *ranks_.front();
  std::atomic<bool> may_start{false};
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(first.device));
  SAWTOOTH_CUDA_CHECK(cudaLaunchHostFunc(
      first.compute,
      [](void* flag) {
        while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::yield();
      },
      &may_start));
  record(first.start, first.compute);
  try {
    for (const auto& rank : ranks_) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
      for (const cudaStream_t stream : {cudaStream_t(rank->compute), cudaStream_t(rank->transfer)})
        if (stream != first.compute) make_wait(stream, first.start);
    }
    for (int64_t step = 0; step < ring_.ranks; ++step) {
      if (step + 1 < ring_.ranks) enqueue_transfer(step + 1, all_ranks(), true);
      for (const int number : all_ranks()) enqueue_step(step, number);
      enqueue_returns(step, all_ranks());
    }
    for (const int number : all_ranks()) enqueue_additions(ring_.ranks - 1, number);
    for (const auto& rank : ranks_) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
      record(rank->transfers_end, rank->transfer);
      make_wait(rank->compute, rank->transfers_end);
      record(rank->end, rank->compute);
      if (rank.get() == &first) continue;
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(first.device));
      make_wait(first.compute, rank->end);
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(first.device));
    record(first.all_end, first.compute);
  } catch (...) {
    may_start = true;
    cudaStreamSynchronize(first.compute);
    throw;
  }
  may_start = true;
  wait_for(all_ranks());
  RingTimes times;
  times.whole = ms_between(first.start, first.all_end);
  if (steps) read_times(times);
  return times;
}

void RingPass::read_times(RingTimes& times) const {
  for (int number = 0; number < int(ranks_.size()); ++number) {
    const RingRank& here = rank(number);
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(here.device));
    std::vector<double> compute, transfer, exposed;
    for (std::size_t step = 0; step < here.steps.size(); ++step) {
      const StepEvents& events = here.steps[step];
      compute.push_back(ms_between(events.compute_begin, events.compute_end));
      transfer.push_back((step == 0 ? 0 : ms_between(events.moved_begin, events.moved)) +
                         returns_ms(int64_t(step), number));
      exposed.push_back(
          step == 0 ? 0 : ms_between(here.steps[step - 1].compute_end, events.compute_begin));
    }
    if (has_returns()) exposed.back() += ms_between(here.steps.back().compute_end, here.end);
    times.compute.push_back(compute);
    times.transfer.push_back(transfer);
    times.exposed.push_back(exposed);
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(ranks_.front()->device));
}

void RingPass::run_step(int64_t step, const std::vector<int>& numbers) {
  const Range moves = ring_.moves_beside(step);
  for (int64_t move = moves.begin; move < moves.end; ++move) enqueue_transfer(move, numbers, false);
  if (step > 0) enqueue_returns(step - 1, numbers);
  for (const int number : numbers) enqueue_step(step, number);
  wait_for(numbers);
}

void RingPass::finish(const std::vector<int>& numbers) {
  enqueue_returns(ring_.ranks - 1, numbers);
  for (const int number : numbers) enqueue_additions(ring_.ranks - 1, number);
  wait_for(numbers);
}

void RingPass::wait_for(const std::vector<int>& numbers) {
  for (const int number : numbers) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank(number).transfer));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank(number).compute));
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(ranks_.front()->device));
}

void RingPass::wait_for_all() noexcept {
  for (const auto& rank : ranks_) {
    cudaSetDevice(rank->device);
    cudaDeviceSynchronize();
  }
}

}  // namespace sawtooth::kernels
