// The units in which an NVIDIA L2 moves and counts data, the same from sm_80 to sm_121
// (CUDA C++ Programming Guide, "Device Memory Accesses"; Nsight Compute, "Memory Tables").
#pragma once

#include <cstdint>

namespace sawtooth {

inline constexpr int64_t sector_bytes = 32;
inline constexpr int64_t line_bytes = 128;
inline constexpr int64_t sectors_per_line = line_bytes / sector_bytes;
inline constexpr int64_t mib_bytes = int64_t{1} << 20;

}  // namespace sawtooth
