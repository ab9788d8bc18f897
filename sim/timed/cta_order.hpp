// Which SM gets which CTA of a launch with more CTAs than SMs.
//
// On an H200 the eight SMs that get the first CTAs get their second ones after five GPCs of the
// ring, before the last three have any; then the ring is passed again without them (step records of
// the calibration points with two CTAs an SM and of four others, 14 launches, no exception). So
// CTAs 0 to 7 share their SMs with some of CTAs 80 to 95, c with c + 132 in the first five GPCs,
// and c with c + 124 in the last three. Under a static launch this decides which SMs have two CTAs
// of the larger share.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

/// The SM (an index of placed_sms() with the same arguments) of each of `ctas` CTAs. GPUs other
/// than the recorded one, and CTAs beyond two an SM, go round in the order of the SMs.
inline std::vector<int64_t> sms_of_ctas(int64_t sms, int halves, int64_t ctas, uint64_t seed) {
  constexpr size_t gpcs_before_second = 5;
  std::vector<int64_t> order;
  if (sms == recorded_ring::sms && halves == 2 && ctas > sms) {
    const int64_t first = recorded_ring::first.sms;
    int64_t before = first;
    for (size_t g = 0; g < gpcs_before_second; ++g)
      before += recorded_ring::ring[(g + seed) % recorded_ring::ring.size()].sms;
    const auto place = [&](int64_t from, int64_t to) {
      for (int64_t sm = from; sm < to; ++sm) order.push_back(sm);
    };
    place(0, before);
    place(0, first);
    place(before, sms);
    place(first, sms);
    order.resize(static_cast<size_t>(ctas < 2 * sms ? ctas : 2 * sms));
  }
  for (auto cta = static_cast<int64_t>(order.size()); cta < ctas; ++cta) order.push_back(cta % sms);
  return order;
}

}  // namespace sawtooth::sim
