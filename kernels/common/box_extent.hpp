// What one instruction of the copy engine loads.
#pragma once

namespace sawtooth::kernels {

/// So many rows of so many panels of one head.
struct BoxExtent {
  int rows = 0;
  int panels = 1;
  int panel_columns = 64;  // or 32
};

}  // namespace sawtooth::kernels
