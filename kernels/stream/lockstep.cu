#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "kernels/common/launch.cuh"
#include "kernels/stream/lockstep.hpp"
#include "kernels/stream/sm_ranks.cuh"

namespace sawtooth::kernels {
namespace {

constexpr int threads = 512;
constexpr int vectors = lockstep_tile_bytes / sizeof(uint4) / threads;  // of a tile, by a thread
static_assert(vectors % 2 == 0, "both halves of a tile are read alike");

// A step takes a few us. A CTA that waits longer than this gives up, so that no launch hangs.
constexpr uint64_t longest_wait_ns = 200'000'000;

struct State {
  uint32_t arrived;  // CTAs at the barrier, all steps together
  uint32_t late;     // launches in which one did not come, kept until check()
  uint32_t sink;
};

struct Walk {
  const int32_t* table;
  int64_t steps;
  int64_t ctas;
  const int32_t* seat_of_rank;  // -1: the SM reads nothing, but keeps step
  LockstepPlace place;
  uint64_t pace_ns;
  LockstepAccess access;
};

/// Whether all have arrived in time. Nothing is handed over, so relaxed loads will do.
__device__ bool wait_until(const uint32_t* arrived, uint32_t wanted) {
  const uint64_t begin = nanoseconds();
  for (;;) {
    uint32_t seen;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    if (static_cast<int32_t>(seen - wanted) >= 0) return true;
    if (nanoseconds() - begin > longest_wait_ns) return false;
  }
}

/// Past L1, which must not answer for L2. What comes back was read, so the tile is there.
__device__ uint32_t load_tile(const uint4* first, const uint4* second) {
  uint4 v[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i) {
    v[i] = __ldcg((i < vectors / 2 ? first : second) + i % (vectors / 2) * threads + threadIdx.x);
  }
  uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < vectors; ++i) sum ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
  return sum;
}

/// The same through cp.async (PTX ISA, "cp.async"), as attention kernels fetch tiles.
__device__ void copy_tile(uint4* shared, const uint4* first, const uint4* second) {
#pragma unroll
  for (int i = 0; i < vectors; ++i) {
    const auto to =
        static_cast<uint32_t>(__cvta_generic_to_shared(shared + i * threads + threadIdx.x));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to),
                 "l"((i < vectors / 2 ? first : second) + i % (vectors / 2) * threads + threadIdx.x)
                 : "memory");
  }
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
}

__global__ void __launch_bounds__(threads)
    read_in_lockstep(Walk walk, SmRankView sms, uint32_t launch, State* state) {
  extern __shared__ uint4 shared[];
  __shared__ int32_t seat_of_cta;
  __shared__ bool all_here;
  if (threadIdx.x == 0) seat_of_cta = walk.seat_of_rank[claim_sm_rank(sms, launch)];
  __syncthreads();
  const int32_t seat = seat_of_cta;
  // The table's entry of the next step is on its way while this step reads.
  const auto entry = [&](int64_t step) {
    return seat >= 0 && step < walk.steps ? __ldcs(walk.table + step * walk.ctas + seat)
                                          : LockstepOrder::none;
  };
  int32_t next = entry(0);
  uint32_t sum = 0;
  for (int64_t step = 0; step < walk.steps; ++step) {
    const int64_t tile = next;
    next = entry(step + 1);
    if (tile >= 0) {
      const auto* first =
          reinterpret_cast<const uint4*>(walk.place.first + tile * walk.place.stride_bytes);
      const auto* second =
          reinterpret_cast<const uint4*>(walk.place.second + tile * walk.place.stride_bytes);
      if (walk.access == LockstepAccess::ld) {
        sum ^= load_tile(first, second);
      } else {
        copy_tile(shared, first, second);
      }
    }
    // Never true for the buffers used, which the compiler cannot know: no thread comes past here
    // before what it read has arrived.
    if (__syncthreads_or(sum == 0x5a77007bu) != 0) state->sink = sum;
    if (threadIdx.x == 0) {
      if (walk.pace_ns > 0) {
        const uint64_t begin = nanoseconds();
        while (nanoseconds() - begin < walk.pace_ns) {
        }
      }
      atomicAdd(&state->arrived, 1u);
      all_here = wait_until(&state->arrived, static_cast<uint32_t>(step + 1) * gridDim.x);
      if (!all_here) state->late = 1;
    }
    __syncthreads();
    if (!all_here) return;
  }
}

}  // namespace

LockstepReads::LockstepReads(SmRanks& sms, const L2HalfMap& map)
    : sms_(sms), seat_of_rank_(sms.count() * int64_t{sizeof(int32_t)}), state_(sizeof(State)) {
  std::array<std::vector<size_t>, 2> ranks;
  for (size_t rank = 0; rank < map.half_of_rank.size(); ++rank) {
    ranks[static_cast<size_t>(map.half_of_rank[rank])].push_back(rank);
  }
  per_half_ = static_cast<int64_t>(std::min(ranks[0].size(), ranks[1].size()));
  if (per_half_ == 0) {
    throw std::runtime_error("lockstep: L2 of this GPU has one part; its patterns need two halves");
  }
  std::vector<int32_t> seats(static_cast<size_t>(sms.count()), -1);
  for (int64_t i = 0; i < per_half_; ++i) {
    seats[ranks[0][static_cast<size_t>(i)]] = static_cast<int32_t>(i);
    seats[ranks[1][static_cast<size_t>(i)]] = static_cast<int32_t>(per_half_ + i);
  }
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(seat_of_rank_.as<>(), seats.data(), seats.size() * sizeof(int32_t),
                                 cudaMemcpyHostToDevice));
  SAWTOOTH_CUDA_CHECK(cudaMemset(state_.as<>(), 0, sizeof(State)));
  exclusive_bytes_ = sms.keep_alone(read_in_lockstep);
}

DeviceBuffer LockstepReads::upload(const LockstepOrder& order) {
  DeviceBuffer table(static_cast<int64_t>(order.tiles.size() * sizeof(int32_t)));
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(table.as<>(), order.tiles.data(),
                                 static_cast<size_t>(table.bytes()), cudaMemcpyHostToDevice));
  return table;
}

void LockstepReads::launch(const LockstepPattern& pattern, const DeviceBuffer& table, int64_t steps,
                           const LockstepPlace& place) {
  SAWTOOTH_CUDA_CHECK(
      cudaMemsetAsync(state_.as<char>() + offsetof(State, arrived), 0, sizeof(State::arrived)));
  const Walk walk{table.as<int32_t>(),
                  steps,
                  2 * per_half_,
                  seat_of_rank_.as<int32_t>(),
                  place,
                  static_cast<uint64_t>(pattern.pace_us) * 1000,
                  pattern.access};
  launch_kernel({static_cast<unsigned>(sms_.count()), threads, exclusive_bytes_}, read_in_lockstep,
                walk, sms_.view(), sms_.next_launch(), state_.as<State>());
}

void LockstepReads::check() {
  sms_.check_spread();
  State state{};
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(&state, state_.as<>(), sizeof(state), cudaMemcpyDeviceToHost));
  if (state.late == 0) return;
  SAWTOOTH_CUDA_CHECK(cudaMemset(state_.as<>(), 0, sizeof(State)));
  throw std::runtime_error(
      "lockstep: a CTA waited 0.2 s for the others, so that a launch was cut short; free the GPU "
      "and run again");
}

}  // namespace sawtooth::kernels
