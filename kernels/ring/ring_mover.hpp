// How tensors come to a rank: K and V of each step from the rank that owns them, and of a backward
// pass dK and dV back to it; on the transfer stream.
#pragma once

#include <memory>
#include <vector>

#include "kernels/ring/ring_pass.hpp"

namespace sawtooth::kernels {

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

/// Copies by peer access; `streams` are those of the ranks.
std::unique_ptr<RingMover> copy_mover(const std::vector<int>& devices,
                                      const std::vector<CUstream_st*>& streams);
/// Throws std::runtime_error where this build has no NCCL, or its library is not found.
std::unique_ptr<RingMover> nccl_mover(const std::vector<int>& devices,
                                      const std::vector<CUstream_st*>& streams);

}  // namespace sawtooth::kernels
