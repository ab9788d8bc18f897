// Launches of a report get the points of a configuration by kernel, grid and order, or one line
// says why not.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using testing::HasSubstr;

constexpr Command import_ncu_command = command_named("import-ncu");

using test::message_of;
using test::TemporaryFolder;

struct Launched {
  std::string kernel, grid;
  int64_t dram_reads;
};

std::string report_of(const std::vector<Launched>& launches) {
  std::string text = "ID,Kernel Name,Grid Size,Block Size,dram__sectors_read.sum\n,,,,sector\n";
  int64_t id = 0;
  for (const Launched& one : launches)
    text += std::to_string(id++) + "," + one.kernel + ",\"(" + one.grid + ")\",\"(128, 1, 1)\"," +
            std::to_string(one.dram_reads) + "\n";
  return text;
}

NcuTables labelled(const std::vector<Launched>& report, const std::string& configuration) {
  const TemporaryFolder folder;
  const auto launches = parse_ncu_report(report_of(report), "r.csv");
  const auto labels = ncu_labels(launches, folder.write("l.ini", configuration), "run");
  return ncu_tables(launches, known_ncu_metrics(), "run", "r.csv", labels);
}

std::vector<std::string> column_of(const NcuTables& tables, std::string_view column) {
  const CsvTable rows = parse_csv(tables.rows, "rows");
  std::vector<std::string> cells;
  for (size_t r = 0; r < rows.rows.size(); ++r) cells.push_back(rows.cell(r, column));
  return cells;
}

using Cells = std::vector<std::string>;

// FlashAttention-2 at D = 128 has Q tiles of 128 rows: 8 and 16 of 1024 and 2048, for each of four
// heads. Q, K and V are 3 x 4 heads x 1024 rows x 256 bytes = 98,304 sectors, or twice as many.
constexpr int64_t compulsory = 98'304;
const std::string fa2 =
    "gpu = a100-sxm-40gb\nsystem = flash-attention-2\nheads = 4\nhead-dim = 128\n";
const std::vector<Launched> lengths{{"flash_fwd", "8, 1, 4", compulsory},
                                    {"softmax", "4, 1, 1", 1},
                                    {"flash_fwd", "16, 1, 4", 2 * compulsory},
                                    {"flash_fwd", "16, 1, 4", compulsory}};

TEST(NcuLabels, SectionsSelectLaunchesByKernelAndGrid) {
  const NcuTables tables =
      labelled(lengths, fa2 + "[long kernel=^flash grid=16x1x4]\nseq = 2048\n" +
                            "[short kernel=flash_fwd]\nseq = 1024\n");
  EXPECT_EQ(column_of(tables, "seq_q"), (Cells{"1024", "", "2048", "2048"}));
  EXPECT_EQ(column_of(tables, "system").front(), "flash-attention-2");
  EXPECT_EQ(column_of(tables, "gpu").front(), "a100-sxm-40gb");
  EXPECT_EQ(column_of(tables, "timing").front(), "");  // no model made it
  EXPECT_EQ(column_of(tables, "repetition"), (Cells{"0", "0", "0", "1"}));
  ASSERT_EQ(tables.notes.size(), 1u);  // launches 2 and 3 are of one point
  EXPECT_EQ(tables.notes[0], "launches that no section matches have no problem: 1");
}

TEST(NcuLabels, ReadsUnderCompulsoryAreImpossibleInAColdCache) {
  const std::string own = "[kernel=flash]\nseq = 1024, 2048, 2048\n";
  const NcuTables tables = labelled(lengths, fa2 + own);
  EXPECT_EQ(column_of(tables, "status"), (Cells{"ok", "ok", "ok", "impossible"}));
  EXPECT_THAT(column_of(tables, "message").back(), HasSubstr("under the compulsory 196608"));
  EXPECT_EQ(tables.complaints.size(), 1u);
  EXPECT_EQ(column_of(labelled(lengths, fa2 + "state = warm\n" + own), "status").back(), "ok");
}

const std::vector<Launched> four(4, {"flash_fwd", "8, 1, 4", compulsory});

TEST(NcuLabels, OrderTellsLaunchesThatLookAlikeApart) {
  const std::string base = fa2 + "seq = 1024\n";
  const NcuTables plain = labelled(four, base + "[a]\nmask = none\n[b]\nscan = linear\n" +
                                             "[c]\nscan = sawtooth\n[d]\nmask = causal\n");
  EXPECT_EQ(column_of(plain, "scan"), (Cells{"reverse", "linear", "sawtooth", "reverse"}));
  EXPECT_EQ(column_of(plain, "mask"), (Cells{"none", "none", "none", "causal"}));
  ASSERT_EQ(plain.notes.size(), 1u);
  EXPECT_THAT(plain.notes[0],
              HasSubstr("launches such as 0 and 1 look alike (kernel, grid, block): "));
  EXPECT_THAT(plain.notes[0], HasSubstr("order alone gives them their points"));
  const auto scans = [&](const std::string& words) {
    return column_of(labelled(four, base + "[" + words + "]\nscan = linear, sawtooth\n"), "scan");
  };
  EXPECT_EQ(scans("each=2"), (Cells{"linear", "linear", "sawtooth", "sawtooth"}));
  EXPECT_EQ(scans("each=1"), (Cells{"linear", "sawtooth", "linear", "sawtooth"}));
  EXPECT_EQ(column_of(labelled(four, base + "scan = linear, sawtooth\n[each=1]\n"), "repetition"),
            (Cells{"0", "0", "1", "1"}));
}

