#include "experiments/sawtooth/calibrate/stream_checks.hpp"

#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/calibrate/stream_rows.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t l2_bytes = int64_t{60} << 20;

// The tolerance is 0.005 of the compulsory sectors: both sides of it.
TEST(StreamChecks, AColdReadMayMissTheCompulsorySectorsByHalfAPercent) {
  for (const double off : {-0.004, 0.0, 0.004}) {
    EXPECT_TRUE(
        check_cold_is_compulsory({read_row(StreamShape::same, false, 64, "p1", 1 + off)}, l2_bytes)
            .passed)
        << off;
  }
  for (const double off : {-0.006, 0.006}) {
    EXPECT_FALSE(
        check_cold_is_compulsory({read_row(StreamShape::same, false, 64, "p1", 1 + off)}, l2_bytes)
            .passed)
        << off;
  }
}

TEST(StreamChecks, AHotSmallBufferReadsNothingAndALargeOneIsNotAsked) {
  EXPECT_TRUE(
      check_hot_is_free({read_row(StreamShape::same, false, 8, "p2", 0.0009)}, l2_bytes).passed);
  EXPECT_FALSE(
      check_hot_is_free({read_row(StreamShape::same, false, 8, "p2", 0.0011)}, l2_bytes).passed);
  EXPECT_TRUE(check_hot_is_free({read_row(StreamShape::same, false, 8, "p2", 0),
                                 read_row(StreamShape::same, false, 64, "p2", 1)},
                                l2_bytes)
                  .passed);
}

// 64 MiB are 2097152 sectors; 1 % of them is 20971 sectors.
TEST(StreamChecks, TheDramIdentityHoldsWithinOnePercent) {
  StreamRow row = read_row(StreamShape::same, false, 64, "p1", 1);
  set(row, L2Counter::l2_read_miss, 2097152 + 20900);
  EXPECT_TRUE(check_dram_identity({row}, l2_bytes).passed);
  set(row, L2Counter::l2_read_miss, 2097152 + 21100);
  EXPECT_FALSE(check_dram_identity({row}, l2_bytes).passed);
}

TEST(StreamChecks, WithoutAFabricEveryMissIsADramRead) {
  StreamRow row = read_row(StreamShape::same, false, 64, "p1", 1);
  row.counts[static_cast<size_t>(L2Counter::fabric_read)].reset();
  row.counts[static_cast<size_t>(L2Counter::fabric_read_miss)].reset();
  EXPECT_TRUE(check_dram_identity({row}, l2_bytes).passed);
}

// On unified memory fills stand for DRAM, and either kind of fill may be the real one.
TEST(StreamChecks, FillsStandForDramWhereAChipHasNoDramCounters) {
  StreamRow row = read_row(StreamShape::same, false, 64, "p1", 1);
  row.counts[static_cast<size_t>(L2Counter::dram_read)].reset();
  set(row, L2Counter::fill_device, 97152);
  set(row, L2Counter::fill_system, 2000000);
  EXPECT_EQ(dram_reads(row), 2097152);
  EXPECT_TRUE(check_cold_is_compulsory({row}, l2_bytes).passed);
}

// 0.01 of the sectors off the cliff, 0.06 on it (27 to 48 MiB of a 60 MiB L2).
TEST(StreamChecks, RepetitionsAndPassesMayDifferMoreOnTheCliff) {
  const auto pair = [](int64_t mib, double difference) {
    return std::vector{read_row(StreamShape::same, false, mib, "p2", 0.5, 0),
                       read_row(StreamShape::same, false, mib, "p2", 0.5 + difference, 1)};
  };
  EXPECT_TRUE(check_repeats(pair(64, 0.009), l2_bytes).passed);
  EXPECT_FALSE(check_repeats(pair(64, 0.011), l2_bytes).passed);
  EXPECT_TRUE(check_repeats(pair(40, 0.05), l2_bytes).passed);
  EXPECT_FALSE(check_repeats(pair(40, 0.07), l2_bytes).passed);
}

// Of ten readings one at each end does not count, of nine all do.
TEST(StreamChecks, OneDisturbedReadingOfTenIsNoSpread) {
  const auto readings = [](int count, int disturbed) {
    std::vector<StreamRow> rows;
    for (int i = 0; i < count; ++i)
      rows.push_back(read_row(StreamShape::same, false, 128, "p2", i < disturbed ? 0.99 : 0.9, i));
    return rows;
  };
  EXPECT_TRUE(check_repeats(readings(10, 1), l2_bytes).passed);
  EXPECT_FALSE(check_repeats(readings(10, 2), l2_bytes).passed);
  EXPECT_FALSE(check_repeats(readings(9, 1), l2_bytes).passed);
}

