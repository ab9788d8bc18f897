#include <stdexcept>
#include <string>

#include "kernels/stream/sm_ranks.cuh"

namespace sawtooth::kernels {
namespace {

// More than any chip has; %nsmid of a GB100 die is below 200.
constexpr int max_smids = 1024;

__global__ void count_ctas_by_smid(uint32_t* ctas) {
  if (threadIdx.x == 0) atomicAdd(&ctas[sm_number()], 1u);
  // Every CTA stays until all are there, so that none takes the place of one that has ended.
  if (threadIdx.x == 0) {
    uint32_t* arrived = &ctas[max_smids];
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) __nanosleep(100);
  }
}

}  // namespace

SmRanks::SmRanks() {
  const int sms = device_attribute(cudaDevAttrMultiProcessorCount);
  exclusive_shared_bytes_ = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);

  const DeviceBuffer ctas = zeroed((max_smids + 1) * int64_t{sizeof(uint32_t)});
  SAWTOOTH_CUDA_CHECK(cudaFuncSetAttribute(
      count_ctas_by_smid, cudaFuncAttributeMaxDynamicSharedMemorySize, exclusive_shared_bytes_));
  void* argument = ctas.as<>();
  void* arguments[] = {&argument};
  // Cooperative: refused unless all CTAs fit at once, so the wait in the kernel always ends.
  SAWTOOTH_CUDA_CHECK(cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(count_ctas_by_smid), dim3(static_cast<unsigned>(sms)), dim3(32),
      arguments, static_cast<size_t>(exclusive_shared_bytes_), nullptr));
  const auto found = to_host<uint32_t>(ctas.as<>(), max_smids);

  std::vector<int32_t> rank_of_smid(max_smids, -1);
  for (int smid = 0; smid < max_smids; ++smid) {
    if (found[static_cast<size_t>(smid)] == 0) continue;
    rank_of_smid[static_cast<size_t>(smid)] = count();
    smids_.push_back(smid);
  }
  if (count() != sms) {
    throw std::runtime_error("streams: " + std::to_string(sms) + " CTAs ran on " +
                             std::to_string(count()) + " SMs, one an SM is needed; free the GPU");
  }
  rank_of_smid_ = to_device(rank_of_smid);
  claims_ = zeroed(sms * int64_t{sizeof(uint32_t)});
  doubled_ = zeroed(sizeof(uint32_t));
}

SmRankView SmRanks::view() const {
  return {rank_of_smid_.as<int32_t>(), claims_.as<uint32_t>(), doubled_.as<uint32_t>()};
}

void SmRanks::check_spread() {
  const uint32_t doubled = to_host<uint32_t>(doubled_.as<>(), 1).front();
  if (doubled == 0) return;
  SAWTOOTH_CUDA_CHECK(cudaMemset(doubled_.as<>(), 0, sizeof(uint32_t)));
  throw std::runtime_error("streams: " + std::to_string(doubled) +
                           " CTAs shared an SM with another, so slices were left out; free the "
                           "GPU and run again");
}

}  // namespace sawtooth::kernels
