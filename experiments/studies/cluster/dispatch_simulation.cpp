// A job of many ranks as events: the dispatcher of the program hands out points, rank 0 takes time
// for every message, and messages take time on their way. Prints CSV, a row a job.
//
//   dispatch_simulation --rank-zero-us 60 --latency-us 20 > dispatch.csv
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/sawtooth/support/dispatcher.hpp"

namespace {

using sawtooth::experiments::Dispatcher;
using sawtooth::experiments::DispatchLimits;
using sawtooth::experiments::Supply;

struct Job {
  size_t place = 0;
  double cost_s = 0;
};

struct Machine {
  double rank_zero_s = 0;  // that rank 0 has to do for a point: resolve it, send it, write its row
  double latency_s = 0;    // of a message
};

struct Sweep {
  std::vector<double> expected_s, taken_s;  // of every point
  double sum_s = 0, longest_s = 0;
};

// Times of points are log-uniform over a factor of 100; what is expected is wrong by a factor of 2
// in the standard deviation of its logarithm. The list is sorted, as that of a sweep over lengths.
Sweep sweep_of(size_t points, double mean_s, uint64_t seed) {
  constexpr double spread = 100;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0, std::log(spread));
  std::normal_distribution<double> error(0, std::log(2.0));
  const double least = mean_s * std::log(spread) / (spread - 1);
  Sweep sweep;
  for (size_t i = 0; i < points; ++i) sweep.taken_s.push_back(least * std::exp(exponent(random)));
  std::sort(sweep.taken_s.begin(), sweep.taken_s.end());
  for (const double taken : sweep.taken_s) {
    sweep.expected_s.push_back(taken * std::exp(error(random)));
    sweep.sum_s += taken;
    sweep.longest_s = std::max(sweep.longest_s, taken);
  }
  return sweep;
}

// When the last row is written.
double ends_at(const Sweep& sweep, size_t ranks, const Machine& machine, DispatchLimits limits,
               bool in_order) {
  size_t next = 0;
  Dispatcher<Job> dispatcher(
      [&](std::optional<Job>& job) {
        if (next == sweep.expected_s.size()) return Supply::end;
        job = Job{next, sweep.expected_s[next]};
        ++next;
        return Supply::job;
      },
      ranks, limits);
  // Results on their way to rank 0: when one comes, from which rank, of which point.
  using Result = std::tuple<double, size_t, size_t>;
  std::priority_queue<Result, std::vector<Result>, std::greater<>> results;
  std::vector<double> free_at(ranks, 0.0);  // when a rank has done all that it was given
  double now = 0;                           // of rank 0
  for (;;) {
    dispatcher.look_ahead();
    while (const auto given = dispatcher.assign(in_order)) {
      now += machine.rank_zero_s / 2;
      double& free = free_at[given->worker];
      free = std::max(free, now + machine.latency_s) + sweep.taken_s[given->job.place];
      results.push({free + machine.latency_s, given->worker, given->job.place});
      dispatcher.look_ahead();
      // What has come meanwhile is taken first, as it may leave a rank without work.
      if (!results.empty() && std::get<0>(results.top()) <= now) break;
    }
    if (dispatcher.has_ended() || results.empty()) return now;
    const auto [at, rank, place] = results.top();
    results.pop();
    now = std::max(now, at) + machine.rank_zero_s / 2;
    dispatcher.finished(rank, place, sweep.taken_s[place]);
  }
}

double option(int argc, char** argv, const char* name, double otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::strtod(argv[i + 1], nullptr);
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr double us = 1e-6;
  const Machine machine{option(argc, argv, "--rank-zero-us", 100) * us,
                        option(argc, argv, "--latency-us", 20) * us};
  const DispatchLimits usual;
  DispatchLimits single = usual;  // a point a message, in the order of the list
  single.sight = 1;
  single.in_hand_s = 0;
  std::cout << "policy,ranks,points,point_ms,rank_zero_us,latency_us,sum_s,ends_s,efficiency\n";
  for (const double point_s : {0.01, 0.1, 1.0, 10.0})
    for (const size_t ranks : {2, 4, 16, 64, 256, 1000}) {
      const size_t points = std::max<size_t>(10000, 20 * ranks);
      const Sweep sweep = sweep_of(points, point_s, 1);
      for (const bool one_by_one : {false, true}) {
        const double end = ends_at(sweep, ranks, machine, one_by_one ? single : usual, one_by_one);
        std::cout << (one_by_one ? "in order, one by one" : "longest first") << ',' << ranks << ','
                  << points << ',' << point_s * 1000 << ',' << machine.rank_zero_s / us << ','
                  << machine.latency_s / us << ',' << sweep.sum_s << ',' << end << ','
                  << sweep.sum_s / static_cast<double>(ranks) / end << '\n';
      }
    }
}
