// Which SM gets which CTA of a launch with more CTAs than SMs.
//
// On an H200 the eight SMs that get the first CTAs get their second ones after five GPCs of the
// ring, before the last three have any; then the ring is passed again without them (records of
// items on three GPUs: of two CTAs of an SM the first one is faster). So CTAs 0 to 7 share their
// SMs with CTAs 80 to 87, and later ones c with c + 132, or c + 124 in the last three GPCs. Under a
// static launch this decides which SMs have two CTAs of the larger share.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

/// The SM (an index of placed_sms() with the same arguments) of each of `ctas` CTAs. GPUs other
/// than the recorded one, and CTAs beyond two an SM, go round in the order of the SMs.
inline std::vector<int64_t> sms_of_ctas(int64_t sms, int halves, int64_t ctas) {
  constexpr size_t parts_before_second = 6;
  std::vector<int64_t> order;
  if (sms == recorded_ring::sms && halves == 2 && ctas > sms) {
    const int64_t first = recorded_ring::parts[0].sms;
    int64_t before = 0;
    for (size_t part = 0; part < parts_before_second; ++part)
      before += recorded_ring::parts[part].sms;
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
