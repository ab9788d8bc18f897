// The program from end to end.
#include "tests/experiments/sawtooth/cli/program.hpp"

#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawtooth::test {
namespace {

using testing::HasSubstr;

std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
  const experiments::CsvTable table = experiments::parse_csv(csv, "table");
  std::vector<std::map<std::string, std::string>> rows(table.rows.size());
  for (const std::string& name : table.header) {
    const std::vector<std::string> cells = column(csv, name);
    for (size_t i = 0; i < rows.size(); ++i) rows[i][name] = cells[i];
  }
  return rows;
}

// Two heads, 4 Q and 4 K/V tiles of 64 rows x 128 bytes, 256 sectors a tile. Reads: 8 items of one
// Q tile and 4 pairs of K and V. Compulsory: 8 Q tiles and 2 x 8 K and V tiles. O: 8 tiles.
TEST(Simulate, CountsTheSectorsOfTheClosedForm) {
  const Outcome outcome = run_program("simulate --gpu gb10 --heads 2 --seq 256 --csv -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto rows = rows_of(outcome.out);
  ASSERT_EQ(rows.size(), 1u);
  auto row = rows[0];
  EXPECT_EQ(row["l2_read_sectors"], std::to_string(8 * (1 + 4 * 2) * 256));
  EXPECT_EQ(row["sm_read_sectors"], row["l2_read_sectors"]);
  EXPECT_EQ(row["cold_read_sectors"], std::to_string((8 + 16) * 256));
  EXPECT_EQ(row["l2_read_miss_sectors"], row["cold_read_sectors"]);  // everything fits 24 MiB
  EXPECT_EQ(row["l2_write_sectors"], std::to_string(8 * 256));
  EXPECT_EQ(row["dram_write_sectors"], "");
  EXPECT_EQ(row["source"], "predicted");
  EXPECT_EQ(row["workers"], "48");
  EXPECT_EQ(row["l2_bytes"], "25165824");
  EXPECT_EQ(row["status"], "ok");
  EXPECT_EQ(row["experiment"], "command-line");
}

TEST(Simulate, ThreadsDoNotChangeAByteOfAnyTable) {
  const TemporaryFolder folder;
  const auto run_on = [&](const std::string& threads) {
    const Outcome outcome = run_program(
        "simulate --gpu gb10 --seq 512,1K,2K --scan linear,sawtooth,random --mask none,causal "
        "--l2-bytes 64KiB --csv - --by-tensor " +
        folder.path("t" + threads) + " --miss-curve " + folder.path("m" + threads) +
        " --histogram " + folder.path("h" + threads) + " --threads " + threads);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string one = run_on("1");
  ASSERT_EQ(rows_of(one).size(), 18u);
  for (const std::string threads : {"2", "3", "7", "64"}) {
    EXPECT_EQ(run_on(threads), one) << threads;
    for (const char* table : {"t", "m", "h"}) {
      EXPECT_EQ(folder.read(table + threads), folder.read(std::string(table) + "1")) << threads;
    }
  }
}

TEST(Program, PrintsTheColumnsOfResults) {
  const Outcome header = run_program("--csv-header");
  EXPECT_EQ(header.exit_code, 0);
  const std::string rows = run_program("simulate --gpu gb10 --seq 1K").out;
  EXPECT_EQ(header.out, rows.substr(0, rows.find('\n') + 1));
}

TEST(Simulate, FactsOfAPredictionHaveColumnsOfTheirOwn) {
  const std::string point = "simulate --gpu h200 --seq 1K --timing timed --quiet ";
  auto plain = rows_of(run_program(point).out)[0];
  for (const char* name : {"without", "launches", "costs"}) {
    EXPECT_EQ(plain[name], "") << name;
  }
  auto row = rows_of(
      run_program(point + "--without merging --launches 3 --step-ns 900 --stages 3").out)[0];
  EXPECT_EQ(row["version"], plain["version"]);
  EXPECT_NE(row["version"], "");
  EXPECT_EQ(row["without"], "merging");
  EXPECT_EQ(row["launches"], "3");
  EXPECT_EQ(row["costs"], "step-ns=900 stages=3");
  EXPECT_NE(row["run_id"], plain["run_id"]);
}

TEST(Simulate, WritesEveryTableItIsAskedFor) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program("simulate --gpu gb10 --seq 1K --csv " + folder.path("r.csv") + " --by-tensor " +
                  folder.path("t.csv") + " --miss-curve " + folder.path("m.csv") + " --histogram " +
                  folder.path("h.csv") + " --timeline " + folder.path("t.json") + " --wavefront " +
                  folder.path("w.csv"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(folder.files(), 6u);  // and no temporary ones
  int64_t reads = 0;
  for (auto& row : rows_of(folder.read("t.csv"))) reads += std::stoll(row["l2_read_sectors"]);
  EXPECT_EQ(std::to_string(reads), rows_of(folder.read("r.csv"))[0]["l2_read_sectors"]);
  // 16 workers hold the 16 items, so 16 steps with 16 rows each.
  EXPECT_EQ(rows_of(folder.read("w.csv")).size(), 256u);
  EXPECT_EQ(rows_of(folder.read("m.csv"))[0]["capacity_bytes"], "0");
}

TEST(Simulate, ASystemSaysWhatItsModelLeavesOut) {
  const Outcome outcome = run_program("simulate --gpu gb10 --system xformers --seq 512 --csv -");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("note: system xformers: "));
  EXPECT_THAT(outcome.err, HasSubstr("note: system flash-attention-2: "));
  EXPECT_EQ(run_program("simulate --gpu gb10 --system xformers --seq 512 --csv - --quiet").err, "");
}

TEST(Simulate, KeysOfOtherCommandsInAConfigurationAreNoted) {
  const TemporaryFolder folder;
  const std::string config = folder.write("c.ini", "gpu = gb10\nseq = 64\ntolerance = 5%\n");
  const Outcome outcome = run_program("simulate " + config + " --csv -");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, testing::StartsWith("note: " + config +
                                               ":3: tolerance: has no effect in simulate\n"));
}

// Rows as if they were measured.
std::string measured(std::string rows) {
  const std::string predicted = ",predicted,";
  for (size_t at; (at = rows.find(predicted)) != std::string::npos;)
    rows.replace(at, predicted.size(), ",measured,");
  return rows;
}

TEST(Compare, NothingInCommonIsAFailure) {
  const TemporaryFolder folder;
  folder.write("p.csv", run_program("simulate --gpu gb10 --seq 256 --csv -").out);
  folder.write("m.csv", measured(run_program("simulate --gpu h200 --seq 256 --csv -").out));
  const Outcome outcome =
      run_program("compare " + folder.path("p.csv") + " " + folder.path("m.csv"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("nothing to compare"));
}

// The program writes runs/NAME where it stands.
class Run : public testing::Test {
 protected:
  Run() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path("."));
  }
  ~Run() override { std::filesystem::current_path(before_); }

  const TemporaryFolder folder_;

 private:
  const std::filesystem::path before_;
};

