// How fast a link has moved bytes lately: in the last whole window of time.
#pragma once

namespace sawtooth::sim {

class TrafficRate {
 public:
  explicit TrafficRate(double window_ns) : window_ns_(window_ns) {}

  /// Calls must be in order of time.
  void add(double now_ns, double bytes) {
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
