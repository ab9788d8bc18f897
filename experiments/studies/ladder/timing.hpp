// Time of launches by CUDA events, outside any profiler.
#pragma once

#include <functional>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/common/cuda_check.hpp"

namespace sawtooth::experiments::ladder {

/// Microseconds of each launch of each function: `repetitions` rounds, all functions in turn in
/// every round, so that clocks and heat are the same for all; one round before is not counted.
inline std::vector<std::vector<double>> interleaved_times_us(
    const std::vector<std::function<void()>>& launches, int repetitions) {
  cudaEvent_t begin = nullptr, end = nullptr;
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&begin));
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&end));
  std::vector<std::vector<double>> times(launches.size());
  for (int round = -1; round < repetitions; ++round)
    for (std::size_t i = 0; i < launches.size(); ++i) {
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(begin));
      launches[i]();
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(end));
      SAWTOOTH_CUDA_CHECK(cudaEventSynchronize(end));
      float milliseconds = 0;
      SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
      if (round >= 0) times[i].push_back(double{milliseconds} * 1000);
    }
  SAWTOOTH_CUDA_CHECK(cudaEventDestroy(begin));
  SAWTOOTH_CUDA_CHECK(cudaEventDestroy(end));
  return times;
}

}  // namespace sawtooth::experiments::ladder
