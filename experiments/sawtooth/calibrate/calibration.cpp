#include "experiments/sawtooth/calibrate/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string_view>

#include "kernels/common/event_pair.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;
using kernels::StreamMap;

void fill_counts(StreamRow& row, std::string_view chip, const cupti::RangeReading& range) {
  for (const cupti::L2CounterInfo& info : cupti::l2_counters()) {
    const cupti::MetricChoice choice = cupti::metric_for(chip, info.counter);
    if (!choice.available()) continue;
    row.counts[static_cast<size_t>(info.counter)] = range.count(choice.metric);
  }
  const auto by_pass = [&](L2Counter counter) {
    const cupti::MetricChoice choice = cupti::metric_for(chip, counter);
    return choice.available() ? range.counts_by_pass(choice.metric) : std::vector<int64_t>{};
  };
  row.dram_read_by_pass = by_pass(L2Counter::dram_read);
  row.sm_read_by_pass = by_pass(L2Counter::sm_read);
}

}  // namespace

StreamCampaign::StreamCampaign(int64_t largest_mib)
    : buffer_(largest_mib * mib_bytes),
      plan_(profiler_.plan(cupti::metrics_for(profiler_.chip(), stream_counters()),
                           cupti::metrics_for(profiler_.chip(), cupti::witness_counters()))) {
  SAWTOOTH_CUDA_CHECK(cudaMemset(buffer_.as<>(), 0, static_cast<size_t>(buffer_.bytes())));
}

kernels::StreamPass StreamCampaign::pass(const StreamPoint& point, int number) const {
  kernels::StreamPass pass{.access = point.access, .reversed = number == 1 && point.reversed};
  if (point.shape == StreamShape::all) pass.map = StreamMap::all;
  if (point.shape == StreamShape::one) pass.map = StreamMap::one;
  if (point.shape == StreamShape::shift) pass.shift = number;
  return pass;
}

std::array<StreamRow, 2> StreamCampaign::run(const StreamPoint& point, int repetition) {
  const int64_t bytes = point.mib * mib_bytes;
  const auto launch = [&](int number) {
    return [this, &point, number, bytes] {
      streams_.launch(pass(point, number), buffer_.as<>(), bytes);
    };
  };
  const auto begin = std::chrono::steady_clock::now();
  const cupti::Reading reading =
      profiler_.measure(plan_, [this] { l2_.flush(); }, {{"p1", launch(0)}, {"p2", launch(1)}});
  const auto end = std::chrono::steady_clock::now();
  streams_.sms().check_spread();

  const int64_t readers = point.shape == StreamShape::all ? streams_.sms().count() : 1;
  std::array<StreamRow, 2> rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    StreamRow& row = rows[i];
    row.point = point;
    row.range = reading.ranges[i].name;
    row.repetition = repetition;
    row.buffer_sectors = bytes / sector_bytes;
    row.expected_sectors = row.buffer_sectors * readers;
    row.replay_passes = reading.replay_passes;
    row.wall_ms = std::chrono::duration<double, std::milli>(end - begin).count();
    fill_counts(row, profiler_.chip(), reading.ranges[i]);
  }
  return rows;
}

std::array<double, 2> StreamCampaign::time_us(const StreamPoint& point, int repeats) {
  kernels::EventPair events;
  std::array<double, 2> times{};
  l2_.flush();
  for (int number = 0; number < 2; ++number) {
    kernels::StreamPass timed = pass(point, number);
    timed.repeats = repeats;
    times[static_cast<size_t>(number)] =
        events.time_us([&] { streams_.launch(timed, buffer_.as<>(), point.mib * mib_bytes); });
  }
  streams_.sms().check_spread();
  return times;
}

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

std::vector<double> near_miss_share_by_sm(StreamCampaign& campaign) {
  constexpr int64_t probe_bytes = int64_t{1} << 20;
  cupti::RangeProfiler& profiler = campaign.profiler();
  const std::string metric(
      cupti::metric_for(profiler.chip(), cupti::L2Counter::l2_read_miss).metric);
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

/// Latencies and counters put every SM at the same half.
CheckLine check_halves_agree(const Calibration& calibration) {
  constexpr double across_share = 0.25;  // halfway between 0 and 0.5
  const kernels::L2HalfMap& map = calibration.halves;
  const std::vector<double>& near_miss = calibration.near_miss_share;
  size_t agree = 0;
  int across = 0;
  for (size_t rank = 0; rank < near_miss.size(); ++rank) {
    const int by_counter = near_miss[rank] > across_share ? 1 : 0;
    across += by_counter;
    if (by_counter == map.half_of_rank[rank]) ++agree;
  }
  return {"halves", agree == near_miss.size(),
          "latencies and counters agree on " + std::to_string(agree) + " of " +
              std::to_string(near_miss.size()) + " SMs; " + std::to_string(across) +
              " sit across from the first; halves: " + std::to_string(map.halves)};
}

}  // namespace

std::string sm_halves_csv(const kernels::SmRanks& sms, const Calibration& calibration) {
  std::ostringstream out;
  out << "rank,smid,half,far_share,near_miss_share\n";
  for (size_t rank = 0; rank < calibration.halves.half_of_rank.size(); ++rank) {
    out << rank << ',' << sms.smids()[rank] << ',' << calibration.halves.half_of_rank[rank] << ','
        << calibration.halves.far_share[rank] << ',';
    if (rank < calibration.near_miss_share.size()) out << calibration.near_miss_share[rank];
    out << '\n';
  }
  return out.str();
}

std::string line_halves_csv(const kernels::L2HalfMap& map) {
  std::ostringstream out;
  out << "line,half\n";
  for (size_t line = 0; line < map.half_of_line.size(); ++line)
    out << line << ',' << map.half_of_line[line] << '\n';
  return out.str();
}

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
    for (const StreamPoint& point : points)
      for (StreamRow& row : campaign.run(point, repetition)) result.rows.push_back(std::move(row));
  }
  report("bandwidths");
  result.figures = stream_figures(result.rows, l2_bytes);
  add_latencies(result.figures, result.halves);
  add_bandwidths(result.figures, campaign);

  result.checks = check_streams(result.rows, l2_bytes);
  result.checks.push_back(check_halves_agree(result));
  return result;
}

}  // namespace sawtooth::experiments
