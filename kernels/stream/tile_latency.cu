#include <stdexcept>

#include "kernels/common/launch.cuh"
#include "kernels/stream/sm_ranks.cuh"
#include "kernels/stream/tile_latency.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int threads = 256;
constexpr int64_t largest_tile_bytes = 65536;
constexpr int64_t tiles_bytes = int64_t{4} << 30;
constexpr uint64_t longest_wait_ns = 200'000'000;
// From the last arrival to the common moment: the barrier's release reaches every SM before it.
constexpr uint64_t settle_ns = 2500;

/// One barrier: who has come, and the moment at which all go on, 0 until the last one has come.
struct Meeting {
  unsigned int arrived;
  unsigned int pad;
  unsigned long long moment_ns;
};

struct State {
  uint32_t late;
  uint32_t sink;
};

struct Plan {
  const char* tiles;
  int32_t rounds;
  int32_t readers;  // SMs of rank 0 and on
  bool same_tile;
  bool warm;
  Meeting* meetings;  // two a round
  float* ns;          // [round][reader]
};

__device__ uint64_t now_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

__device__ long long now_cycles() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

/// One thread of each CTA in step. Returns the common moment; 0: one did not come in time.
__device__ uint64_t meet(Meeting* meeting, uint32_t ctas) {
  const uint64_t begin = now_ns();
  if (atomicAdd(&meeting->arrived, 1u) + 1 == ctas)
    atomicExch(&meeting->moment_ns, static_cast<unsigned long long>(begin + settle_ns));
  for (;;) {
    uint64_t moment;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(moment)
                 : "l"(&meeting->moment_ns)
                 : "memory");
    if (moment != 0) return moment;
    if (now_ns() - begin > longest_wait_ns) return 0;
  }
}

/// Every thread's part of a tile, 16 bytes a request, all of them in flight at once, past L1.
template <int vectors>
__device__ uint32_t load_tile(const char* tile) {
  uint4 v[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i)
    v[i] = __ldcg(reinterpret_cast<const uint4*>(tile) + i * threads + threadIdx.x);
  uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < vectors; ++i) sum ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
  return sum;
}

/// PTX ISA, "cp.async".
template <int vectors>
__device__ void copy_tile(char* shared, const char* tile) {
#pragma unroll
  for (int i = 0; i < vectors; ++i) {
    const int at = (i * threads + static_cast<int>(threadIdx.x)) * 16;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared + at)),
                 "l"(tile + at)
                 : "memory");
  }
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
}

/// Requests and awaits a tile; returns cycles from the first request to the last line, over all
/// threads, in thread 0. Called by a whole CTA, in step.
template <int vectors>
__device__ float ask(char* shared, const char* tile, uint64_t moment_ns) {
  __shared__ long long first, last;
  if (threadIdx.x == 0) first = 0x7fffffffffffffffLL, last = 0;
  __syncthreads();
  while (now_ns() < moment_ns) {
  }
  const long long begin = now_cycles();
  copy_tile<vectors>(shared, tile);
  const long long end = now_cycles();
  atomicMin(&first, begin);
  atomicMax(&last, end);
  __syncthreads();
  return static_cast<float>(last - first);
}

template <int vectors>
__global__ void __launch_bounds__(threads, 1)
    time_tiles(Plan plan, SmRankView sms, uint32_t launch, State* state) {
  extern __shared__ __align__(128) char shared[];
  __shared__ int reader;
  __shared__ uint64_t moment_ns;
  if (threadIdx.x == 0) reader = claim_sm_rank(sms, launch);
  __syncthreads();
  if (reader >= plan.readers) return;
  constexpr int64_t bytes = int64_t{vectors} * threads * 16;
  const int64_t tiles_a_round = plan.same_tile ? 1 : plan.readers;
  const auto tile_of = [&](int64_t round) {
    return plan.tiles + (round * tiles_a_round + (plan.same_tile ? 0 : reader)) * bytes;
  };
  uint32_t sum = 0;
  const uint64_t begin_ns = now_ns();
  const long long begin_cycles = now_cycles();
  for (int round = 0; round < plan.rounds; ++round) {
    if (threadIdx.x == 0) moment_ns = meet(&plan.meetings[2 * round], plan.readers);
    __syncthreads();
    if (moment_ns == 0) break;
    if (plan.warm) sum ^= load_tile<vectors>(tile_of(round));
    if (__syncthreads_or(sum == 0x5a77007bu) != 0) state->sink = 3;
    if (threadIdx.x == 0) moment_ns = meet(&plan.meetings[2 * round + 1], plan.readers);
    __syncthreads();
    if (moment_ns == 0) break;
    const float cycles = ask<vectors>(shared, tile_of(round), moment_ns);
    if (threadIdx.x == 0) plan.ns[int64_t{round} * plan.readers + reader] = cycles;
  }
  if (threadIdx.x != 0) return;
  if (moment_ns == 0) state->late = 1;
  // Cycles become nanoseconds by the launch's own clock.
  const auto ns_a_cycle =
      static_cast<float>(double(now_ns() - begin_ns) / double(now_cycles() - begin_cycles));
  for (int round = 0; round < plan.rounds; ++round)
    plan.ns[int64_t{round} * plan.readers + reader] *= ns_a_cycle;
}

