#include <algorithm>
#include <stdexcept>

#include "kernels/common/launch.cuh"
#include "kernels/stream/bulk_copy.cuh"
#include "kernels/stream/sm_ranks.cuh"
#include "kernels/stream/tile_latency.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int threads = 256;
constexpr int64_t largest_tile_bytes = 65536;
constexpr int64_t tiles_bytes = int64_t{4} << 30;
constexpr int64_t beyond_l2_bytes = int64_t{1} << 30;
constexpr int64_t inside_l2_bytes = int64_t{8} << 20;
constexpr uint64_t longest_wait_ns = 200'000'000;
// From the last arrival to the common moment: the barrier's release reaches every SM before it.
constexpr uint64_t settle_ns = 2500;

struct Seat {
  int32_t reader = -1;     // number among the readers
  int32_t warms = -1;      // number of the reader whose tile this SM reads before the round
  int32_t asks_ahead = 0;  // 1: asks for the readers' tile before they do
  int32_t in_step = 0;     // 1: one of these
};

/// One barrier: who has come, and the moment at which all go on, 0 until the last one has come.
struct Meeting {
  unsigned int arrived;
  unsigned int pad;
  unsigned long long moment_ns;
};

struct State {
  uint32_t late;
  uint32_t finished;  // CTAs in step that have ended
  uint32_t sink;
};

struct Plan {
  const Seat* seats;
  const char* tiles;
  const char* background;  // nullptr: the other SMs do nothing
  int64_t background_bytes;
  int32_t rounds;
  int32_t readers;
  int32_t in_step;
  bool same_tile;
  bool warm;
  uint64_t ahead_ns;
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
template <TileLoad load, int vectors>
__device__ float ask(char* shared, const char* tile, uint64_t moment_ns, Barrier& barrier,
                     uint32_t phase, State* state) {
  __shared__ long long first, last;
  if (threadIdx.x == 0) first = 0x7fffffffffffffffLL, last = 0;
  __syncthreads();
  if constexpr (load == TileLoad::tma) {
    if (threadIdx.x == 0) {
      while (now_ns() < moment_ns) {
      }
      const long long begin = now_cycles();
      barrier.arrive_expecting(vectors * threads * 16);
      bulk_copy(shared, tile, vectors * threads * 16, barrier);
      barrier.wait(phase);
      first = begin;
      last = now_cycles();
    }
  } else {
    while (now_ns() < moment_ns) {
    }
    const long long begin = now_cycles();
    if constexpr (load == TileLoad::ld) {
      // Never true for the buffers used, which the compiler cannot know: the data is awaited.
      if (load_tile<vectors>(tile) == 0x5a77007bu) state->sink = 1;
    } else {
      copy_tile<vectors>(shared, tile);
    }
    const long long end = now_cycles();
    atomicMin(&first, begin);
    atomicMax(&last, end);
  }
  __syncthreads();
  return static_cast<float>(last - first);
}

/// Until all CTAs in step have ended.
__device__ void load_background(const Plan& plan, uint32_t cta, uint32_t ctas, State* state) {
  const auto* data = reinterpret_cast<const uint4*>(plan.background);
  const int64_t vectors = plan.background_bytes / 16;
  uint32_t sum = 0;
  for (int64_t at = int64_t{cta} * threads + threadIdx.x;; at += int64_t{ctas} * threads * 4) {
    uint4 v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) v[i] = __ldcg(data + (at + int64_t{i} * ctas * threads) % vectors);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum ^= v[i].x;
    if (*static_cast<volatile uint32_t*>(&state->finished) >= static_cast<uint32_t>(plan.in_step))
      break;
  }
  if (sum == 0x5a77007bu) state->sink = 2;
}

