// What threads inside one point bring: `threads_benchmark [THREADS [ROUNDS]]`. Prints CSV: for each
// case the medians over rounds of wall time on one thread, of wall time on one over that on
// THREADS, and of processor time on THREADS over that on one. Rounds alternate between the two.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "sim/lru/simulate_lru.hpp"
#include "sim/timed/simulate_timed.hpp"

namespace sawtooth {
namespace {

struct Times {
  double wall_s = 0;
  double processor_s = 0;
};

template <class Function>
Times times_of(Function function) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  function();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          double(std::clock() - processor) / CLOCKS_PER_SEC};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <class Function>
void compare(const char* name, int64_t threads, int rounds, sim::Request request,
             Function simulate) {
  std::vector<double> one_s, speed, cost;
  for (int round = 0; round < rounds; ++round) {
    Times one, many;
    for (const bool first : {round % 2 == 0, round % 2 != 0}) {
      request.threads = first ? 1 : threads;
      (first ? one : many) = times_of([&] { simulate(request); });
    }
    one_s.push_back(one.wall_s);
    speed.push_back(one.wall_s / many.wall_s);
    cost.push_back(many.processor_s / one.processor_s);
  }
  std::printf("%s,%lld,%d,%.3f,%.2f,%.2f\n", name, static_cast<long long>(threads), rounds,
              median(one_s), median(speed), median(cost));
  std::fflush(stdout);
}

sim::Request causal(int64_t keys) {
  sim::Request request;
  request.problem = {.seq_q = keys, .seq_kv = keys, .head_dim = 128};
  request.problem.mask.kind = MaskKind::causal;
  request.tiling = {128, 128};
  request.schedule.workers = 132;
  request.l2_bytes = int64_t{60} << 20;
  return request;
}

void run(int64_t threads, int rounds) {
  std::printf("case,threads,rounds,one_thread_s,speed,processor_time\n");
  constexpr int64_t half_a_million = int64_t{512} << 10, an_eighth = int64_t{128} << 10;
  compare("stack distances 512K", threads, rounds, causal(half_a_million),
          [](const sim::Request& request) { sim::simulate_lru(request); });
  sim::Request launches = causal(an_eighth);
  launches.schedule.launch = launch_id<GridLaunch>;
  launches.timing = sim::Timing::timed;
  launches.launches = 2 * threads;
  sim::Gpu gpu;
  gpu.sms = 132;
  gpu.l2_bytes = launches.l2_bytes;
  gpu.latency_near_ns = 154;
  gpu.latency_dram_ns = 360;
  launches.kernel.exposed_ns = 440;
  launches.kernel.jitter = 0.02;
  compare("timed launches 128K", threads, rounds, launches,
          [&](const sim::Request& request) { sim::median_launch(request, gpu, false); });
}

}  // namespace
}  // namespace sawtooth

int main(int count, char** words) {
  const auto word = [&](int at, long usual) {
    return count > at ? std::strtol(words[at], nullptr, 10) : usual;
  };
  sawtooth::run(word(1, 2), static_cast<int>(word(2, 7)));
}
