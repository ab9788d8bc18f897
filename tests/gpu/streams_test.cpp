#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "experiments/sawtooth/calibrate/calibration.hpp"
#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "kernels/stream/stream.hpp"
#include "tests/gpu/counters_available.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;
using kernels::StreamAccess;

constexpr int64_t mib = 8;
constexpr int64_t l2_bytes = int64_t{60} << 20;  // only says that 8 MiB are small
constexpr int64_t sectors = mib << 15;           // 32 bytes each

struct Campaign {
  StreamCampaign streams{mib};
  int64_t sms() { return streams.streams().sms().count(); }
};

class StreamsOnGpu : public CountersOnGpu<Campaign> {
 protected:
  static std::array<StreamRow, 2> run(StreamPoint point) {
    point.mib = mib;
    return shared().streams.run(point, 0);
  }
  static std::vector<StreamAccess> reads() {
    std::vector<StreamAccess> accesses{StreamAccess::ld};
    if (kernels::stream_has_tma()) accesses.push_back(StreamAccess::tma);
    return accesses;
  }
};

/// The median is over the replay passes of a reading: something else on the GPU reads up to 400
/// sectors in some of them (2 of 120 on an H100; the others have 0 to 176 of the 262,144).
int64_t median_dram_reads(const StreamRow& row) {
  std::vector<int64_t> passes = row.dram_read_by_pass;
  const auto middle = passes.begin() + std::ptrdiff_t(passes.size() / 2);
  std::ranges::nth_element(passes, middle);
  return *middle;
}

TEST_F(StreamsOnGpu, AFirstReadIsColdAndASecondOneOfASmallBufferIsHot) {
  for (const StreamAccess access : reads()) {
    for (const StreamShape shape : {StreamShape::same, StreamShape::shift, StreamShape::all}) {
      const auto [cold, hot] = run({.access = access, .shape = shape});
      EXPECT_NEAR(double(dram_reads(cold).value()) / double(sectors), 1, 0.005);
      ASSERT_GT(hot.dram_read_by_pass.size(), 2U);
      EXPECT_LT(double(median_dram_reads(hot)) / double(sectors), 0.001);
    }
  }
}

// Each SM also reads its rank and its launch parameters: less than four sectors.
TEST_F(StreamsOnGpu, SmsReceiveTheBufferOnceOrOnceAnSm) {
  for (const StreamAccess access : reads()) {
    for (const StreamShape shape :
         {StreamShape::same, StreamShape::shift, StreamShape::one, StreamShape::all}) {
      const int64_t readers = shape == StreamShape::all ? shared().sms() : 1;
      for (const StreamRow& row : run({.access = access, .shape = shape})) {
        EXPECT_EQ(row.expected_sectors, sectors * readers);
        const int64_t received = row.count(L2Counter::sm_read).value();
        EXPECT_GE(received, row.expected_sectors);
        EXPECT_LE(received, row.expected_sectors + 4 * shared().sms());
      }
    }
  }
}

TEST_F(StreamsOnGpu, TheIdentityOfTheCountersHoldsOnColdAndHotPasses) {
  std::vector<StreamRow> rows;
  for (const StreamShape shape : {StreamShape::same, StreamShape::all})
    for (const bool reversed : {false, true})
      for (StreamRow& row : run({.shape = shape, .reversed = reversed})) rows.push_back(row);
  for (const char* check : {"identity", "fills"})
    EXPECT_TRUE(all_passed(check_streams(rows, l2_bytes, check)))
        << checks_text(check_streams(rows, l2_bytes, check));
}

TEST_F(StreamsOnGpu, EveryReplayPassShowsItsDramAndSmSectors) {
  for (const StreamRow& row : run({})) {
    EXPECT_EQ(static_cast<int64_t>(row.sm_read_by_pass.size()), row.replay_passes);
    EXPECT_EQ(row.sm_read_by_pass.front(), row.count(L2Counter::sm_read));
    if (!row.count(L2Counter::dram_read)) continue;
    EXPECT_EQ(static_cast<int64_t>(row.dram_read_by_pass.size()), row.replay_passes);
    EXPECT_EQ(row.dram_read_by_pass.front(), row.count(L2Counter::dram_read));
  }
}

