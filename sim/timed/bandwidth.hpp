// Links: when bytes have passed one, and how fast they lately did.
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

// How fast a link has moved bytes lately: in the last whole window of time.

class TrafficRate {
 public:
  /// Without a window the rate stays 0.
  explicit TrafficRate(double window_ns) : window_ns_(window_ns) {}

  /// Calls must be in order of time.
  void add(double now_ns, double bytes) {
    if (window_ns_ <= 0) return;
    if (now_ns - begin_ns_ >= window_ns_) {
      bytes_a_ns_ = bytes_ / (now_ns - begin_ns_);
      begin_ns_ = now_ns;
      bytes_ = 0;
    }
    bytes_ += bytes;
  }

  double bytes_a_ns() const { return bytes_a_ns_; }

 private:
  double window_ns_;
  double begin_ns_ = 0;
  double bytes_ = 0;  // since then
  double bytes_a_ns_ = 0;
};

}  // namespace sawtooth::sim
