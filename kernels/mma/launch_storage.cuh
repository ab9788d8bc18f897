// A kernel's shared memory as one struct, aligned for tiles.
#pragma once

#include <cstdint>

#include "kernels/mma/ptx.cuh"
#include "kernels/mma/shared_tile.hpp"

namespace sawtooth::kernels {

/// Dynamic shared memory comes aligned to 16 bytes only; the launch asks for the slack.
template <class Storage>
__device__ inline Storage& aligned_storage(unsigned char* raw) {
  const uint32_t address = shared_address(raw);
  return *reinterpret_cast<Storage*>(raw +
                                     (tile_alignment - address % tile_alignment) % tile_alignment);
}

/// Dynamic shared memory of a CTA.
template <class Storage>
constexpr int shared_bytes_of() {
  return int(sizeof(Storage)) + tile_alignment;
}

}  // namespace sawtooth::kernels
