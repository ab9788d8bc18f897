#include "experiments/sawtooth/calibrate/stream_figures.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "experiments/sawtooth/calibrate/stream_row.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "tests/experiments/sawtooth/calibrate/stream_rows.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t l2_bytes = int64_t{60} << 20;

double value(const std::vector<Figure>& figures, std::string_view name) {
  const Figure* figure = find_figure(figures, name);
  EXPECT_NE(figure, nullptr) << name;
  return figure == nullptr ? 0 : figure->value;
}

// A cache that keeps 37.5 MiB of N reads N - 37.5 of it again: 26.5 of 64 and 58.5 of 96.
TEST(StreamFigures, WhatAReversedSecondPassDoesNotReadWasKept) {
  const auto figures = stream_figures(
      {read_row(StreamShape::same, true, 64, "p2", 26.5 / 64),
       read_row(StreamShape::same, true, 96, "p2", 58.5 / 96),
       read_row(StreamShape::same, true, 8, "p2", 0)},  // too small to tell: not used
      l2_bytes);
  EXPECT_NEAR(value(figures, "private_kept"), 37.5, 1e-4);
  EXPECT_EQ(find_figure(figures, "shared_kept"), nullptr);
}

// Shares 0, 0.2, 1 at 32, 40, 48 MiB: 10 % is halfway from 32 to 40, 90 % is 7/8 of 40 to 48.
TEST(StreamFigures, TheEdgeIsInterpolatedBetweenSizes) {
  const auto figures = stream_figures({read_row(StreamShape::same, false, 32, "p2", 0),
                                       read_row(StreamShape::same, false, 40, "p2", 0.2),
                                       read_row(StreamShape::same, false, 48, "p2", 1)},
                                      l2_bytes);
  EXPECT_NEAR(value(figures, "private_edge_10"), 36, 1e-3);
  EXPECT_NEAR(value(figures, "private_edge_90"), 47, 1e-3);
}

TEST(StreamFigures, TheFarHalfsShareIsFabricMissesOverDramReads) {
  StreamRow row = read_row(StreamShape::all, false, 64, "p1", 1);
  set(row, L2Counter::fabric_read_miss, 419430);  // 0.2 of 2097152
  EXPECT_NEAR(value(stream_figures({row}, l2_bytes), "far_first_share"), 0.2, 1e-6);
}

TEST(StreamFigures, TheCoalescerIsL2ReadsOverSmReads) {
  StreamRow row = read_row(StreamShape::all, false, 64, "p1", 1);
  set(row, L2Counter::l2_read, row.expected_sectors / 4);
  const auto figures =
      stream_figures({row, read_row(StreamShape::all, false, 64, "p2", 1)}, l2_bytes);
  EXPECT_NEAR(value(figures, "coalescer_all_low"), 0.25, 1e-9);
  EXPECT_NEAR(value(figures, "coalescer_all_high"), 1, 1e-9);
}

TEST(StreamPoints, SizesAreThoseOfA60MibL2AndScaleWithIt) {
  EXPECT_EQ(stream_sizes_mib(l2_bytes),
            (std::vector<int64_t>{8, 16, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96, 128}));
  // 24 MiB (GB10): 0.4 of each, rounded: 3.2, 6.4, 9.6, 11.2, 12.8, 14.4, 16, 17.6, 19.2, 22.4 ...
  EXPECT_EQ(stream_sizes_mib(int64_t{24} << 20),
            (std::vector<int64_t>{3, 6, 10, 11, 13, 14, 16, 18, 19, 22, 26, 32, 38, 51}));
}

TEST(StreamPoints, WithoutBulkCopiesNoPointUsesThem) {
  for (const StreamPoint& point : stream_points(l2_bytes, false)) {
    EXPECT_NE(point.access, kernels::StreamAccess::tma);
  }
}

TEST(CalibrationProfile, IsAProfileThatTheProgramReads) {
  const std::vector<Figure> figures{{"private_kept", 37.5, "MiB", "how"},
                                    {"shared_kept", 29.25, "MiB", "how"},
                                    {"halves", 2, "1", "how"},
                                    {"latency_near_ns", 153, "ns", "how"},
                                    {"dram_read_bandwidth", 4321.4, "GB/s", "how"}};
  const MeasuredGpu gpu{.description = "NVIDIA H200",
                        .sms = 132,
                        .l2_bytes = l2_bytes,
                        .shared_memory_block_bytes = 232448,
                        .max_sm_clock_mhz = "1980",
                        .how = "driver 580"};
  const std::string path = ::testing::TempDir() + "calibrated.ini";
  std::ofstream(path) << gpu_profile_ini(gpu, figures);
  const GpuFile file = read_gpu_file(path);
  EXPECT_EQ(file.profile.sms, 132);
  EXPECT_EQ(file.profile.l2_bytes, l2_bytes);
  EXPECT_EQ(file.profile.l2_halves, 2);
  EXPECT_EQ(file.profile.latency_near_ns, 153.0);
  EXPECT_EQ(file.profile.dram_gb_per_s, 4321.0);
  EXPECT_EQ(file.profile.latency_far_ns, std::nullopt);  // not measured: not there
  for (const Parameter& parameter : file.parameters) EXPECT_EQ(parameter.source, "measured");
}

}  // namespace
}  // namespace sawtooth::experiments