// 4 items of 4 steps each, all at once on 48 workers: 4 steps x 4 workers, and the header.
TEST_F(Run, KeepsThePredictionItsWavefrontAndWhatMadeThem) {
  const std::string config =
      folder_.write("small.ini", "gpu = gb10\nseq = 256\ntile-q = 64\ntile-kv = 64\n");
  const Outcome outcome = run_program("run " + config);
  EXPECT_THAT(outcome.exit_code, testing::AnyOf(0, 3)) << outcome.err;  // 3: nothing to measure on
  EXPECT_EQ(rows_of(folder_.read("runs/small/predicted.csv")).size(), 1u);
  EXPECT_EQ(rows_of(folder_.read("runs/small/wavefront.csv")).size(), 16u);
  EXPECT_EQ(folder_.read("runs/small/config.ini"), folder_.read("small.ini"));
  EXPECT_THAT(folder_.read("runs/small/provenance.ini"), HasSubstr("run"));
}

TEST_F(Run, LeavesTheWavefrontsOfLongSweepsOut) {
  const std::string config =
      folder_.write("long.ini", "gpu = gb10\nseq = 64\nheads = 1,2,3,4,5,6,7,8,9\n");
  run_program("run " + config);
  EXPECT_EQ(rows_of(folder_.read("runs/long/predicted.csv")).size(), 9u);
  EXPECT_FALSE(std::filesystem::exists("runs/long/wavefront.csv"));
}

TEST(Lists, NameWhatIsThere) {
  EXPECT_THAT(run_program("gpus").out, HasSubstr("gb10"));
  EXPECT_THAT(run_program("systems").out, HasSubstr("alias of flash-attention-2"));
  const Outcome schedules = run_program("schedules");
  EXPECT_EQ(schedules.exit_code, 0);
  for (const char* name : {"descending", "dynamic", "sawtooth-wave", "lockstep-wave", "lru"}) {
    EXPECT_THAT(schedules.out, HasSubstr(name));
  }
}

}  // namespace
}  // namespace sawtooth::test
