// dS^T from accumulators to shared memory as dS: a row a query, in the layout of wgmma's operands.
// PTX ISA: "stmatrix".
#pragma once

#include <cstdint>

namespace sawtooth::kernels::hopper {

/// Four 8x8 matrices of 16-bit elements, each transposed on its way; lane l gives the address of
/// row l % 8 of matrix l / 8 as it lies in memory (score_place.hpp).
__device__ inline void store_matrices_transposed(uint32_t to, const uint32_t* from) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

}  // namespace sawtooth::kernels::hopper
