// Streams, events and K/V buffers of the ranks of a ring, and the order in which steps are
// enqueued.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/attention/attention.hpp"
#include "kernels/common/device_buffer.hpp"
#include "kernels/ring/ring_attention.hpp"
#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

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

inline void require(const Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

/// Bytes of a rank's K, and of its V.
inline std::size_t kv_bytes(const Ring& ring, const Problem& whole) {
  return std::size_t(whole.batch * whole.kv_heads * ring.rank_rows() * whole.row_bytes());
}

/// When a GPU computes in a step, and when what comes to it in that step moves.
struct StepEvents {
  Event compute_begin, compute_end, moved_begin, moved;
};

/// What one GPU has of a ring, whatever the pass.
struct RingRank {
  int device = 0;
  Stream compute, transfer;
  DeviceBuffer own[2], received[2][2];  // K and V
  std::vector<StepEvents> steps;
  Event start, transfers_end, end, all_end;  // the first rank alone begins and ends all

  /// The buffers that the K and V of step `step` lie in.
  const DeviceBuffer* kv_of(int64_t step) const { return step == 0 ? own : received[step % 2]; }
};

/// Where the rows of the first head begin.
inline char* row_of(const DeviceBuffer& tensor, const Problem& problem, const auto& rows) {
  return tensor.as<char>() + rows.begin * problem.row_bytes();
}

/// What a rank computes of a call by `part`: its problem and its Q, K and V, of either pass.
template <class Call>
Call part_of(const Call& whole, const Ring& ring, const RingCall& part, const DeviceBuffer& q,
             const DeviceBuffer* kv) {
  const Problem& problem = whole.problem;
  Call call = whole;
  call.problem.seq_q = part.q_rows.size();
  call.problem.seq_kv = part.kv_rows.size();
  call.problem.mask = {part.mask, 0};
  call.q_strides = call.o_strides =
      contiguous_strides(problem.heads, ring.rank_rows(), problem.head_dim);
  call.k_strides = call.v_strides =
      contiguous_strides(problem.kv_heads, ring.rank_rows(), problem.head_dim);
  call.q = row_of(q, problem, part.q_rows);
  call.k = row_of(kv[0], problem, part.kv_rows);
  call.v = row_of(kv[1], problem, part.kv_rows);
  call.workspace_starts_zero = true;
  return call;
}

inline DeviceBuffer zeroed(std::size_t bytes) {
  DeviceBuffer buffer{int64_t(bytes)};
  SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as(), 0, bytes));
  return buffer;
}

class RingSteps {
 public:
  /// `kv_bytes`: of a rank's K, and of its V. Leaves the first rank's device current. Throws
  /// std::runtime_error, CudaError among them.
  RingSteps(const Ring& ring, const std::vector<int>& devices, RingTransfer transfer,
            std::size_t kv_bytes);
  virtual ~RingSteps() = default;
  RingSteps(const RingSteps&) = delete;
  RingSteps& operator=(const RingSteps&) = delete;

  /// First transfers, which NCCL connects ranks with, waiting for the device to do so; then `run`
  /// can hold the device until all is enqueued.
  void connect();
  /// Computing and transfers, ms.
  double run();
  void run_step(int64_t step, const std::vector<int>& numbers);
  void finish(const std::vector<int>& numbers);
  RingTimes times(double whole_ms) const;
  /// Nothing of it runs any longer. Destructors of passes call it before they free what runs.
  void wait_for_all() noexcept;

  const Ring& ring() const { return ring_; }
  RingRank& rank(int number) { return *ranks_[std::size_t(number)]; }
  const RingRank& rank(int number) const { return *ranks_[std::size_t(number)]; }

 protected:
  /// What a rank computes in a step, on its stream for computing.
  virtual void enqueue_call(int64_t step, int number) = 0;
  /// Transfers to some ranks of what other ranks computed in `step`; behind the calls of that step.
  virtual void enqueue_returns(int64_t, const std::vector<int>&) {}
  /// What a rank does with what came to it behind `step`: behind its next call, or its last one.
  virtual void enqueue_additions(int64_t, int) {}
  /// Whether anything comes back.
  virtual bool has_returns() const { return false; }
  /// This is the time of what came back to the rank behind a step.
  virtual double returns_ms(int64_t, int) const { return 0; }

  void enqueue_moves(const std::vector<RingMove>& moves) { mover_->move(moves); }
  static double ms_between(const Event& begin, const Event& end);

 private:
  void enqueue();
  void enqueue_transfer(int64_t step, const std::vector<int>& to, bool behind_calls);
  void enqueue_step(int64_t step, int number);
  void wait_for(const std::vector<int>& numbers);
  std::vector<int> all_ranks() const;

  Ring ring_;
  std::size_t kv_bytes_ = 0;
  std::vector<std::unique_ptr<RingRank>> ranks_;
  std::unique_ptr<RingMover> mover_;
};

// Sums of gradients that come in parts, in float: of dQ from the keys of one rank after another, of
// dK and dV from the rows of one rank after another.

/// Adds `part`, [heads, rows.size(), dim], to those rows of `sums`, [heads, head_rows, dim].
struct GradientPart {
  const void* part = nullptr;
  float* sums = nullptr;
  void* total = nullptr;  // laid out as the sums; null: not now
  int64_t heads = 0;      // of all batches
  int64_t head_rows = 0;
  Range rows;
  int64_t head_dim = 0;
  ElementType dtype = ElementType::bf16;  // of the part and of the total
  bool begins = false;                    // what lies in the sums is overwritten, not added to
};

/// Enqueues it. Throws CudaError.
void add_gradient_part(const GradientPart& part, cudaStream_t stream);

}  // namespace sawtooth::kernels
