// What CTAs of a cluster do with each other's shared memory.
// PTX ISA: "Cluster", "mapa", "barrier.cluster", "st.async", "mbarrier.arrive" with
// .shared::cluster, "cp.async.bulk.tensor" with .multicast::cluster.
//
// The CTAs of a cluster run at the same time, so one may write into another's shared memory and
// arrive at its barriers: by the address that `mapa` makes from its own.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "kernels/hopper/barrier.cuh"

namespace sawtooth::kernels::hopper {

/// This CTA's place in its cluster.
__device__ inline uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// The same in clusters of `Cluster` CTAs: 0 where a cluster is one.
template <int Cluster>
__device__ inline int rank_in_cluster() {
  return Cluster > 1 ? int(cluster_rank()) : 0;
}

/// Number of this cluster of `Cluster` CTAs in the grid, read anew where it is called: producers
/// have no register to keep it in.
template <int Cluster>
__device__ inline uint32_t cluster_number() {
  uint32_t cta;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(cta));
  return cta / Cluster;
}

/// Where `own` lies in the CTA of rank `rank`.
__device__ inline uint32_t address_at(const void* own, uint32_t rank) {
  uint32_t address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(shared_address(own)), "r"(rank));
  return address;
}

/// Arrives at the same barrier of the CTA of rank `rank`, which may be this one.
__device__ inline void arrive_at(const Barrier& barrier, uint32_t rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   address_at(&barrier, rank))
               : "memory");
}

/// Waits where all CTAs of a cluster of `Cluster` arrive: what they did before is over.
template <int Cluster>
__device__ inline void wait_for_cluster(Barrier& barrier, uint32_t parity) {
  barrier.wait(parity);
  if constexpr (Cluster > 1) asm volatile("fence.acq_rel.cluster;" ::: "memory");
}

/// Starts the copy of one box of the map, rows from `row` and panels from `panel` on, to the same
/// place of every CTA of the cluster that `ctas` has a bit for, counted on the same barrier of
/// each. L2 is read once.
__device__ inline void load_panels_to_cluster(void* to, const CUtensorMap& map, Barrier& barrier,
                                              int32_t row, int32_t panel, int32_t head,
                                              int32_t batch, uint16_t ctas, uint64_t l2_policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8, %9;" ::"r"(
          shared_address(to)),
      "l"(&map), "r"(shared_address(&barrier)), "r"(0), "r"(row), "r"(panel), "r"(head), "r"(batch),
      "h"(ctas), "l"(l2_policy)
      : "memory");
}

/// Writes `value` to the same place of the CTA of rank `rank`; its 8 bytes count on that CTA's
/// `barrier`.
__device__ inline void send(const int64_t& place, int64_t value, const Barrier& barrier,
                            uint32_t rank) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
          address_at(&place, rank)),
      "l"(value), "r"(address_at(&barrier, rank))
      : "memory");
}

/// All threads of all CTAs of the cluster meet; whole warps.
__device__ inline void cluster_sync() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

}  // namespace sawtooth::kernels::hopper
