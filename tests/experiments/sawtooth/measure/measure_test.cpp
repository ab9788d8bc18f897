// measure, bench and run where there is no GPU: it is hidden from the program.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class WithoutGpu : public testing::Test {
 protected:
  WithoutGpu() { setenv("CUDA_VISIBLE_DEVICES", "", 1); }
  ~WithoutGpu() override { unsetenv("CUDA_VISIBLE_DEVICES"); }
  const TemporaryFolder folder_;
};

int64_t lines_of(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

constexpr const char* sweep = " --gpu h200 --seq 256,512 --scan linear,sawtooth";

TEST_F(WithoutGpu, MeasureAndBenchSaySoInOneLineAndWriteNothing) {
  for (const char* command : {"measure", "bench"}) {
    const Outcome outcome =
        run_program(std::string(command) + sweep + " --csv " + folder_.path("r.csv"));
    EXPECT_EQ(outcome.exit_code, 3) << command;
    EXPECT_EQ(lines_of(outcome.err), 1) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("sawtooth"));
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(folder_.files(), 0u);
  }
}

TEST_F(WithoutGpu, MeasureLeavesAnOldTableAsItIs) {
  folder_.write("r.csv", "an old table\n");
  const std::string measure = std::string("measure") + sweep + " --csv " + folder_.path("r.csv");
  EXPECT_EQ(run_program(measure).exit_code, 2);  // it is no table of results
  EXPECT_EQ(run_program(measure + " --overwrite").exit_code, 3);
  EXPECT_EQ(folder_.read("r.csv"), "an old table\n");
  EXPECT_EQ(folder_.files(), 1u);
}

// 256 and 512 rows in tiles of 128: two and four items.
TEST_F(WithoutGpu, ADryRunNamesKernelsMetricsAndPasses) {
  const Outcome outcome =
      run_program(std::string("measure --dry-run") + sweep + " --csv " + folder_.path("r.csv"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<std::string> points;
  std::stringstream stream(outcome.out);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("point: ")) points.push_back(line);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_THAT(points[0], StartsWith("point: seq 256x256, head_dim 64, none, static, linear -> "
                                    "kernel mma 128x128, "));
  EXPECT_THAT(points[0], HasSubstr(" bytes of shared memory, "));
  EXPECT_THAT(points[0], testing::EndsWith(" 2 items"));
  EXPECT_THAT(points[3], StartsWith("point: seq 512x512, head_dim 64, none, static, sawtooth"));
  EXPECT_THAT(points[3], testing::EndsWith(" 4 items"));
  EXPECT_THAT(outcome.out, HasSubstr("GH100 (H100, "));
  EXPECT_THAT(outcome.out,
              testing::ContainsRegex("dram_read_sectors +pass .* dram__sectors_read.sum"));
  EXPECT_EQ(folder_.files(), 0u);
}

TEST_F(WithoutGpu, RunKeepsThePredictionAndNoHalfOfAMeasurement) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path("."));
  const std::string config = folder_.write("small.ini", "gpu = h200\nseq = 512\nkernel = mma\n");
  const Outcome outcome = run_program("run " + config);
  std::filesystem::current_path(before);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("predicted alone"));
  // Predicted with the tile that measure would have run, 128x128: 4 items of 4 steps.
  EXPECT_EQ(lines_of(folder_.read("runs/small/wavefront.csv")), 1 + 4 * 4);
  EXPECT_EQ(folder_.read("runs/small/results.csv"), folder_.read("runs/small/predicted.csv"));
  for (const char* name : {"measured.csv", "measured.csv.partial", "wavefront_measured.csv"})
    EXPECT_FALSE(std::filesystem::exists(folder_.path(std::string("runs/small/") + name))) << name;
}

struct Mistake {
  const char* options;
  const char* message;  // a part of it
};

class MeasureRefuses : public testing::TestWithParam<Mistake> {};

TEST_P(MeasureRefuses, InOneLineBeforeAnythingIsLaunchedOrWritten) {
  for (const char* command : {"measure", "bench"}) {
    const TemporaryFolder folder;
    const Outcome outcome = run_program(std::string(command) + " --gpu h200 --csv " +
                                        folder.path("r.csv") + " " + GetParam().options);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
    EXPECT_EQ(lines_of(outcome.err), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(folder.files(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, MeasureRefuses,
    testing::Values(
        Mistake{"--seq 256 --head-dim 72", "head-dim: head_dim is 72; allowed: "},
        Mistake{"--seq 256 --kernel mma --dtype fp32", "dtype: dtype is fp32; allowed: bf16, fp16"},
        Mistake{"--seq 256 --tile-q 48 --tile-kv 64", "tile 48x64 with head_dim 64 has"},
        Mistake{"--seq 256 --loop kv-outer", "kv-inner only"},
        Mistake{"--lengths 256+512 --tile-q 64 --tile-kv 64 --head-dim 128",
                "tile-q, tile-kv: the mma kernel with tile 64x64 and head_dim 128 takes no packed"},
        Mistake{"--seq 256 --pack-gqa on",
                "kv-split: the decode kernels walk equal shares; allowed: auto"},
        Mistake{"--seq 256 --kernel fast",
                "--kernel: 'fast' is not allowed; allowed: one of mma, mma-tma"},
        Mistake{"--seq 256 --state lukewarm", "--state: 'lukewarm' is not allowed"},
        Mistake{"--seq 256 --repetitions 0", "--repetitions: '0' is not allowed"},
        Mistake{"", "seq: not given"}, Mistake{"none.ini", "none.ini: cannot be read"}));

/// Rows as `measure` writes them, made from what `simulate` says of the same points.
class MeasureResumes : public WithoutGpu {
 protected:
  std::string measured_table() {
    const Outcome predicted = run_program(std::string("simulate --tiles kernel --quiet") + sweep);
    const experiments::CsvTable points = experiments::parse_csv(predicted.out, "points");
    std::string table = experiments::csv_line(points.header);
    for (experiments::CsvRow row : points.rows)
      for (const char* repetition : {"0", "1", "2"}) {
        const auto set = [&](const char* name, const char* cell) {
          row[points.column(name).value()] = cell;
        };
        for (const char* model :
             {"timing", "l2", "l2_bytes", "version", "costs", "judged", "inputs"})
          set(model, "");
        set("source", "measured");
        set("kernel", "mma");
        set("repetition", repetition);
        set("dram_read_sectors", "4711");
        set("status", "ok");
        table += experiments::csv_line(row);
      }
    return table;
  }
};

TEST_F(MeasureResumes, ATableThatIsCompleteIsKeptWithoutADevice) {
  const std::string table = measured_table();
  ASSERT_EQ(lines_of(table), 1 + 4 * 3);
  folder_.write("r.csv.partial", table);
  const Outcome outcome =
      run_program(std::string("measure --resume") + sweep + " --csv " + folder_.path("r.csv"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(folder_.read("r.csv"), table);
  EXPECT_EQ(folder_.files(), 1u);
}

TEST_F(MeasureResumes, ARepetitionThatIsMissingNeedsADeviceAndLosesNoRow) {
  std::string table = measured_table();
  table.resize(table.rfind('\n', table.size() - 2) + 1);
  folder_.write("r.csv.partial", table);
  const Outcome outcome =
      run_program(std::string("measure --resume") + sweep + " --csv " + folder_.path("r.csv"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(lines_of(outcome.err), 1) << outcome.err;
  EXPECT_EQ(folder_.read("r.csv.partial"), table);
  EXPECT_EQ(folder_.files(), 1u);
}

}  // namespace
}  // namespace sawtooth::test
