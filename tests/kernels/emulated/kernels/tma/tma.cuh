// Stands in for kernels/tma/tma.cuh on the CPU, where no kernel by the copy engine runs.
#pragma once

#include <cuda.h>

namespace sawtooth::kernels {

void prefetch_tensor_map(const CUtensorMap& map);

}  // namespace sawtooth::kernels
