// A link that moves so many bytes a nanosecond, first come, first served: what arrives while it is
// busy waits its turn. Requests must come in the order of their time.
#pragma once

#include <algorithm>

namespace sawtooth::sim {

class BandwidthQueue {
 public:
  /// 0 bytes a nanosecond stands for no limit.
  explicit BandwidthQueue(double bytes_a_ns = 0)
      : ns_a_byte_(bytes_a_ns > 0 ? 1 / bytes_a_ns : 0) {}

  /// When the last of `bytes` has passed that were handed over at `now_ns`.
  double pass(double now_ns, double bytes) {
    free_ns_ = std::max(free_ns_, now_ns) + bytes * ns_a_byte_;
    return ns_a_byte_ > 0 ? free_ns_ : now_ns;
  }

 private:
  double ns_a_byte_;
  double free_ns_ = 0;
};

}  // namespace sawtooth::sim
