// DRAM sectors of the second pass as a share of the buffer's sectors, as read on one H200 (132 SMs,
// 60 MiB L2, driver 580.159, CUDA 13.0) with an independent program and kernel.
#pragma once

#include <array>
#include <cstdint>

namespace sawtooth::experiments {

struct H200Reading {
  bool all;  // every SM reads every line; else each line is read by the same SM twice
  bool reversed;
  int64_t mib;
  double dram_share;
};

inline constexpr std::array h200_readings{
    H200Reading{false, false, 24, 0.000},  H200Reading{false, false, 32, 0.016},
    H200Reading{false, false, 40, 0.168},  H200Reading{false, false, 48, 0.860},
    H200Reading{false, false, 56, 0.995},  H200Reading{false, false, 64, 1.000},
    H200Reading{false, false, 80, 1.000},  H200Reading{false, false, 96, 1.000},
    H200Reading{false, false, 128, 1.000}, H200Reading{false, true, 24, 0.000},
    H200Reading{false, true, 32, 0.008},   H200Reading{false, true, 40, 0.067},
    H200Reading{false, true, 48, 0.210},   H200Reading{false, true, 56, 0.325},
    H200Reading{false, true, 64, 0.414},   H200Reading{false, true, 80, 0.527},
    H200Reading{false, true, 96, 0.607},   H200Reading{false, true, 128, 0.707},
    H200Reading{true, false, 24, 0.00},    H200Reading{true, false, 28, 0.24},
    H200Reading{true, false, 32, 0.56},    H200Reading{true, false, 40, 1.00},
    H200Reading{true, false, 48, 1.00},    H200Reading{true, false, 64, 1.00},
    H200Reading{true, true, 24, 0.00},     H200Reading{true, true, 28, 0.03},
    H200Reading{true, true, 32, 0.09},     H200Reading{true, true, 40, 0.27},
    H200Reading{true, true, 48, 0.39},     H200Reading{true, true, 64, 0.54},
};

constexpr bool h200_on_cliff(int64_t mib) {
  return mib >= 28 && mib <= 48;
}

/// As shares of the buffer.
constexpr double h200_tolerance(int64_t mib) {
  return h200_on_cliff(mib) ? 0.06 : 0.02;
}

}  // namespace sawtooth::experiments
