// Which SM gets which CTA of a launch with more CTAs than SMs. Under a static launch this decides
// which SMs have two CTAs of the larger share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

/// The SM (an index of `placed`) of each of `ctas` CTAs: in the recorded order of the layout, and
/// where it says no more, round robin in the order of placement.
inline std::vector<int64_t> sms_of_ctas(const std::vector<PlacedSm>& placed, const SmLayout& layout,
                                        int64_t ctas) {
  const auto sms = static_cast<int64_t>(placed.size());
  std::vector<int64_t> order;
  for (const TpcRun& run : layout.cta_order) {
    if (ctas <= sms) break;  // one each, in the order of placement
    const auto [first, end] = tpcs_of(run, layout);
    for (int64_t sm = 0; sm < sms; ++sm) {
      const PlacedSm& at = placed[static_cast<size_t>(sm)];
      if (at.gpc == run.gpc && at.tpc >= first && at.tpc < end) order.push_back(sm);
    }
  }
  order.resize(static_cast<size_t>(std::min(ctas, static_cast<int64_t>(order.size()))));
  for (auto cta = static_cast<int64_t>(order.size()); cta < ctas; ++cta) order.push_back(cta % sms);
  return order;
}

}  // namespace sawtooth::sim
