#include "kernels/ring/ring_attention.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include <cuda_runtime_api.h>

#include "kernels/common/device_buffer.hpp"
#include "kernels/ring/ring_mover.hpp"

namespace sawtooth::kernels {
namespace {

/// An event, and a stream, of the current device.
struct Event {
  cudaEvent_t event = nullptr;
  Event() { SAWTOOTH_CUDA_CHECK(cudaEventCreate(&event)); }
  ~Event() {
    if (event != nullptr) cudaEventDestroy(event);
  }
  Event(Event&& other) noexcept : event(std::exchange(other.event, nullptr)) {}
  Event& operator=(Event&&) = delete;
};
struct Stream {
  cudaStream_t stream = nullptr;
  Stream() { SAWTOOTH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Stream() {
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
  Stream(Stream&& other) noexcept : stream(std::exchange(other.stream, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
};

void require(const Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

double ms_between(const Event& begin, const Event& end) {
  float ms = 0;
  SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.event, end.event));
  return ms;
}

/// What one GPU does in a step.
struct Step {
  bool works = false;
  AttentionForward call;
  AttentionPlan plan;
  Event compute_begin, compute_end, moved_begin, moved;
};

struct Rank {
  int device = 0;
  Stream compute, transfer;
  DeviceBuffer q, own[2], received[2][2], o, running_o, lse, workspace;  // K and V
  std::vector<Step> steps;
  Event start, end;
};

}  // namespace

struct RingAttention::State {
  Ring ring;
  std::size_t kv_bytes = 0;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::unique_ptr<RingMover> mover;

  void add_rank(const RingProblem& problem, int number);
  void prepare_steps(const AttentionForward& call, int number);
  void enqueue(bool computes);
  void enqueue_transfer(int64_t step, const std::vector<int>& to, bool behind_calls);
  void enqueue_call(int64_t step, Rank& rank);
  std::vector<int> all_ranks() const;
  double run(bool computes);
  /// The buffers that the K and V of step `step` lie in.
  const DeviceBuffer* kv_of(const Rank& rank, int64_t step) const {
    return step == 0 ? rank.own : rank.received[step % 2];
  }
};

void RingAttention::State::add_rank(const RingProblem& problem, int number) {
  const Problem& whole = problem.call.problem;
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(problem.devices[std::size_t(number)]));
  auto rank = std::make_unique<Rank>();
  rank->device = problem.devices[std::size_t(number)];
  const int64_t rows = whole.batch * whole.heads * ring.rank_rows();
  rank->q = DeviceBuffer(rows * whole.row_bytes());
  rank->o = DeviceBuffer(rows * whole.row_bytes());
  rank->running_o = DeviceBuffer(rows * whole.head_dim * int64_t(sizeof(float)));
  rank->lse = DeviceBuffer(rows * int64_t(sizeof(float)));
  for (int tensor = 0; tensor < 2; ++tensor) {
    rank->own[tensor] = DeviceBuffer(int64_t(kv_bytes));
    for (int half = 0; half < 2 && half + 1 < ring.ranks; ++half)
      rank->received[(half + 1) % 2][tensor] = DeviceBuffer(int64_t(kv_bytes));
  }
  rank->steps = std::vector<Step>(std::size_t(ring.ranks));
  ranks.push_back(std::move(rank));
  prepare_steps(problem.call, number);
}

/// Plans the rank's calls: they share a workspace, as they follow each other on one stream.
void RingAttention::State::prepare_steps(const AttentionForward& whole, int number) {
  Rank& rank = *ranks[std::size_t(number)];
  std::size_t workspace = 0;
  const Problem& problem = whole.problem;
  const int64_t dim = problem.head_dim;
  for (std::size_t step = 0; step < rank.steps.size(); ++step) {
    RingCall part;
    rank.steps[step].works = ring.call_of(number, int64_t(step), part);
    if (!rank.steps[step].works) continue;
    AttentionForward& call = rank.steps[step].call;
    call = whole;
    call.problem.seq_q = part.q_rows.size();
    call.problem.seq_kv = part.kv_rows.size();
    call.problem.mask = {part.mask, 0};
    call.q_strides = call.o_strides = contiguous_strides(problem.heads, ring.rank_rows(), dim);
    call.k_strides = call.v_strides = contiguous_strides(problem.kv_heads, ring.rank_rows(), dim);
    const int64_t q_offset = part.q_rows.begin * problem.row_bytes();
    const int64_t kv_offset = part.kv_rows.begin * problem.row_bytes();
    const DeviceBuffer* const kv = kv_of(rank, int64_t(step));
    call.q = rank.q.as<char>() + q_offset;
    call.k = kv[0].as<char>() + kv_offset;
    call.v = kv[1].as<char>() + kv_offset;
    call.o = part.finishes ? rank.o.as<char>() + q_offset : nullptr;
    call.lse = ring.ranks == 1 ? rank.lse.as<float>() : nullptr;
    if (ring.ranks > 1)
      call.running = {.o = rank.running_o.as<float>() + part.q_rows.begin * dim,
                      .lse = rank.lse.as<float>() + part.q_rows.begin,
                      .lse_head_rows = ring.rank_rows(),
                      .begins = part.begins};
    call.workspace_starts_zero = true;
    require(check(call));
    workspace = std::max(workspace, workspace_bytes(call));
  }
  rank.workspace = DeviceBuffer(int64_t(workspace));
  SAWTOOTH_CUDA_CHECK(cudaMemset(rank.workspace.as(), 0, workspace));
  for (Step& step : rank.steps)
    if (step.works) require(step.plan.make(step.call, rank.workspace.as(), workspace));
}

RingAttention::RingAttention(const RingProblem& problem) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.ring = problem.ring;
  const Ring& ring = state.ring;
  if (ring.ranks < 1 || ring.seq < ring.chunks() || ring.seq % ring.chunks() != 0)
    throw std::runtime_error("the sequence of " + std::to_string(ring.seq) +
                             " rows has no equal chunks; allowed: multiples of " +
                             std::to_string(ring.chunks()));
  if (problem.devices.size() != std::size_t(ring.ranks))
    throw std::runtime_error("a ring needs a device for each rank");
  const Problem& whole = problem.call.problem;
  state.kv_bytes = std::size_t(whole.batch * whole.kv_heads * ring.rank_rows() * whole.row_bytes());
  for (int rank = 0; rank < ring.ranks; ++rank) state.add_rank(problem, rank);
  std::vector<CUstream_st*> streams;
  for (const auto& rank : state.ranks) streams.push_back(rank->transfer.stream);
  state.mover = problem.transfer == RingTransfer::copy ? copy_mover(problem.devices, streams)
                                                       : nccl_mover(problem.devices, streams);
  // NCCL connects ranks with their first messages, and waits for the device to do so: not behind
  // the gate of `State::run`.
  for (int64_t step = 1; step < ring.ranks; ++step)
    state.enqueue_transfer(step, state.all_ranks(), false);
  for (const auto& rank : state.ranks) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank->transfer.stream));
  }
}

