// One CTA an SM, and which.
//
// The streams give a slice of memory to an SM, not to a CTA, because the SM decides from which half
// of L2 it reads. PTX's %smid need not be dense, so SMs are numbered by rank among the ids that are
// there. A CTA takes so much shared memory that a second one does not fit on its SM; each CTA then
// claims its SM's rank, and a rank claimed twice is an error, never a slice left out.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common/device_buffer.hpp"

namespace sawtooth::kernels {

/// What a stream kernel needs to know of its place; lives in device memory.
struct SmRankView {
  const int32_t* rank_of_smid;  // -1 for ids that no SM has
  uint32_t* claims;             // by rank, of the current launch: launch number of the last claim
  uint32_t* doubled;            // launches in which an SM got two CTAs
};

class SmRanks {
 public:
  /// Finds the SMs of the current device. Throws CudaError, or std::runtime_error when CTAs cannot
  /// be spread one an SM (another process is using the GPU).
  SmRanks();

  int count() const { return static_cast<int>(smids_.size()); }
  const std::vector<int32_t>& smids() const { return smids_; }  // by rank
  SmRankView view() const;

  /// Allows `kernel` the dynamic shared memory that keeps a second CTA off an SM, and returns its
  /// bytes. Throws CudaError.
  template <class Kernel>
  size_t keep_alone(Kernel kernel) const {
    constexpr int static_reserve = 1024;  // the kernel's static part counts against the same limit
    const int bytes = exclusive_shared_bytes_ - static_reserve;
    SAWTOOTH_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return static_cast<size_t>(bytes);
  }

  /// Number of the next launch, from 1; claims of a launch carry it.
  uint32_t next_launch() { return ++launch_; }

  /// Synchronises; throws std::runtime_error when an SM got two CTAs since the last call.
  void check_spread();

 private:
  std::vector<int32_t> smids_;
  DeviceBuffer rank_of_smid_;
  DeviceBuffer claims_;   // one word a rank
  DeviceBuffer doubled_;  // one word
  int exclusive_shared_bytes_ = 0;
  uint32_t launch_ = 0;
};

}  // namespace sawtooth::kernels
