#include "experiments/sawtooth/calibrate/l2_half_report.hpp"

#include <ostream>

#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;

constexpr int64_t probe_bytes = int64_t{1} << 20;
constexpr double across_share = 0.25;  // halfway between 0 and 0.5

}  // namespace

std::vector<double> near_miss_share_by_sm(StreamCampaign& campaign) {
  cupti::RangeProfiler& profiler = campaign.profiler();
  const std::string metric(cupti::metric_for(profiler.chip(), L2Counter::l2_read_miss).metric);
  const cupti::MetricPlan plan = profiler.plan({metric});
  const kernels::DeviceBuffer buffer(probe_bytes);
  SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as<>(), 0, probe_bytes));
  std::vector<double> shares;
  for (int rank = 0; rank < campaign.streams().sms().count(); ++rank) {
    const auto read_from = [&](int reader) {
      return [&campaign, &buffer, reader] {
        campaign.streams().launch({.map = kernels::StreamMap::one, .rank = reader}, buffer.as<>(),
                                  probe_bytes);
      };
    };
    const cupti::Reading reading = profiler.measure(
        plan, [&] { campaign.l2().flush(); }, {{"p1", read_from(0)}, {"p2", read_from(rank)}});
    const auto misses = reading.ranges[1].count(metric);
    shares.push_back(double(misses.value()) / double(probe_bytes / sector_bytes));
  }
  return shares;
}

CheckLine check_halves_agree(const kernels::L2HalfMap& map, const std::vector<double>& near_miss) {
  int agree = 0;
  int across = 0;
  for (size_t rank = 0; rank < near_miss.size(); ++rank) {
    const int by_counter = near_miss[rank] > across_share ? 1 : 0;
    across += by_counter;
    if (by_counter == map.half_of_rank[rank]) ++agree;
  }
  return {"halves", agree == static_cast<int>(near_miss.size()),
          "latencies and counters agree on " + std::to_string(agree) + " of " +
              std::to_string(near_miss.size()) + " SMs; " + std::to_string(across) +
              " sit across from the first; halves: " + std::to_string(map.halves)};
}

void write_sm_halves_csv(std::ostream& out, const kernels::SmRanks& sms,
                         const kernels::L2HalfMap& map, const std::vector<double>& near_miss) {
  out << "rank,smid,half,far_share,near_miss_share\n";
  for (size_t rank = 0; rank < map.half_of_rank.size(); ++rank) {
    out << rank << ',' << sms.smids()[rank] << ',' << map.half_of_rank[rank] << ','
        << map.far_share[rank] << ',';
    if (rank < near_miss.size()) out << near_miss[rank];
    out << '\n';
  }
}

void write_line_halves_csv(std::ostream& out, const kernels::L2HalfMap& map) {
  out << "line,half\n";
  for (size_t line = 0; line < map.half_of_line.size(); ++line) {
    out << line << ',' << map.half_of_line[line] << '\n';
  }
}

}  // namespace sawtooth::experiments
