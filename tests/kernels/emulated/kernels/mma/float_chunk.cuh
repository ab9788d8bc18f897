// Stands in for kernels/mma/float_chunk.cuh on the CPU.
#pragma once

#include <cstdint>
#include <cstring>

#include "tests/kernels/emulated/cta.hpp"

namespace sawtooth::kernels {

struct FloatChunk {
  float x[4];
};

inline FloatChunk chunk_at(uint32_t address) {
  FloatChunk chunk;
  std::memcpy(chunk.x, emulated::cta.shared + address, sizeof chunk.x);
  return chunk;
}

}  // namespace sawtooth::kernels
