#include "experiments/sawtooth/calibrate/calibration.hpp"

#include <algorithm>

#include "experiments/sawtooth/calibrate/l2_half_report.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int l2_repeats = 200;

double gb_per_s(double bytes, double us) {
  return bytes / us / 1e3;
}

void add_bandwidths(std::vector<Figure>& figures, StreamCampaign& campaign) {
  const int64_t small_mib = std::max<int64_t>(1, (campaign.l2().l2_bytes() >> 20) / 4);
  const auto small_bytes = double(small_mib << 20);
  const double own = campaign.time_us({.mib = small_mib}, l2_repeats)[1];
  figures.push_back({"l2_bandwidth", gb_per_s(small_bytes * l2_repeats, own), "GB/s",
                     "every SM reads its share of " + std::to_string(small_mib) + " MiB " +
                         std::to_string(l2_repeats) + " times, unprofiled, by events"});
  const double all = campaign.time_us({.shape = StreamShape::all, .mib = small_mib}, l2_repeats)[1];
  const auto sms = double(campaign.streams().sms().count());
  figures.push_back({"l2_delivered_bandwidth", gb_per_s(small_bytes * l2_repeats * sms, all),
                     "GB/s",
                     "every SM reads all of " + std::to_string(small_mib) +
                         " MiB; the request coalescer serves several SMs at once"});
  const double dram = campaign.time_us({.mib = dram_buffer_mib})[0];
  figures.push_back({"dram_read_bandwidth", gb_per_s(double(dram_buffer_mib << 20), dram), "GB/s",
                     std::to_string(dram_buffer_mib) + " MiB read once, unprofiled, by events"});
}

void add_latencies(std::vector<Figure>& figures, const kernels::L2HalfMap& map) {
  const kernels::Latencies& t = map.latencies;
  const std::string how = "pointer chase, median, SM clock by the global timer; ";
  const auto add = [&](const std::string& name, double cycles, double ns, const std::string& what) {
    if (cycles == 0) return;
    figures.push_back({name + "_cycles", cycles, "cycles", how + what});
    figures.push_back({name + "_ns", ns, "ns", how + what});
  };
  add("latency_near", t.near_cycles, t.near_ns, "lines read before from the same SM");
  add("latency_far", t.far_cycles, t.far_ns, "lines of the other half, first read from this half");
  add("latency_dram", t.dram_cycles, t.dram_ns, "lines that are in no half of L2");
  figures.push_back({"halves", double(map.halves), "1",
                     "first reads after another SM's: all near, or half of them across a fabric"});
}

}  // namespace

Calibration run_calibration(StreamCampaign& campaign, int repetitions,
                            const std::function<void(const std::string&)>& report) {
  Calibration result;
  const int64_t l2_bytes = campaign.l2().l2_bytes();
  report("halves of L2 and latencies");
  result.halves = kernels::map_l2_halves(campaign.streams().sms(), campaign.l2());
  result.near_miss_share = near_miss_share_by_sm(campaign);

  const std::vector<StreamPoint> points = stream_points(l2_bytes, kernels::stream_has_tma());
  campaign.run(points.front(), 0);  // first use of kernels and metrics: not kept
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    report(std::to_string(points.size()) + " streams, repetition " +
           std::to_string(repetition + 1) + " of " + std::to_string(repetitions));
    for (const StreamPoint& point : points) {
      for (StreamRow& row : campaign.run(point, repetition)) result.rows.push_back(std::move(row));
    }
  }
  report("bandwidths");
  result.figures = stream_figures(result.rows, l2_bytes);
  add_latencies(result.figures, result.halves);
  add_bandwidths(result.figures, campaign);

  result.checks = check_streams(result.rows, l2_bytes);
  result.checks.push_back(check_halves_agree(result.halves, result.near_miss_share));
  return result;
}

}  // namespace sawtooth::experiments