template <TileLoad load, int vectors>
__global__ void __launch_bounds__(threads, 1)
    time_tiles(Plan plan, SmRankView sms, uint32_t launch, State* state) {
  extern __shared__ __align__(128) char shared[];
  __shared__ Barrier barrier;
  __shared__ Seat seat;
  __shared__ uint64_t moment_ns;
  if (threadIdx.x == 0) {
    seat = plan.seats[claim_sm_rank(sms, launch)];
    barrier.initialise(1);
    fence_initialised_barriers();
    fence_before_copies();
  }
  __syncthreads();
  if (!seat.in_step) {
    if (plan.background != nullptr) load_background(plan, blockIdx.x, gridDim.x, state);
    return;
  }
  constexpr int64_t bytes = int64_t{vectors} * threads * 16;
  const int64_t tiles_a_round = plan.same_tile ? 1 : plan.readers;
  const auto tile_of = [&](int64_t round, int64_t reader) {
    return plan.tiles + (round * tiles_a_round + (plan.same_tile ? 0 : reader)) * bytes;
  };
  uint32_t phase = 0;
  uint32_t sum = 0;
  const uint64_t begin_ns = now_ns();
  const long long begin_cycles = now_cycles();
  for (int round = 0; round < plan.rounds; ++round) {
    if (threadIdx.x == 0) moment_ns = meet(&plan.meetings[2 * round], plan.in_step);
    __syncthreads();
    if (moment_ns == 0) break;
    if (plan.warm && seat.warms >= 0) sum ^= load_tile<vectors>(tile_of(round, seat.warms));
    if (__syncthreads_or(sum == 0x5a77007bu) != 0) state->sink = 3;
    if (threadIdx.x == 0) {
      moment_ns = meet(&plan.meetings[2 * round + 1], plan.in_step);
      if (moment_ns != 0 && !seat.asks_ahead) moment_ns += plan.ahead_ns;
    }
    __syncthreads();
    if (moment_ns == 0) break;
    if (seat.reader < 0 && !seat.asks_ahead) continue;
    const float cycles = ask<load, vectors>(shared, tile_of(round, max(seat.reader, 0)), moment_ns,
                                            barrier, phase, state);
    phase ^= 1;
    if (threadIdx.x == 0 && seat.reader >= 0)
      plan.ns[int64_t{round} * plan.readers + seat.reader] = cycles;
  }
  if (threadIdx.x != 0) return;
  if (moment_ns == 0) state->late = 1;
  atomicAdd(&state->finished, 1u);
  // Cycles become nanoseconds by the launch's own clock.
  const auto ns_a_cycle =
      static_cast<float>(double(now_ns() - begin_ns) / double(now_cycles() - begin_cycles));
  if (seat.reader < 0) return;
  for (int round = 0; round < plan.rounds; ++round)
    plan.ns[int64_t{round} * plan.readers + seat.reader] *= ns_a_cycle;
}

using Kernel = void (*)(Plan, SmRankView, uint32_t, State*);

template <TileLoad load>
Kernel kernel_of(int64_t tile_bytes) {
  switch (tile_bytes) {
    case 4096:
      return time_tiles<load, 1>;
    case 8192:
      return time_tiles<load, 2>;
    case 16384:
      return time_tiles<load, 4>;
    case 32768:
      return time_tiles<load, 8>;
    case 65536:
      return time_tiles<load, 16>;
    default:
      throw std::invalid_argument("tile latency: tiles of " + std::to_string(tile_bytes) +
                                  " bytes; allowed: 4, 8, 16, 32, 64 KiB");
  }
}

