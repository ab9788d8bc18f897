// Which process of a recorded command counts on a GPU: an object of the range profiler that is kept
// between launches holds the GPU's counters, and another process that wants them must get them.
//
// Record locks on a file of the pass's folder: byte 0 is the counters, byte 1 the first place in
// the queue for them. The kernel takes back the locks of a process that ends, however it ends.
// Source: POSIX, fcntl, "F_SETLK". Knows neither CUDA nor CUPTI.
#pragma once

#include <string>

namespace sawtooth::inject {

class CounterLease {
 public:
  /// `path` names the GPU; the file is created. Where that fails, take() always succeeds.
  explicit CounterLease(const std::string& path);
  CounterLease(const CounterLease&) = delete;
  CounterLease& operator=(const CounterLease&) = delete;

  /// Waits at most `seconds` until no other process has the counters. Whether it has them now.
  bool take(double seconds) const;
  void give() const;
  /// Whether another process waits for them. From any thread.
  bool wanted() const;

 private:
  int file_ = -1;  // never closed: that would give up the process's locks
};

}  // namespace sawtooth::inject
