#include "experiments/sawtooth/calibrate/stream_campaign.hpp"

#include <chrono>
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

}  // namespace sawtooth::experiments
