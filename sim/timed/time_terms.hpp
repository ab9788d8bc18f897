// Where the workers' time goes, term by term: what bounds a kernel is what most of it goes to.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

enum class TimeTerm : uint8_t {
  tensor,
  exp,
  exposed,
  sharing,
  l2,
  dram,
  latency,
  item,
  idle,
  turn,  // of dq = ordered: until the items before have added to its Q tile
};
inline constexpr int time_term_count = 10;

/// Nanoseconds by term, summed over workers.
struct TimeTerms {
  std::array<double, time_term_count> ns{};

  double& operator[](TimeTerm term) { return ns[static_cast<size_t>(term)]; }
  double operator[](TimeTerm term) const { return ns[static_cast<size_t>(term)]; }
};

/// Phase p is everybody's p-th item; idle time at the end is a phase of its own, the last.
using TimePhases = std::vector<TimeTerms>;

}  // namespace sawtooth::sim
