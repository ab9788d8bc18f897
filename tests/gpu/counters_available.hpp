// Tests on a GPU with counters; without them they are skipped with the profiler's own reason.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "cupti/range_profiler.hpp"
#include "kernels/common/cuda_check.hpp"

namespace sawtooth {

/// Empty when this machine can count, else why not.
inline std::string why_no_counters() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  if (devices == 0) return "no GPU";
  try {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
    const cupti::RangeProfiler profiler;
    return "";
  } catch (const std::exception& reason) {
    return reason.what();
  }
}

/// Cases share one fixture object, made when the first of them runs: a profiler and buffers.
template <class Shared>
class CountersOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    static const std::string reason = why_no_counters();
    if (!reason.empty()) GTEST_SKIP() << reason;
    if (!shared_) shared_ = std::make_unique<Shared>();
  }
  static void TearDownTestSuite() { shared_.reset(); }
  static Shared& shared() { return *shared_; }

 private:
  inline static std::unique_ptr<Shared> shared_;
};

}  // namespace sawtooth
