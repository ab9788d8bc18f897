// Four neighbours of fp32 in shared memory, as a lane reads them.
#pragma once

#include <cstdint>

namespace sawtooth::kernels {

struct FloatChunk {
  float x[4];
};
__device__ inline FloatChunk chunk_at(uint32_t address) {
  FloatChunk chunk;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(chunk.x[0]), "=f"(chunk.x[1]), "=f"(chunk.x[2]), "=f"(chunk.x[3])
               : "r"(address));
  return chunk;
}

}  // namespace sawtooth::kernels