using Kernel = void (*)(Plan, SmRankView, uint32_t, State*);

Kernel kernel_of(int64_t tile_bytes) {
  switch (tile_bytes) {
    case 4096:
      return time_tiles<1>;
    case 8192:
      return time_tiles<2>;
    case 16384:
      return time_tiles<4>;
    case 32768:
      return time_tiles<8>;
    case 65536:
      return time_tiles<16>;
    default:
      throw std::invalid_argument("tile latency: tiles of " + std::to_string(tile_bytes) +
                                  " bytes; allowed: 4, 8, 16, 32, 64 KiB");
  }
}

/// Memory with no pattern that compression or a sum could meet.
__global__ void fill(uint4* data, int64_t vectors) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < vectors;
       i += int64_t{gridDim.x} * blockDim.x) {
    const auto x = static_cast<uint32_t>(i * 2654435761u);
    data[i] = make_uint4(x, x ^ 0x9e3779b9u, x * 40503u, ~x);
  }
}

}  // namespace

TileLatency::TileLatency(SmRanks& sms) : sms_(sms), tiles_(tiles_bytes), state_(sizeof(State)) {
  launch_kernel({1024, 256}, fill, tiles_.as<uint4>(), tiles_.bytes() / 16);
}

TileTimes TileLatency::run(const TileCase& what, int rounds) {
  if (what.readers < 1 || what.readers > sms_.count())
    throw std::invalid_argument("tile latency: more readers than SMs");
  const int64_t tiles = int64_t{rounds} * (what.same_tile ? 1 : what.readers);
  if (tiles * what.tile_bytes > tiles_.bytes())
    throw std::invalid_argument("tile latency: rounds need more than 4 GiB of tiles");

  const DeviceBuffer meetings(int64_t{2} * rounds * int64_t{sizeof(Meeting)});
  const DeviceBuffer times(int64_t{rounds} * what.readers * int64_t{sizeof(float)});
  SAWTOOTH_CUDA_CHECK(cudaMemset(meetings.as<>(), 0, static_cast<size_t>(meetings.bytes())));
  SAWTOOTH_CUDA_CHECK(cudaMemset(state_.as<>(), 0, sizeof(State)));
  l2_.flush();

  const Plan plan{.tiles = tiles_.as<char>(),
                  .rounds = rounds,
                  .readers = what.readers,
                  .same_tile = what.same_tile,
                  .warm = what.place == TilePlace::near,
                  .meetings = meetings.as<Meeting>(),
                  .ns = times.as<float>()};
  const Kernel kernel = kernel_of(what.tile_bytes);
  static_assert(largest_tile_bytes <= 98 * 1024, "a tile fits every chip's SM");
  const size_t shared_bytes = sms_.keep_alone(kernel);
  launch_kernel({static_cast<unsigned>(sms_.count()), threads, shared_bytes}, kernel, plan,
                sms_.view(), sms_.next_launch(), state_.as<State>());
  sms_.check_spread();
  State state{};
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(&state, state_.as<>(), sizeof(state), cudaMemcpyDeviceToHost));
  if (state.late != 0)
    throw std::runtime_error("tile latency: a CTA waited 0.2 s for the others; free the GPU");
  TileTimes result{what.readers, std::vector<float>(static_cast<size_t>(rounds) *
                                                    static_cast<size_t>(what.readers))};
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(result.ns.data(), times.as<>(), result.ns.size() * sizeof(float),
                                 cudaMemcpyDeviceToHost));
  return result;
}

}  // namespace sawtooth::kernels
