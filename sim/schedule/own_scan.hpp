// A scan that comes at run time, from outside the list of scheduler/scan.hpp: the simulator asks it
// for the order of each item's tiles, no kernel knows it.
#pragma once

#include <cstdint>

#include "scheduler/scan.hpp"

namespace sawtooth::sim {

class OwnScan {
 public:
  virtual ~OwnScan() = default;
  /// What steps 0 .. tiles - 1 visit: each position of [0, context.tiles) once. The array must live
  /// as long as this object. Called by several threads at once.
  virtual const int32_t* positions(const ScanContext& context) = 0;
};

}  // namespace sawtooth::sim