Kernel kernel_of(const TileCase& what) {
  return what.load == TileLoad::ld         ? kernel_of<TileLoad::ld>(what.tile_bytes)
         : what.load == TileLoad::cp_async ? kernel_of<TileLoad::cp_async>(what.tile_bytes)
                                           : kernel_of<TileLoad::tma>(what.tile_bytes);
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

TileLatency::TileLatency(SmRanks& sms, const L2HalfMap& map)
    : sms_(sms), tiles_(tiles_bytes), background_(beyond_l2_bytes), state_(sizeof(State)) {
  for (size_t rank = 0; rank < map.half_of_rank.size(); ++rank)
    ranks_of_half_[map.half_of_rank[rank] != 0 ? 1 : 0].push_back(static_cast<int>(rank));
  for (const DeviceBuffer* buffer : {&tiles_, &background_})
    launch_kernel({1024, 256}, fill, buffer->as<uint4>(), buffer->bytes() / 16);
}

bool TileLatency::can_run(const TileCase& what) const {
  const auto here = static_cast<int>(ranks_of_half_[0].size());
  const auto there = static_cast<int>(ranks_of_half_[1].size());
  if (what.readers < 1 || what.readers > here + there) return false;
  if (what.place == TilePlace::far && what.readers > std::min(here, there)) return false;
  if (what.place == TilePlace::coming && (!what.same_tile || what.readers >= here)) return false;
  return what.background == TileBackground::none || what.readers <= here / 2;
}

TileTimes TileLatency::run(const TileCase& what, int rounds) {
  if (!can_run(what))
    throw std::invalid_argument("tile latency: no SM is left for what this case needs");
  const int64_t tiles = int64_t{rounds} * (what.same_tile ? 1 : what.readers);
  if (tiles * what.tile_bytes > tiles_.bytes())
    throw std::invalid_argument("tile latency: rounds need more than 4 GiB of tiles");

  std::vector<int> order = ranks_of_half_[0];
  order.insert(order.end(), ranks_of_half_[1].begin(), ranks_of_half_[1].end());
  std::vector<Seat> seats(order.size());
  for (int reader = 0; reader < what.readers; ++reader) {
    Seat& seat = seats[static_cast<size_t>(order[static_cast<size_t>(reader)])];
    seat = {.reader = reader, .warms = reader, .in_step = 1};
    if (what.place != TilePlace::far) continue;
    seat.warms = -1;
    Seat& other = seats[static_cast<size_t>(ranks_of_half_[1][static_cast<size_t>(reader)])];
    other = {.warms = reader, .in_step = 1};
  }
  if (what.place == TilePlace::coming)
    seats[static_cast<size_t>(ranks_of_half_[0].back())] = {.asks_ahead = 1, .in_step = 1};
  const auto in_step = static_cast<int32_t>(std::count_if(
      seats.begin(), seats.end(), [](const Seat& seat) { return seat.in_step != 0; }));

  const DeviceBuffer seat_table(static_cast<int64_t>(seats.size() * sizeof(Seat)));
  const DeviceBuffer meetings(int64_t{2} * rounds * int64_t{sizeof(Meeting)});
  const DeviceBuffer times(int64_t{rounds} * what.readers * int64_t{sizeof(float)});
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(seat_table.as<>(), seats.data(), seats.size() * sizeof(Seat),
                                 cudaMemcpyHostToDevice));
  SAWTOOTH_CUDA_CHECK(cudaMemset(meetings.as<>(), 0, static_cast<size_t>(meetings.bytes())));
  SAWTOOTH_CUDA_CHECK(cudaMemset(state_.as<>(), 0, sizeof(State)));
  l2_.flush();

  const bool loads = what.background != TileBackground::none;
  const Plan plan{
      .seats = seat_table.as<Seat>(),
      .tiles = tiles_.as<char>(),
      .background = loads ? background_.as<char>() : nullptr,
      .background_bytes =
          what.background == TileBackground::l2 ? inside_l2_bytes : background_.bytes(),
      .rounds = rounds,
      .readers = what.readers,
      .in_step = in_step,
      .same_tile = what.same_tile,
      .warm = what.place == TilePlace::near || what.place == TilePlace::far,
      .ahead_ns = static_cast<uint64_t>(what.place == TilePlace::coming ? what.ahead_ns : 0),
      .meetings = meetings.as<Meeting>(),
      .ns = times.as<float>()};
  const Kernel kernel = kernel_of(what);
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