RingAttention::~RingAttention() {
  for (const auto& rank : state_->ranks) {
    cudaSetDevice(rank->device);
    cudaDeviceSynchronize();
  }
}

void* RingAttention::q(int rank) const {
  return state_->ranks[std::size_t(rank)]->q.as();
}
void* RingAttention::k(int rank) const {
  return state_->ranks[std::size_t(rank)]->own[0].as();
}
void* RingAttention::v(int rank) const {
  return state_->ranks[std::size_t(rank)]->own[1].as();
}
void* RingAttention::o(int rank) const {
  return state_->ranks[std::size_t(rank)]->o.as();
}
const float* RingAttention::lse(int rank) const {
  return state_->ranks[std::size_t(rank)]->lse.as<float>();
}

const AttentionForward* RingAttention::call(int rank, int64_t step) const {
  const Step& of_step = state_->ranks[std::size_t(rank)]->steps[std::size_t(step)];
  return of_step.works ? &of_step.call : nullptr;
}

/// The K and V of step `step` to some ranks. A buffer is written when what was computed with its
/// former content, two steps ago, is done.
void RingAttention::State::enqueue_transfer(int64_t step, const std::vector<int>& to,
                                            bool behind_calls) {
  std::vector<RingMove> moves;
  for (const int number : to) {
    Rank& rank = *ranks[std::size_t(number)];
    const auto from = int(ring.source(int64_t(number), step));
    const Rank& owner = *ranks[std::size_t(from)];
    moves.push_back({from,
                     number,
                     {owner.own[0].as(), owner.own[1].as()},
                     {rank.received[step % 2][0].as(), rank.received[step % 2][1].as()}});
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank.device));
    if (behind_calls && step > 2)
      SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(rank.transfer.stream,
                                              rank.steps[std::size_t(step - 2)].compute_end.event));
    SAWTOOTH_CUDA_CHECK(
        cudaEventRecord(rank.steps[std::size_t(step)].moved_begin.event, rank.transfer.stream));
  }
  mover->move(moves, kv_bytes);
  for (const int number : to) {
    Rank& rank = *ranks[std::size_t(number)];
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank.device));
    SAWTOOTH_CUDA_CHECK(
        cudaEventRecord(rank.steps[std::size_t(step)].moved.event, rank.transfer.stream));
  }
}

