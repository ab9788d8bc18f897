// The recorded readings of an H200 hold what stream counters must hold on any GPU.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "experiments/sawtooth/calibrate/stream_checks.hpp"
#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "experiments/sawtooth/calibrate/stream_table.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t l2_bytes = int64_t{60} << 20;
const std::string recorded = SAWTOOTH_EXPERIMENTS_DIR "/data/h200/streams/stream_counters.csv";

TEST(MeasuredH200, TheCountersAgreeWithEachOther) {
  const std::vector<StreamRow> rows = read_stream_csv(recorded);
  for (const CheckLine& check :
       {check_cold_is_compulsory(rows, l2_bytes), check_hot_is_free(rows, l2_bytes),
        check_dram_identity(rows, l2_bytes), check_fills(rows), check_sm_sectors(rows),
        check_repeats(rows, l2_bytes)}) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
  }
}

// What all SMs read lies in both halves (30 MiB at most); what each SM reads alone lies twice for
// half of its lines (40 MiB at most).
TEST(MeasuredH200, KeepsAlmostWhatTwoHalvesWithCopiesCanHold) {
  const std::vector<Figure> figures = stream_figures(read_stream_csv(recorded), l2_bytes);
  const Figure* shared = find_figure(figures, "shared_kept");
  const Figure* own = find_figure(figures, "private_kept");
  ASSERT_NE(shared, nullptr);
  ASSERT_NE(own, nullptr);
  EXPECT_GT(shared->value, 0.9 * 30);
  EXPECT_LE(shared->value, 30);
  EXPECT_GT(own->value, 0.9 * 40);
  EXPECT_LE(own->value, 40);
}

TEST(MeasuredH200, WhatIsWrittenIsReadBack) {
  const std::vector<StreamRow> rows = read_stream_csv(recorded);
  const std::string path = ::testing::TempDir() + "streams.csv";
  {
    std::ofstream out(path);
    write_stream_csv(out, rows);
  }
  const std::vector<StreamRow> again = read_stream_csv(path);
  ASSERT_EQ(again.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(again[i].counts, rows[i].counts);
    EXPECT_EQ(again[i].dram_read_by_pass, rows[i].dram_read_by_pass);
    EXPECT_EQ(again[i].range, rows[i].range);
  }
}

TEST(StreamTable, AnUnknownKindIsRefusedWithFileAndLine) {
  const std::string path = ::testing::TempDir() + "wrong.csv";
  std::ofstream(path) << "set,mode,kind,flush,n_mib,pattern,map,range,expected\n"
                         "full,user_split,lds,both,8,linear,same,p1,262144\n";
  try {
    read_stream_csv(path);
    FAIL() << "lds is no kind";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("wrong.csv:2: kind is 'lds'"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace sawtooth::experiments
