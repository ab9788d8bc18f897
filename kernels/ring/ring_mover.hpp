// How K and V come to a rank: each step's from the rank that owns them, on the transfer stream.
#pragma once

#include <memory>
#include <vector>

#include "kernels/ring/ring_attention.hpp"

namespace sawtooth::kernels {

/// From where to where a rank's K and V of a step go; addresses of K, then of V.
struct RingMove {
  int from_rank = 0;
  const void* from[2] = {};
  void* to[2] = {};
};

class RingMover {
 public:
  virtual ~RingMover() = default;
  /// Enqueues the moves of one step, that of rank r as moves[r], each on its rank's stream.
  virtual void move(const std::vector<RingMove>& moves, std::size_t bytes) = 0;
};

/// Copies by peer access; `streams` are those of the ranks.
std::unique_ptr<RingMover> copy_mover(const std::vector<int>& devices,
                                      const std::vector<CUstream_st*>& streams);
/// Throws std::runtime_error where this build has no NCCL, or its library is not found.
std::unique_ptr<RingMover> nccl_mover(const std::vector<int>& devices,
                                      const std::vector<CUstream_st*>& streams);

}  // namespace sawtooth::kernels