/// Behind its K and V.
void RingAttention::State::enqueue_call(int64_t step, Rank& rank) {
  Step& here = rank.steps[std::size_t(step)];
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank.device));
  if (step > 0) SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(rank.compute.stream, here.moved.event));
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(here.compute_begin.event, rank.compute.stream));
  if (here.works) require(here.plan.run(rank.compute.stream));
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(here.compute_end.event, rank.compute.stream));
}

std::vector<int> RingAttention::State::all_ranks() const {
  std::vector<int> all;
  for (int rank = 0; rank < int(ranks.size()); ++rank) all.push_back(rank);
  return all;
}

void RingAttention::State::enqueue(bool computes) {
  for (int64_t step = 0; step < ring.ranks; ++step) {
    if (step + 1 < ring.ranks) enqueue_transfer(step + 1, all_ranks(), computes);
    if (!computes) continue;
    for (const auto& rank : ranks) enqueue_call(step, *rank);
  }
}

/// Times by events of the first rank's device: all streams start behind its first and it ends
/// behind all. A host function holds the start until everything is enqueued.
double RingAttention::State::run(bool computes) {
  Rank& first = *ranks.front();
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
    for (const auto& rank : ranks) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
      for (const cudaStream_t stream : {rank->compute.stream, rank->transfer.stream})
        if (stream != first.compute.stream)
          SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(stream, first.start.event));
    }
    enqueue(computes);
    for (const auto& rank : ranks) {
      // The transfer stream's last move is waited for by computing, or here.
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
      if (!computes && ring.ranks > 1)
        SAWTOOTH_CUDA_CHECK(
            cudaStreamWaitEvent(rank->compute.stream, rank->steps.back().moved.event));
      if (rank.get() == &first) continue;
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(rank->end.event, rank->compute.stream));
      SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(first.compute.stream, rank->end.event));
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(first.device));
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(first.end.event, first.compute.stream));
  } catch (...) {
    may_start = true;
    cudaStreamSynchronize(first.compute.stream);
    throw;
  }
  may_start = true;
  for (const auto& rank : ranks) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank->transfer.stream));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank->compute.stream));
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(first.device));
  return ms_between(first.start, first.end);
}

RingTimes RingAttention::run(bool steps) {
  RingTimes times;
  times.whole = state_->run(true);
  if (!steps) return times;
  for (const auto& rank : state_->ranks) {
    std::vector<double> compute, transfer, exposed;
    for (std::size_t step = 0; step < rank->steps.size(); ++step) {
      const Step& here = rank->steps[step];
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank->device));
      compute.push_back(ms_between(here.compute_begin, here.compute_end));
      transfer.push_back(step == 0 ? 0 : ms_between(here.moved_begin, here.moved));
      exposed.push_back(
          step == 0 ? 0 : ms_between(rank->steps[step - 1].compute_end, here.compute_begin));
    }
    times.compute.push_back(compute);
    times.transfer.push_back(transfer);
    times.exposed.push_back(exposed);
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(state_->ranks.front()->device));
  return times;
}

void RingAttention::run_step(int64_t step, const std::vector<int>& ranks) {
  State& state = *state_;
  if (step + 1 < state.ring.ranks) state.enqueue_transfer(step + 1, ranks, false);
  for (const int rank : ranks) state.enqueue_call(step, *state.ranks[std::size_t(rank)]);
  for (const int number : ranks) {
    const Rank& rank = *state.ranks[std::size_t(number)];
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(rank.device));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank.transfer.stream));
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(rank.compute.stream));
  }
}

double RingAttention::transfer_alone() {
  return state_->ranks.size() > 1 ? state_->run(false) : 0;
}

}  // namespace sawtooth::kernels