TEST(NcuLabels, WithoutLabelsANoteSaysWhichLaunchesLookAlike) {
  const auto note = [](const std::vector<Launched>& launches) {
    const auto parsed = parse_ncu_report(report_of(launches), "r.csv");
    return ncu_tables(parsed, known_ncu_metrics(), "run", "r.csv").notes;
  };
  EXPECT_EQ(note(lengths),
            (Cells{"launches such as 2 and 3 look alike (kernel, grid, block): column "
                   "repetition counts them"}));
  EXPECT_TRUE(note({lengths[0], lengths[1], lengths[2]}).empty());
}

TEST(NcuLabels, WhatDoesNotFitIsOneLine) {
  const auto expect_refused = [](const std::string& configuration, const std::string& why) {
    const std::string message = message_of<UsageError>([&] { labelled(four, configuration); });
    EXPECT_THAT(message, HasSubstr(why));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  const std::string base = fa2 + "seq = 1024\n";
  expect_refused(base + "scan = linear, sawtooth\n", "l.ini: points: 2, launches that match: 4");
  expect_refused(base + "seed = 1, 2, 3, 4, 5\n", "l.ini: points: 5, launches that match: 4");
  expect_refused(base + "[kernel=hopper]\n",
                 "[kernel=hopper]: 'hopper' matches no kernel; there are flash_fwd");
  expect_refused(base + "[each=3]\n", "[each=3]: points: 1, launches that match: 4");
  expect_refused(base + "[kernel=(]\n", "'(' is no regular expression");
  for (const std::string word : {"name=flash", "each=0", "each=x"})
    expect_refused(base + "[" + word + "]\n", "'" + word + "' selects no launches");
  expect_refused("heads = 4\nseq = 1024\n", "gpu: not given");
  expect_refused("l2-bytes = 1MiB\nworkers = 4\nseq = 1024\n", "no gpu: compare");
  expect_refused(fa2 + "seq = 4096\n", "launch 0 has grid 8x1x4, its point 128 CTAs");
  expect_refused(base + "launch = static\nworkers = 16\n", "its point 16 CTAs");
  // A grid that is named is the user's own word.
  EXPECT_EQ(column_of(labelled(four, fa2 + "[grid=8x1x4]\nseq = 4096\n"), "seq_q").back(), "4096");
}

// Persistent kernels of fewer items launch as many CTAs, or all workers.
TEST(NcuLabels, APersistentGridHasTheWorkersOrTheItems) {
  const std::string base = fa2 + "seq = 1024\nlaunch = static\nworkers = 108\n";
  for (const std::string grid : {"32, 1, 1", "108, 1, 1"})
    EXPECT_EQ(column_of(labelled({{"k", grid, compulsory}}, base), "launch"), Cells{"static"});
}

TEST(NcuLabels, TheCommandChoosesKernelsAndWritesAllOrNothing) {
  const TemporaryFolder folder;
  const std::string report = folder.write("r.csv", report_of(lengths));
  const std::string label = folder.write("l.ini", fa2 + "seq = 1024, 2048, 2048\n");
  const std::string out = folder.path("o.csv");
  const auto refusal = [&](const Arguments& arguments) {
    return message_of<UsageError>([&] { run_import_ncu(import_ncu_command, arguments); });
  };
  EXPECT_THAT(refusal({report, "--kernel", "fa3", "--csv", out}),
              HasSubstr("--kernel: 'fa3' matches no kernel; there are flash_fwd, softmax"));
  EXPECT_THAT(refusal({report, "--kernel", "a[", "--csv", out}),
              HasSubstr("--kernel: 'a[' is no regular expression"));
  EXPECT_THAT(refusal({report, "--label", label, "--csv", out}),
              HasSubstr("points: 3, launches that match: 4"));
  EXPECT_EQ(folder.files(), 2u);
  EXPECT_EQ(run_import_ncu(import_ncu_command,
                           {report, "--kernel", "flash", "--label", label, "--csv", out}),
            1);  // the last launch reads less than it must
  EXPECT_EQ(column_of({folder.read("o.csv"), "", {}, {}}, "seq_q"),
            (Cells{"1024", "2048", "2048"}));
}

}  // namespace
}  // namespace sawtooth::experiments
