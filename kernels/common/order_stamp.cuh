// Stamps for kernels of your own: at each K/V step one thread of a CTA writes which item and tile
// it is at, on which SM and when; `sawtooth order` finds the schedule behind them. Needs CUDA
// alone.
//
//   sawtooth::OrderStamps stamps = sawtooth::allocate_order_stamps(steps);   // of the whole launch
//   kernel<<<...>>>(..., stamps);   // in it: if (threadIdx.x == 0) stamps.stamp(item, kv_tile);
//   sawtooth::write_order_stamps(stamps, "stamps.csv");
//
// item = head * Q tiles of a head + Q tile, with the heads of all batches counted on. A stamp takes
// some 40 instructions and one atomic of the CTA, so a stamped launch keeps its order, not its
// time.
#pragma once

#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

namespace sawtooth {

struct OrderStamp {
  unsigned long long time_ns;  // the GPU's global timer; steps of 32 ns to 1 us
  unsigned cta;
  unsigned item;
  unsigned tile;
  unsigned sm;
};

/// Passed to the kernel by value.
struct OrderStamps {
  OrderStamp* records = nullptr;  // device memory
  unsigned long long* count = nullptr;
  unsigned long long capacity = 0;

#if defined(__CUDACC__)
  /// By one thread of the CTA. Stamps beyond the capacity are counted and dropped.
  __device__ void stamp(unsigned item, unsigned tile) const {
    OrderStamp now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now.time_ns));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(now.sm));
    now.cta = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    now.item = item;
    now.tile = tile;
    const unsigned long long at = atomicAdd(count, 1ull);
    if (at < capacity) records[at] = now;
  }
#endif
};

/// For `capacity` stamps, all unused; without memory `records` is null.
inline OrderStamps allocate_order_stamps(unsigned long long capacity) {
  OrderStamps stamps;
  stamps.capacity = capacity;
  if (cudaMalloc(&stamps.records, capacity * sizeof(OrderStamp)) != cudaSuccess) return {};
  if (cudaMalloc(&stamps.count, sizeof *stamps.count) != cudaSuccess ||
      cudaMemset(stamps.count, 0, sizeof *stamps.count) != cudaSuccess) {
    cudaFree(stamps.records);
    return {};
  }
  return stamps;
}

/// Waits for the device, writes a CSV for `sawtooth order` and frees the memory. False when
/// something failed or stamps were dropped.
inline bool write_order_stamps(OrderStamps& stamps, const char* path) {
  unsigned long long count = 0;
  bool good = cudaMemcpy(&count, stamps.count, sizeof count, cudaMemcpyDeviceToHost) == cudaSuccess;
  good = good && count <= stamps.capacity;
  std::vector<OrderStamp> records(good ? count : 0);
  good = good && cudaMemcpy(records.data(), stamps.records, count * sizeof(OrderStamp),
                            cudaMemcpyDeviceToHost) == cudaSuccess;
  cudaFree(stamps.records);
  cudaFree(stamps.count);
  stamps = {};
  std::FILE* file = good ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return false;
  std::fputs("cta,item,tile,sm,time_ns\n", file);
  for (const OrderStamp& at : records)
    std::fprintf(file, "%u,%u,%u,%u,%llu\n", at.cta, at.item, at.tile, at.sm, at.time_ns);
  return std::fclose(file) == 0;
}

}  // namespace sawtooth
