// The request coalescer between SMs and L2 of Hopper and Blackwell (counters lrc__*): neighbouring
// SMs that ask for one line at about the same time are served by one request.
//
// On an H200 132 SMs that read one buffer in step send 0.27 of their sectors to L2 while they wait
// for the same misses, and 0.6 while they hit and run apart. A lone reader has none to share
// with, so the merged share falls linearly with the number of SMs on the line.
#pragma once

#include <cstdint>

namespace sawtooth::sim {

struct CoalescerParameters {
  int64_t sms = 0;             // 0: no coalescer
  double waiting_share = 1.0;  // of requests that pass when all SMs wait for the same misses
  double running_share = 1.0;  // when all hit
};

/// Share of the sectors received by SMs that L2 sees when `sharers` SMs read one tile in step and
/// `running` of the lines read lately hit; in (0, 1].
constexpr double passed_share(const CoalescerParameters& parameters, int64_t sharers,
                              double running) {
  if (parameters.sms < 2 || sharers < 2) return 1;
  const double neighbours =
      sharers >= parameters.sms ? 1.0 : double(sharers - 1) / double(parameters.sms - 1);
  const double in_step =
      parameters.waiting_share + (parameters.running_share - parameters.waiting_share) * running;
  return 1 - (1 - in_step) * neighbours;
}

}  // namespace sawtooth::sim
