// Stands in for kernels/mma/tf32_products.cuh on the CPU, where no kernel of fp32 runs.
#pragma once

#include "kernels/mma/forward_shape.cuh"
