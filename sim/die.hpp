// Facts of one die, from a file of experiments/profiles/dies, as they are for one kernel. SMs are
// in the order in which a launch's CTAs come to them; an empty list is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sawtooth::sim {

struct Die {
  std::vector<double> sm_slowness;          // slower than the mean by this share
  std::vector<double> sm_slowness_older;    // the same of the older one of two CTAs
  std::vector<double> sm_slowness_younger;  // and of the younger one; both empty: as alone
  std::vector<int64_t> cta_half;            // half of L2 that each SM sits at
  std::vector<int64_t> sm_half;  // the same in the order of SM ids, as streams tell it; not read
  std::optional<int64_t> ticket_half;  // half that the ticket counter lies in
};

}  // namespace sawtooth::sim
