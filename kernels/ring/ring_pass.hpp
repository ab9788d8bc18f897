// What both passes of ring attention have: ranks on GPUs of one host, in one process, each of which
// keeps its rows of Q and takes the K and V of one other rank a step, while it computes with those
// of the step before. Which rows meet which keys: scheduler/ring.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/common/device_buffer.hpp"
#include "kernels/common/event_pair.hpp"
#include "scheduler/ring.hpp"

namespace sawtooth::kernels {

/// Who moves tensors: the copy engines of the GPUs, which take no SM, or NCCL, whose send and
/// receive run on SMs.
enum class RingTransfer : uint8_t { copy, nccl };

// How tensors come to a rank: K and V of each step from the rank that owns them, and of a backward
// pass dK and dV back to it; on the transfer stream.

/// From where to where two tensors go, K and V or dK and dV, `bytes` of each.
struct RingMove {
  int from_rank = 0;
  int to_rank = 0;
  const void* from[2] = {};
  void* to[2] = {};
  std::size_t bytes = 0;
};

class RingMover {
 public:
  virtual ~RingMover() = default;
  /// Enqueues moves of one step, each on the stream of the rank that it goes to.
  virtual void move(const std::vector<RingMove>& moves) = 0;
};

/// `streams` are those of the ranks. Throws std::runtime_error where this build has no NCCL, or its
/// library is not found.
std::unique_ptr<RingMover> ring_mover(RingTransfer transfer, const std::vector<int>& devices,
                                      const std::vector<cudaStream_t>& streams);

/// Times of one run, ms.
struct RingTimes {
  double whole = 0;  // from the start of all to the end of all
  /// [rank][step]: computing in the step, moving what comes to the rank in it (K and V, none in
  /// step 0, and gradients), and from the end of the call before until K and V are there; of the
  /// last step also what the rank does behind its call, waiting for gradients and adding them.
  std::vector<std::vector<double>> compute, transfer, exposed;
};

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

class RingPass {
 public:
  virtual ~RingPass() = default;

  /// One whole pass; waits. With `steps` also the times of all steps are read.
  RingTimes run(bool steps = false);
  /// One step of some ranks, with the transfers to them that run beside it; waits. Whole passes of
  /// all ranks, step by step and with `finish`, compute what run() does. By NCCL all ranks take
  /// part.
  void run_step(int64_t step, const std::vector<int>& ranks);
  /// What is left for some ranks when all ranks have run their last step; waits.
  void finish(const std::vector<int>& ranks);

 protected:
  /// Makes streams and K/V buffers, and connects the ranks. Leaves the first rank's device current.
  /// Throws std::runtime_error, CudaError among them.
  RingPass(const Ring& ring, const Problem& whole, const std::vector<int>& devices,
           RingTransfer transfer);

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

  /// Nothing of it runs any longer. Destructors of passes call it before they free what runs.
  void wait_for_all() noexcept;
  std::vector<int> all_ranks() const;
  RingRank& rank(int number) const { return *ranks_[std::size_t(number)]; }
  /// Bytes of a rank's K, and of its V.
  std::size_t kv_bytes() const {
    return std::size_t(problem_.batch * problem_.kv_heads * ring_.rank_rows() *
                       problem_.row_bytes());
  }
  /// Where the rows of the first head begin.
  char* row_of(const DeviceBuffer& tensor, const Range& rows) const {
    return tensor.as<char>() + rows.begin * problem_.row_bytes();
  }
  /// What a rank computes of a call by `part` in `step`: its problem and its Q, K and V, of either
  /// pass.
  template <class Call>
  Call part_of(const Call& whole, const RingCall& part, const DeviceBuffer& q, int number,
               int64_t step) const {
    const DeviceBuffer* const kv = rank(number).kv_of(step);
    Call call = whole;
    call.problem.seq_q = part.q_rows.size();
    call.problem.seq_kv = part.kv_rows.size();
    call.problem.mask = {part.mask, 0};
    call.q_strides = call.o_strides =
        contiguous_strides(problem_.heads, ring_.rank_rows(), problem_.head_dim);
    call.k_strides = call.v_strides =
        contiguous_strides(problem_.kv_heads, ring_.rank_rows(), problem_.head_dim);
    call.q = row_of(q, part.q_rows);
    call.k = row_of(kv[0], part.kv_rows);
    call.v = row_of(kv[1], part.kv_rows);
    call.workspace_starts_zero = true;
    return call;
  }

  const Ring ring_;
  const Problem problem_;  // of all ranks
  std::vector<std::unique_ptr<RingRank>> ranks_;
  std::unique_ptr<RingMover> mover_;  // ends before the streams that it moves on

 private:
  void enqueue_transfer(int64_t step, const std::vector<int>& to, bool behind_calls);
  void enqueue_step(int64_t step, int number);
  void read_times(RingTimes& times) const;
  void wait_for(const std::vector<int>& numbers);
};

inline void require(const Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

inline void record(cudaEvent_t event, cudaStream_t stream) {
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(event, stream));
}
inline void make_wait(cudaStream_t stream, cudaEvent_t event) {
  SAWTOOTH_CUDA_CHECK(cudaStreamWaitEvent(stream, event));
}

}  // namespace sawtooth::kernels
