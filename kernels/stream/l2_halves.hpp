// Which half of L2 an SM sits at, which half owns a line, and what each distance costs.
//
// A line read through the half that does not own it is kept in both. So after SM A has read a line,
// SM B finds it near, unless B sits at the other half than A and the line is owned by A's half:
// then B's first read crosses the fabric, and its second read is near. The difference between B's
// first and second read of the same line tells the two apart without knowing any distance on the
// die.
#pragma once

#include <vector>

#include "kernels/stream/chase.hpp"
#include "kernels/stream/l2_state.hpp"

namespace sawtooth::kernels {

struct Latencies {
  double near_cycles = 0;  // medians
  double far_cycles = 0;   // 0 where L2 has one part
  double dram_cycles = 0;
  double near_ns = 0;
  double far_ns = 0;
  double dram_ns = 0;
};

struct L2HalfMap {
  int halves = 1;
  std::vector<int> half_of_rank;  // of each SM; the first SM sits at half 0
  std::vector<double> far_share;  // of each SM: lines whose first read crossed the fabric
  std::vector<int> half_of_line;  // owner of each line of a sample of consecutive lines
  Latencies latencies;
};

/// Runs about 400 chases. The GPU must be otherwise idle.
L2HalfMap map_l2_halves(SmRanks& sms, L2State& l2);

}  // namespace sawtooth::kernels