// 48 MiB of 60 still lie on the cliff, 56 do not.
TEST(StreamChecks, TheCliffEndsAfter48Of60Mib) {
  const auto differing = [](int64_t mib) {
    return std::vector{read_row(StreamShape::same, false, mib, "p2", 0.9, 0),
                       read_row(StreamShape::same, false, mib, "p2", 0.95, 1)};
  };
  EXPECT_TRUE(check_repeats(differing(48), l2_bytes).passed);
  EXPECT_FALSE(check_repeats(differing(56), l2_bytes).passed);
}

// Identity off by 30000 of 1310720 / 2 sectors (4.6 %), 1 % of which is 6553: on the cliff the rest
// is allowed when twice the difference of the passes covers it, 2 * 11724 >= 23447 > 2 * 11723.
TEST(StreamChecks, OnTheCliffAnIdentityMayBeOffByWhatThePassesDiffer) {
  StreamRow row = read_row(StreamShape::same, false, 40, "p2", 0.5);
  set(row, L2Counter::l2_read_miss, 655360 + 30000);
  EXPECT_FALSE(check_dram_identity({row}, l2_bytes).passed);
  row.dram_read_by_pass = {655360, 655360 - 11724};
  EXPECT_TRUE(check_dram_identity({row}, l2_bytes).passed);
  row.dram_read_by_pass = {655360, 655360 - 11723};
  EXPECT_FALSE(check_dram_identity({row}, l2_bytes).passed);
}

// 5 % off on 64 MiB, passes that differ by as much: off the cliff that is no excuse.
TEST(StreamChecks, OffTheCliffDifferentPassesExcuseNothing) {
  StreamRow row = read_row(StreamShape::same, false, 64, "p2", 0.5);
  set(row, L2Counter::l2_read_miss, 1048576 + 52429);
  row.dram_read_by_pass = {1048576, 1048576 - 52429};
  EXPECT_FALSE(check_dram_identity({row}, l2_bytes).passed);
}

// Fills belong to one of the passes; to none of them they must not.
TEST(StreamChecks, FillsAreHeldAgainstThePassTheyWereCountedIn) {
  StreamRow row = read_row(StreamShape::same, false, 40, "p2", 0.5);
  row.dram_read_by_pass = {655360, 700000};
  set(row, L2Counter::fill_device, 699000);
  EXPECT_TRUE(check_fills({row}).passed);
  set(row, L2Counter::fill_device, 680000);
  EXPECT_FALSE(check_fills({row}).passed);
}

// Off the small buffers every pass of every repetition counts: 0.6 % in one is a failure.
TEST(StreamChecks, OneColdPassOfALargeBufferThatReadsMoreFails) {
  StreamRow row = read_row(StreamShape::same, false, 16, "p1", 1);
  row.dram_read_by_pass = {524288, 524288, 524288 + 3200};
  EXPECT_FALSE(check_cold_is_compulsory({row}, l2_bytes).passed);
}

// One of three repetitions with background traffic does not spoil the median; two do.
TEST(StreamChecks, AColdReadIsJudgedByTheMedianOfItsRepetitions) {
  const auto reading = [](double share, int repetition) {
    return read_row(StreamShape::one, false, 8, "p1", share, repetition);
  };
  EXPECT_TRUE(
      check_cold_is_compulsory({reading(1, 0), reading(1.01, 1), reading(1, 2)}, l2_bytes).passed);
  EXPECT_FALSE(
      check_cold_is_compulsory({reading(1, 0), reading(1.01, 1), reading(1.01, 2)}, l2_bytes)
          .passed);
}

TEST(StreamChecks, SmsMayReadAFewSectorsOfTheirOwn) {
  StreamRow row = read_row(StreamShape::all, false, 64, "p1", 1);
  set(row, L2Counter::sm_read, row.expected_sectors + 512);
  EXPECT_TRUE(check_sm_sectors({row}).passed);
  set(row, L2Counter::sm_read, row.expected_sectors + 513);
  EXPECT_FALSE(check_sm_sectors({row}).passed);
  set(row, L2Counter::sm_read, row.expected_sectors - 513);
  EXPECT_FALSE(check_sm_sectors({row}).passed);
}

TEST(StreamChecks, ReplayPassesThatDriftApartAreSeen) {
  StreamRow row = read_row(StreamShape::same, false, 64, "p2", 1);
  row.dram_read_by_pass = {2097152, 2097152 - 30000};
  EXPECT_FALSE(check_repeats({row}, l2_bytes).passed);
}

TEST(StreamChecks, ACheckThatSawNoRowHasNotPassed) {
  for (const CheckLine& check : check_streams({}, l2_bytes))
    EXPECT_FALSE(check.passed) << check.name;
}

}  // namespace
}  // namespace sawtooth::experiments
