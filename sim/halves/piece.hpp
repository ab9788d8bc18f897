// A piece: lines of one atom and one home half that L2 keeps or loses together.
#pragma once

#include <cstdint>

#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// Sectors are counted in halves of one, so that an atom splits evenly between two homes.
inline constexpr int64_t units_per_sector = 2;

constexpr double sectors_of(int64_t units) {
  return double(units) / units_per_sector;
}

struct Piece {
  uint32_t id = 0;
  int home = 0;
  int64_t units = 0;  // sectors that the piece stands for, times units_per_sector
};

}  // namespace sawtooth::sim
