// The one place where CUDA's function qualifiers enter: everything in scheduler/ is plain C++
// that also runs in a kernel when nvcc compiles it.
#pragma once

#if defined(__CUDACC__)
#define SAWTOOTH_HD __host__ __device__
#else
#define SAWTOOTH_HD
#endif
