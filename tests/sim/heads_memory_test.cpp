// How much memory models take at once, by the allocations of this program.
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>
#include <malloc.h>

#include "sim/belady/simulate_opt.hpp"
#include "sim/halves/halves_in_step.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "sim/timed/simulate_timed.hpp"

namespace {

std::atomic<size_t> held{0};
std::atomic<size_t> most_held{0};

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const size_t now = held += malloc_usable_size(memory);
  if (now > most_held) most_held = now;
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t bytes) {
  return counted(std::malloc(bytes));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(align, (bytes + align - 1) / align * align));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace sawtooth::sim {
namespace {

constexpr int64_t few_heads = 500;
constexpr int64_t many_heads = 10'000;

size_t most_bytes(Prediction (*simulate)(const Request&), Request request, int64_t heads) {
  request.problem.kv_heads = heads * request.problem.kv_heads / request.problem.heads;
  request.problem.heads = heads;
  const size_t before = held;
  most_held = before;
  simulate(request);
  return most_held - before;
}

// Twenty times the heads: not even a byte more for each.
void expect_no_growth(const Request& request) {
  for (Prediction (*simulate)(const Request&) : {simulate_lru, simulate_opt}) {
    const size_t few = most_bytes(simulate, request, few_heads);
    EXPECT_LE(most_bytes(simulate, request, many_heads), few + (many_heads - few_heads) / 2);
  }
}

Request small_heads() {
  Request request;
  request.problem = {.seq_q = 500, .seq_kv = 500};
  request.schedule.workers = 13;
  request.l2_bytes = int64_t{1} << 20;
  request.log_sum_exp = true;
  return request;
}

// What L2 holds of ended heads is kept too, so memory stops to grow where there are more of these
// than are kept before a look.
void expect_no_growth_beyond_the_cache(Prediction (*simulate)(const Request&),
                                       double bytes_a_head = 0.5) {
  constexpr int64_t few = 15'000, many = 30'000;
  Request request;
  request.problem = {.seq_q = 64, .seq_kv = 64};
  request.schedule.workers = 13;
  request.l2_bytes = int64_t{1} << 20;
  const auto least = double(most_bytes(simulate, request, few));
  EXPECT_LE(double(most_bytes(simulate, request, many)), least + bytes_a_head * (many - few));
}

Prediction halves_of(const Request& request, int ways) {
  return simulate_halves(request, {.capacity_lines = request.l2_bytes / 256, .ways = ways}, {});
}

TEST(MemoryOfHeads, IsBoundedByWhatHalvesHold) {
  expect_no_growth_beyond_the_cache([](const Request& request) { return halves_of(request, 16); });
  expect_no_growth_beyond_the_cache([](const Request& request) { return halves_of(request, 0); });
}

Prediction sets_of(Request request, SetPolicy policy) {
  request.sets.policy = policy;
  return simulate_sets(request);
}

TEST(MemoryOfHeads, IsBoundedByWhatSetsHold) {
  expect_no_growth_beyond_the_cache(simulate_sets);
  expect_no_growth_beyond_the_cache(
      [](const Request& request) { return sets_of(request, SetPolicy::plru); });
  expect_no_growth_beyond_the_cache(
      [](const Request& request) { return sets_of(request, SetPolicy::opt); });
}

// Where the time goes is a row for each item of a worker, of 13 here.
TEST(MemoryOfHeads, IsBoundedByWhatHalvesHoldInTime) {
  constexpr double bytes_a_head = 4.0 * sizeof(TimeTerms) / 13;  // while the table is moved
  const auto simulate = [](const Request& request) {
    TimedParameters parameters;
    parameters.sms = 13;
    parameters.step.fixed_ns = 100;
    parameters.l2.lines = {.capacity_lines = request.l2_bytes / 256, .ways = 16};
    Request timed = request;
    timed.schedule.launch = launch_id<DynamicLaunch>;
    return simulate_timed(timed, parameters);
  };
  expect_no_growth_beyond_the_cache(simulate, bytes_a_head);
}

TEST(MemoryOfHeads, IsThatOfTheHeadsInFlight) {
  expect_no_growth(small_heads());
}

TEST(MemoryOfHeads, IsThatOfTheHeadsInFlightUnderAMask) {
  Request request = small_heads();
  request.problem.mask.kind = MaskKind::causal;
  expect_no_growth(request);
  request.schedule.launch = launch_id<DynamicLaunch>;
  request.schedule.scan = scan_id<AttachScan>;
  expect_no_growth(request);
  request.timing = Timing::lockstep_wave;
  expect_no_growth(request);
}

TEST(MemoryOfHeads, IsThatOfTheHeadsInFlightInSections) {
  Request request = small_heads();
  request.problem.heads = 4;  // of one K/V head
  request.schedule.order.section = 6;
  expect_no_growth(request);
  request.schedule.scan = scan_id<SawtoothScan>;
  request.schedule.order.section = 4;
  expect_no_growth(request);
}

TEST(MemoryOfHeads, IsThatOfTheHeadsInFlightUnderOtherLoopsAndLaunches) {
  Request request = small_heads();
  request.schedule.loop = Loop::kv_outer;
  expect_no_growth(request);
  request.schedule.loop = Loop::kv_inner;
  request.schedule.launch = launch_id<BalancedLaunch>;
  expect_no_growth(request);
  request.schedule.launch = launch_id<GridLaunch>;
  request.schedule.prefetch = 1;
  request.problem.mask.kind = MaskKind::causal;
  expect_no_growth(request);
}

}  // namespace
}  // namespace sawtooth::sim
