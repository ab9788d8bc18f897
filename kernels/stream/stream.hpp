// Streams: kernels that read or write a buffer in a known order from known SMs, so that what L2
// does with it can be read off the counters (GPU profiles, the two-half model).
//
// The buffer is cut into chunks. `same` and `shift` deal the chunks out like cards, one SM after
// another; `all` lets every SM read every chunk; `one` reads everything from a single SM. A
// second pass over the buffer runs from the other end when `reversed`.
#pragma once

#include <cstdint>

#include "kernels/stream/sm_ranks.hpp"
#include "kernels/stream/stream_pass.hpp"

namespace sawtooth::kernels {

inline constexpr int64_t stream_chunk_bytes = 16 * 1024;

/// Whether the current device has bulk copies (cp.async.bulk, PTX 8.0: compute capability 9.0 on).
bool stream_has_tma();

class Streams {
 public:
  /// Throws CudaError, or what SmRanks throws.
  Streams();

  /// Enqueues `pass` over `bytes` bytes at `data` on the default stream. `data` is 16-byte aligned,
  /// `bytes` a positive multiple of stream_chunk_bytes. Throws std::invalid_argument for those, for
  /// a rank without an SM, and for tma where the device has none.
  void launch(const StreamPass& pass, void* data, int64_t bytes);

  SmRanks& sms() { return sms_; }
  const SmRanks& sms() const { return sms_; }

 private:
  SmRanks sms_;
  DeviceBuffer sink_;
  size_t exclusive_bytes_ = 0;
};

}  // namespace sawtooth::kernels
