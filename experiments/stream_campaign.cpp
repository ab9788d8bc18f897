#include "experiments/stream_campaign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <string_view>

#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;
using kernels::StreamAccess;
using kernels::StreamMap;

constexpr int64_t mib_bytes = int64_t{1} << 20;

// Chosen on a 60 MiB L2; other sizes of L2 scale them.
constexpr int64_t reference_l2_mib = 60;
constexpr std::array<int64_t, 14> reference_sizes{8,  16, 24, 28, 32, 36, 40,
                                                  44, 48, 56, 64, 80, 96, 128};
constexpr std::array<int64_t, 7> coarse_sizes{8, 16, 32, 40, 48, 64, 96};

int64_t scaled_mib(int64_t reference, int64_t l2_bytes) {
  const double share = double(l2_bytes) / double(reference_l2_mib * mib_bytes);
  return std::max<int64_t>(1, std::llround(double(reference) * share));
}

// Miss counters first: each lookup class opens a replay pass of its own.
constexpr std::array campaign_counters{
    L2Counter::l2_read_miss,  L2Counter::fabric_read_miss, L2Counter::all_read_miss,
    L2Counter::l2_write_miss, L2Counter::dram_write,       L2Counter::l2_read,
    L2Counter::fabric_read,   L2Counter::all_read,         L2Counter::l2_write,
    L2Counter::coalescer_in,  L2Counter::coalescer_out,    L2Counter::coalescer_shared,
    L2Counter::fill_device,   L2Counter::fill_system,      L2Counter::fabric_read_hit,
};

struct Column {
  std::string_view name;
  L2Counter counter;
};
constexpr std::array columns{
    Column{"tex_read", L2Counter::l2_read},
    Column{"tex_miss", L2Counter::l2_read_miss},
    Column{"tex_write", L2Counter::l2_write},
    Column{"tex_write_miss", L2Counter::l2_write_miss},
    Column{"all_read", L2Counter::all_read},
    Column{"all_miss", L2Counter::all_read_miss},
    Column{"fab_read", L2Counter::fabric_read},
    Column{"fab_hit", L2Counter::fabric_read_hit},
    Column{"fab_miss", L2Counter::fabric_read_miss},
    Column{"fill_dev", L2Counter::fill_device},
    Column{"fill_sys", L2Counter::fill_system},
    Column{"dram_read", L2Counter::dram_read},
    Column{"dram_write", L2Counter::dram_write},
    Column{"l1_xbar", L2Counter::sm_read},
    Column{"lrc_in", L2Counter::coalescer_in},
    Column{"lrc_out", L2Counter::coalescer_out},
    Column{"lrc_shared", L2Counter::coalescer_shared},
    Column{"time_ns", L2Counter::duration_ns},
};

std::string joined(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) {
    if (!text.empty()) text += ';';
    text += std::to_string(value);
  }
  return text;
}

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

/// Two events around a launch.
class EventPair {
 public:
  EventPair() {
    SAWTOOTH_CUDA_CHECK(cudaEventCreate(&begin_));
    SAWTOOTH_CUDA_CHECK(cudaEventCreate(&end_));
  }
  ~EventPair() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  EventPair(const EventPair&) = delete;
  EventPair& operator=(const EventPair&) = delete;

  template <class Launch>
  double time_us(Launch&& launch) {
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(begin_));
    launch();
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(end_));
    SAWTOOTH_CUDA_CHECK(cudaEventSynchronize(end_));
    float milliseconds = 0;
    SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e3 * double(milliseconds);
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

std::vector<int64_t> stream_sizes_mib(int64_t l2_bytes) {
  std::vector<int64_t> sizes;
  for (const int64_t size : reference_sizes) sizes.push_back(scaled_mib(size, l2_bytes));
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<StreamPoint> stream_points(int64_t l2_bytes, bool tma) {
  std::vector<StreamPoint> points;
  const auto add = [&](StreamAccess access, StreamShape shape, auto&& sizes) {
    for (const int64_t mib : sizes) {
      for (const bool reversed : {false, true}) points.push_back({access, shape, reversed, mib});
    }
  };
  const std::vector<int64_t> fine = stream_sizes_mib(l2_bytes);
  std::vector<int64_t> coarse;
  for (const int64_t size : coarse_sizes) coarse.push_back(scaled_mib(size, l2_bytes));
  coarse.erase(std::unique(coarse.begin(), coarse.end()), coarse.end());

  add(StreamAccess::ld, StreamShape::same, fine);
  add(StreamAccess::ld, StreamShape::all, fine);
  add(StreamAccess::ld, StreamShape::shift, fine);
  add(StreamAccess::ld, StreamShape::one, coarse);
  add(StreamAccess::write, StreamShape::same, coarse);
  if (tma) {
    add(StreamAccess::tma, StreamShape::same, coarse);
    add(StreamAccess::tma, StreamShape::all, coarse);
  }
  return points;
}

StreamCampaign::StreamCampaign(int64_t largest_mib)
    : buffer_(largest_mib * mib_bytes),
      plan_(profiler_.plan(cupti::metrics_for(profiler_.chip(), campaign_counters),
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
  EventPair events;
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

void write_stream_csv(std::ostream& out, const std::vector<StreamRow>& rows) {
  out << "set,mode,kind,flush,n_mib,pattern,map,range,reps,repetition,expected";
  for (const Column& column : columns) out << ',' << column.name;
  out << ",dram_read_by_pass,l1_xbar_by_pass,replay_passes,wall_ms\n";
  for (const StreamRow& row : rows) {
    out << "full,user_split," << kernels::stream_access_names[static_cast<size_t>(row.point.access)]
        << ",both," << row.point.mib << ',' << (row.point.reversed ? "sawtooth" : "linear") << ','
        << stream_shape_names[static_cast<size_t>(row.point.shape)] << ',' << row.range << ",1,"
        << row.repetition << ',' << row.expected_sectors;
    for (const Column& column : columns) {
      out << ',';
      if (const auto count = row.count(column.counter)) out << *count;
    }
    out << ',' << joined(row.dram_read_by_pass) << ',' << joined(row.sm_read_by_pass) << ','
        << row.replay_passes << ',' << row.wall_ms << '\n';
  }
}

}  // namespace sawtooth::experiments
