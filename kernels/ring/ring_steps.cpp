#include "kernels/ring/ring_steps.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace sawtooth::kernels {

RingSteps::RingSteps(const Ring& ring, const std::vector<int>& devices, RingTransfer transfer,
                     std::size_t kv_bytes)
    : ring_(ring), kv_bytes_(kv_bytes) {
  if (ring.ranks < 1 || ring.seq < ring.chunks() || ring.seq % ring.chunks() != 0)
    throw std::runtime_error("the sequence of " + std::to_string(ring.seq) +
                             " rows has no equal chunks; allowed: multiples of " +
                             std::to_string(ring.chunks()));
  if (devices.size() != std::size_t(ring.ranks))
    throw std::runtime_error("a ring needs a device for each rank");
  std::vector<CUstream_st*> streams;
  for (const int device : devices) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    auto rank = std::make_unique<RingRank>();
    rank->device = device;
    for (int tensor = 0; tensor < 2; ++tensor) {
      rank->own[tensor] = DeviceBuffer(int64_t(kv_bytes));
      for (int half = 0; half < 2 && half + 1 < ring.ranks; ++half)
        rank->received[(half + 1) % 2][tensor] = DeviceBuffer(int64_t(kv_bytes));
    }
    rank->steps = std::vector<StepEvents>(std::size_t(ring.ranks));
    streams.push_back(rank->transfer.stream);
    ranks_.push_back(std::move(rank));
  }
  mover_ =
      transfer == RingTransfer::copy ? copy_mover(devices, streams) : nccl_mover(devices, streams);
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices.front()));
}

void RingSteps::connect() {
  for (int64_t step = 1; step < ring_.ranks; ++step) enqueue_transfer(step, all_ranks(), false);
  wait_for(all_ranks());
}

double RingSteps::ms_between(const Event& begin, const Event& end) {
  float ms = 0;
  SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.event, end.event));
  return ms;
}

std::vector<int> RingSteps::all_ranks() const {
  std::vector<int> all;
  for (int rank = 0; rank < int(ranks_.size()); ++rank) all.push_back(rank);
  return all;
}

/// The K and V of step `step` to some ranks. A buffer is written when what was computed with its
/// former content, two steps ago, is done.
void RingSteps::enqueue_transfer(int64_t step, const std::vector<int>& to, bool behind_calls) {
  std::vector<RingMove> moves;
  for (const int number : to) {
    RingRank& here = rank(number);
    const auto from = int(ring_.source(int64_t(number), step));
    const RingRank& owner = rank(from);
    moves.push_back({from,
                     number,
                     {owner.own[0].as(), owner.own[1].as()},
                     {here.received[step % 2][0].as(), here.received[step % 2][1].as()},
                     kv_bytes_});
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(here.device));
    if (behind_calls && step > 2)
      SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(here.transfer.stream,
                                              here.steps[std::size_t(step - 2)].compute_end.event));
    SAWTOOTH_CUDA_CHECK(
        cudaEventRecord(here.steps[std::size_t(step)].moved_begin.event, here.transfer.stream));
  }
  enqueue_moves(moves);
  for (const int number : to) {
    RingRank& here = rank(number);
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(here.device));
    SAWTOOTH_CUDA_CHECK(
        cudaEventRecord(here.steps[std::size_t(step)].moved.event, here.transfer.stream));
  }
}

/// Behind its K and V; then what came back behind the step before, which moved beside this call.
void RingSteps::enqueue_step(int64_t step, int number) {
  RingRank& here = rank(number);
  StepEvents& events = here.steps[std::size_t(step)];
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(here.device));
  if (step > 0) SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(here.compute.stream, events.moved.event));
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(events.compute_begin.event, here.compute.stream));
  enqueue_call(step, number);
  if (step > 0) enqueue_additions(step - 1, number);
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(events.compute_end.event, here.compute.stream));
}

void RingSteps::enqueue() {
  for (int64_t step = 0; step < ring_.ranks; ++step) {
    if (step + 1 < ring_.ranks) enqueue_transfer(step + 1, all_ranks(), true);
    for (const int number : all_ranks()) enqueue_step(step, number);
    enqueue_returns(step, all_ranks());
  }
  for (const int number : all_ranks()) enqueue_additions(ring_.ranks - 1, number);
}

/// Times by events of the first rank's device: all streams start behind its first and it ends
/// behind all. A host function holds the start until everything is enqueued.
double RingSteps::run() {
  RingRank& first = *ranks_.front();
  std::atomic<bool> may_start{false};
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(first.device));
  SAWTOOTH_CUDA_CHECK(cudaLaunchHostFunc(
      first.compute.stream,
      [](void* flag) {
        while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::yield();
      },
      &may_start));
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(first.start.event, first.compute.stream));
  try {
    for (const auto& rank : ranks_) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
      for (const cudaStream_t stream : {rank->compute.stream, rank->transfer.stream})
        if (stream != first.compute.stream)
          SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(stream, first.start.event));
    }
    enqueue();
    for (const auto& rank : ranks_) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(rank->transfers_end.event, rank->transfer.stream));
      SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(rank->compute.stream, rank->transfers_end.event));
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(rank->end.event, rank->compute.stream));
      if (rank.get() == &first) continue;
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(first.device));
      SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(first.compute.stream, rank->end.event));
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(first.device));
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(first.all_end.event, first.compute.stream));
  } catch (...) {
    may_start = true;
    cudaStreamSynchronize(first.compute.stream);
    throw;
  }
  may_start = true;
  wait_for(all_ranks());
  return ms_between(first.start, first.all_end);
}

RingTimes RingSteps::times(double whole_ms) const {
  RingTimes times;
  times.whole = whole_ms;
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
  return times;
}

void RingSteps::run_step(int64_t step, const std::vector<int>& numbers) {
  const Range moves = ring_.moves_beside(step);
  for (int64_t move = moves.begin; move < moves.end; ++move) enqueue_transfer(move, numbers, false);
  if (step > 0) enqueue_returns(step - 1, numbers);
  for (const int number : numbers) enqueue_step(step, number);
  wait_for(numbers);
}

void RingSteps::finish(const std::vector<int>& numbers) {
  enqueue_returns(ring_.ranks - 1, numbers);
  for (const int number : numbers) enqueue_additions(ring_.ranks - 1, number);
  wait_for(numbers);
}

void RingSteps::wait_for(const std::vector<int>& numbers) {
  for (const int number : numbers) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank(number).device));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank(number).transfer.stream));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank(number).compute.stream));
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(ranks_.front()->device));
}

void RingSteps::wait_for_all() noexcept {
  for (const auto& rank : ranks_) {
    cudaSetDevice(rank->device);
    cudaDeviceSynchronize();
  }
}

RingPass::RingPass(std::unique_ptr<RingSteps> steps) : steps_(std::move(steps)) {
  steps_->connect();
}

RingPass::~RingPass() {
  steps_->wait_for_all();
}

RingTimes RingPass::run(bool steps) {
  const double whole_ms = steps_->run();
  if (steps) return steps_->times(whole_ms);
  RingTimes times;
  times.whole = whole_ms;
  return times;
}

void RingPass::run_step(int64_t step, const std::vector<int>& ranks) {
  steps_->run_step(step, ranks);
}

void RingPass::finish(const std::vector<int>& ranks) {
  steps_->finish(ranks);
}

}  // namespace sawtooth::kernels
