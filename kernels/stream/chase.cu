#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

#include "kernels/common/launch.cuh"
#include "kernels/stream/chase.hpp"
#include "kernels/stream/sm_ranks.cuh"
#include "scheduler/memory_units.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t words_per_line = line_bytes / int64_t{sizeof(uint32_t)};

__global__ void write_chain_words(uint32_t* data, const uint32_t* next, int64_t lines) {
  const int64_t line = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (line < lines) data[line * words_per_line] = next[line];
}

__device__ uint32_t clock_now() {
  uint32_t now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return now;
}

__device__ uint64_t nanoseconds_now() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

__device__ uint32_t load_past_l1(const uint32_t* address) {
  uint32_t value;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

__global__ void follow_chain(const uint32_t* data, int64_t lines, int wanted_rank, SmRankView sms,
                             uint32_t launch, uint32_t* cycles, uint64_t* nanoseconds) {
  extern __shared__ uint32_t cycles_of_line[];
  __shared__ volatile uint32_t arrived;
  if (claim_sm_rank(sms, launch) != wanted_rank) return;
  uint32_t line = 0;
  const uint64_t begin = nanoseconds_now();
  for (int64_t step = 0; step < lines; ++step) {
    const uint32_t issued = clock_now();
    const uint32_t next = load_past_l1(data + line * words_per_line);
    arrived = next;  // instructions issue in order, so the clock below waits for the load
    cycles_of_line[line] = clock_now() - issued;
    line = next;
  }
  *nanoseconds = nanoseconds_now() - begin;
  for (int64_t i = 0; i < lines; ++i) cycles[i] = cycles_of_line[i];
}

void check_lines(const void* data, int64_t lines) {
  if (lines < 1 || lines > Chase::max_lines) {
    throw std::invalid_argument("chase: " + std::to_string(lines) + " lines, 1 to " +
                                std::to_string(Chase::max_lines) + " are allowed");
  }
  if (data == nullptr || reinterpret_cast<uintptr_t>(data) % line_bytes != 0) {
    throw std::invalid_argument("chase: the buffer must be 128-byte aligned and not null");
  }
}

/// A permutation with one cycle (Sattolo 1986), as next[line].
std::vector<uint32_t> random_cycle(int64_t lines, uint64_t seed) {
  std::vector<uint32_t> next(static_cast<size_t>(lines));
  std::iota(next.begin(), next.end(), 0u);
  std::mt19937_64 random(seed);
  for (size_t i = next.size() - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
  return next;
}

}  // namespace

Chase::Chase(SmRanks& sms)
    : sms_(sms),
      cycles_(max_lines * int64_t{sizeof(uint32_t)}),
      nanoseconds_(sizeof(uint64_t)),
      exclusive_bytes_(sms.keep_alone(follow_chain)) {}

void Chase::write_chain(void* data, int64_t lines, uint64_t seed) {
  check_lines(data, lines);
  const DeviceBuffer next = to_device(random_cycle(lines, seed));
  constexpr int threads = 256;
  launch_kernel({static_cast<unsigned>((lines + threads - 1) / threads), threads},
                write_chain_words, static_cast<uint32_t*>(data), next.as<uint32_t>(), lines);
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
}

ChaseSample Chase::run(int rank, const void* data, int64_t lines) {
  check_lines(data, lines);
  if (rank < 0 || rank >= sms_.count()) {
    throw std::invalid_argument("chase: no SM has rank " + std::to_string(rank));
  }
  launch_kernel({static_cast<unsigned>(sms_.count()), 1, exclusive_bytes_}, follow_chain,
                static_cast<const uint32_t*>(data), lines, rank, sms_.view(), sms_.next_launch(),
                cycles_.as<uint32_t>(), nanoseconds_.as<uint64_t>());
  const uint64_t nanoseconds = to_host<uint64_t>(nanoseconds_.as<>(), 1).front();
  return {to_host<uint32_t>(cycles_.as<>(), lines),
          static_cast<double>(nanoseconds) / static_cast<double>(lines)};
}

}  // namespace sawtooth::kernels