TEST_F(StreamsOnGpu, AWrittenSectorIsWrittenOnceAndReadNever) {
  for (const StreamRow& row : run({.access = StreamAccess::write})) {
    EXPECT_EQ(row.count(L2Counter::l2_write), sectors);
    EXPECT_LE(row.count(L2Counter::sm_read).value(), 4 * shared().sms());
  }
}

// One launch there and back from a cold L2: the way back finds all of a small buffer in L2.
TEST_F(StreamsOnGpu, ThereAndBackReadsEverySectorTwiceAndMemoryOnce) {
  StreamCampaign& campaign = shared().streams;
  cupti::RangeProfiler& profiler = campaign.profiler();
  const kernels::DeviceBuffer buffer(mib << 20);
  const std::string received{cupti::metric_for(profiler.chip(), L2Counter::sm_read).metric};
  const std::string fills{cupti::metric_for(profiler.chip(), L2Counter::fill_device).metric};
  for (const StreamAccess access : reads()) {
    const kernels::StreamPass pass{.access = access, .repeats = 2, .there_and_back = true};
    const cupti::Reading reading = profiler.measure(
        profiler.plan({received, fills}), [&] { campaign.l2().flush(); },
        {{"run", [&] { campaign.streams().launch(pass, buffer.as<>(), buffer.bytes()); }}});
    const cupti::RangeReading& range = reading.ranges[0];
    EXPECT_NEAR(double(range.count(received).value()) / double(2 * sectors), 1, 0.002);
    EXPECT_NEAR(double(range.count(fills).value()) / double(sectors), 1, 0.005);
  }
}

// CUPTI keeps caches in host memory; device memory does not grow.
TEST_F(StreamsOnGpu, TwoHundredPointsTakeUnderHalfASecondEachAndNoDeviceMemory) {
  StreamCampaign& campaign = shared().streams;
  cupti::RangeProfiler& profiler = campaign.profiler();
  const kernels::DeviceBuffer buffer(mib << 20);
  const cupti::MetricPlan plan = profiler.plan(
      cupti::metrics_for(profiler.chip(), std::array{L2Counter::l2_read_miss, L2Counter::l2_read}));
  const auto measure = [&](int points) {
    for (int i = 0; i < points; ++i)
      profiler.measure(
          plan, [&] { campaign.l2().flush(); },
          {{"run", [&] { campaign.streams().launch({}, buffer.as<>(), buffer.bytes()); }}});
    size_t free_bytes = 0, total = 0;
    SAWTOOTH_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    return free_bytes;
  };
  const size_t before = measure(5);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_GE(measure(200), before);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

TEST_F(StreamsOnGpu, SucceedAfterAFailedCallOfTheCaller) {
  const kernels::DeviceBuffer buffer(mib << 20);
  for (const StreamAccess access : reads()) {
    ASSERT_NE(cudaSetDevice(-1), cudaSuccess);
    EXPECT_NO_THROW(
        shared().streams.streams().launch({.access = access}, buffer.as<>(), buffer.bytes()));
    cudaGetLastError();
  }
  ASSERT_NE(cudaSetDevice(-1), cudaSuccess);
  EXPECT_NO_THROW(shared().streams.l2().flush());
  cudaGetLastError();
}

TEST_F(StreamsOnGpu, BadPassesAreRefusedBeforeTheyRun) {
  kernels::Streams& streams = shared().streams.streams();
  const kernels::DeviceBuffer buffer(mib << 20);
  EXPECT_THROW(streams.launch({}, buffer.as<>(), 100), std::invalid_argument);
  EXPECT_THROW(streams.launch({}, nullptr, buffer.bytes()), std::invalid_argument);
  EXPECT_THROW(streams.launch({.repeats = 0}, buffer.as<>(), buffer.bytes()),
               std::invalid_argument);
  EXPECT_THROW(streams.launch({.rank = streams.sms().count()}, buffer.as<>(), buffer.bytes()),
               std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::experiments
