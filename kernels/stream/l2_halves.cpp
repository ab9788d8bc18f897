#include "kernels/stream/l2_halves.hpp"

#include <algorithm>

#include "scheduler/memory_units.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t probe_lines = 1024;
constexpr int64_t owner_lines = Chase::max_lines;
constexpr uint64_t chain_seed = 1;

// The far half costs well over 50 cycles more on every two-half chip measured so far, while
// repeated near reads of one line differ by a few; anything between would be no fabric.
constexpr double least_fabric_cycles = 30;
// Half of the lines are owned by the other half; an SM whose share is above this is across.
constexpr double across_share = 0.25;

std::vector<double> differences(const ChaseSample& first, const ChaseSample& second) {
  std::vector<double> result;
  for (size_t i = 0; i < first.cycles.size(); ++i)
    result.push_back(double(first.cycles[i]) - double(second.cycles[i]));
  return result;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double share_above(const std::vector<double>& values, double threshold) {
  const auto above =
      std::count_if(values.begin(), values.end(), [&](double v) { return v > threshold; });
  return double(above) / double(values.size());
}

struct Probe {
  std::vector<double> difference;
  ChaseSample cold;
  ChaseSample first;
  ChaseSample second;
};

/// The reference SM reads cold lines, then `rank` reads them twice.
Probe probe(Chase& chase, const void* data, int64_t lines, int reference, int rank) {
  Probe result;
  result.cold = chase.run(reference, data, lines);
  result.first = chase.run(rank, data, lines);
  result.second = chase.run(rank, data, lines);
  result.difference = differences(result.first, result.second);
  return result;
}

/// ns of `cycles`, by a chase whose cycles and ns are both known.
double in_ns(double cycles, const ChaseSample& sample) {
  double sum = 0;
  for (const uint32_t value : sample.cycles) sum += value;
  return sum == 0 ? 0 : cycles * sample.ns_per_step * double(sample.cycles.size()) / sum;
}

/// How two groups of values are told apart: by the threshold with the largest variance between the
/// groups (Otsu, IEEE SMC 1979).
struct TwoGroups {
  double threshold = 0;
  double low_mean = 0;
  double high_mean = 0;
};

TwoGroups split_in_two(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  TwoGroups best;
  double total = 0;
  for (const double value : sorted) total += value;
  double low_sum = 0;
  double best_variance = -1;
  const auto n = double(sorted.size());
  for (size_t low = 1; low < sorted.size(); ++low) {
    low_sum += sorted[low - 1];
    if (sorted[low] == sorted[low - 1]) continue;
    const double low_mean = low_sum / double(low);
    const double high_mean = (total - low_sum) / (n - double(low));
    const double gap = high_mean - low_mean;
    const double variance = double(low) * (n - double(low)) * gap * gap;
    if (variance <= best_variance) continue;
    best_variance = variance;
    best = {.threshold = (sorted[low - 1] + sorted[low]) / 2,
            .low_mean = low_mean,
            .high_mean = high_mean};
  }
  return best;
}

}  // namespace

L2HalfMap map_l2_halves(SmRanks& sms, L2State& l2) {
  constexpr int reference = 0;
  const int count = sms.count();
  Chase chase(sms);
  const DeviceBuffer probes(count * probe_lines * line_bytes);
  const DeviceBuffer owners(owner_lines * line_bytes);
  const auto lines_of = [&](int rank) {
    return probes.as<char>() + rank * probe_lines * line_bytes;
  };
  for (int rank = 0; rank < count; ++rank)
    chase.write_chain(lines_of(rank), probe_lines, chain_seed + static_cast<uint64_t>(rank));
  chase.write_chain(owners.as<>(), owner_lines, chain_seed);
  l2.flush();

  L2HalfMap map;
  std::vector<Probe> seen;
  std::vector<double> all;
  for (int rank = 0; rank < count; ++rank) {
    seen.push_back(probe(chase, lines_of(rank), probe_lines, reference, rank));
    all.insert(all.end(), seen.back().difference.begin(), seen.back().difference.end());
  }
  const TwoGroups groups = split_in_two(all);
  const double gap = groups.high_mean - groups.low_mean;
  int across = -1;
  for (int rank = 0; rank < count; ++rank) {
    const double share = share_above(seen[static_cast<size_t>(rank)].difference, groups.threshold);
    const bool other = gap >= least_fabric_cycles && share > across_share;
    map.far_share.push_back(share);
    map.half_of_rank.push_back(other ? 1 : 0);
    if (other && across < 0) across = rank;
  }
  map.halves = across < 0 ? 1 : 2;

  std::vector<double> near;
  std::vector<double> far;
  std::vector<double> dram;
  for (const Probe& p : seen) {
    for (size_t i = 0; i < p.difference.size(); ++i) {
      near.push_back(p.second.cycles[i]);
      dram.push_back(p.cold.cycles[i]);
    }
  }
  if (across >= 0) {
    const Probe p = probe(chase, owners.as<>(), owner_lines, reference, across);
    for (size_t i = 0; i < p.difference.size(); ++i) {
      const bool crossed = p.difference[i] > groups.threshold;
      map.half_of_line.push_back(crossed ? 0 : 1);
      if (crossed) far.push_back(p.first.cycles[i]);
    }
  }
  const ChaseSample& clock = seen.front().cold;  // the longest of the samples
  map.latencies = {.near_cycles = median(near),
                   .far_cycles = median(far),
                   .dram_cycles = median(dram),
                   .near_ns = in_ns(median(near), clock),
                   .far_ns = in_ns(median(far), clock),
                   .dram_ns = in_ns(median(dram), clock)};
  sms.check_spread();
  return map;
}

}  // namespace sawtooth::kernels
