// sawtooth trace from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string schedule =
    "--gpu gb10 --batch 2 --heads 2 --kv-heads 1 --seq 1K --mask causal --scan sawtooth --section "
    "2 "
    "--lse on --kv-split 2 ";
const std::string point = schedule + "--l2-bytes 200KiB ";
const std::string backward =
    "--pass backward --gpu gb10 --l2 lru --heads 2 --kv-heads 1 --seq 1K --mask causal --scan "
    "shift "
    "--small-kernels on --l2-bytes 200KiB ";

std::string tables(const TemporaryFolder& folder, const std::string& prefix) {
  return " --csv " + folder.path(prefix + "results") + " --by-tensor " +
         folder.path(prefix + "tensors") + " --miss-curve " + folder.path(prefix + "curve") +
         " --histogram " + folder.path(prefix + "histogram");
}

/// Cells of the last line of a table, from `column` on.
std::string last_line_from(const std::string& table, size_t column) {
  size_t at = table.rfind('\n', table.size() - 2) + 1;
  for (size_t i = 0; i < column; ++i) at = table.find(',', at) + 1;
  return table.substr(at);
}

TEST(Trace, ReadBackGivesTheTablesOfSimulateByteForByte) {
  const TemporaryFolder folder;
  const std::string trace = folder.path("t");
  for (const std::string& of : {point, backward}) {
    ASSERT_EQ(run_program("simulate --quiet " + of + tables(folder, "s-")).exit_code, 0);
    for (const std::string unit : {"visits", "lines"}) {
      ASSERT_EQ(run_program("trace " + of + "--write " + trace + " --unit " + unit).exit_code, 0);
      const Outcome read = run_program("trace --read " + trace + tables(folder, "t-"));
      ASSERT_EQ(read.exit_code, 0) << read.err;
      for (const std::string table : {"results", "tensors", "curve", "histogram"}) {
        EXPECT_EQ(folder.read("t-" + table), folder.read("s-" + table)) << unit << " " << table;
      }
    }
  }
}

TEST(Trace, ACsvGivesTheCountersOfSimulateAndSoDoesAConvertedTrace) {
  const TemporaryFolder folder;
  const std::string header = run_program("simulate --quiet --l2 lru " + point).out;
  const std::string first_columns = header.substr(0, header.find(",sm_read_sectors"));
  const auto counters =
      static_cast<size_t>(std::count(first_columns.begin(), first_columns.end(), ',') + 1);
  std::string expected = last_line_from(header, counters);
  expected.resize(expected.rfind(','));  // run_id is of the point, which a CSV does not name
  ASSERT_EQ(
      run_program("trace " + point + "--format csv --write " + folder.path("t.csv")).exit_code, 0);
  ASSERT_EQ(run_program("trace --read " + folder.path("t.csv") + " --unit lines --write " +
                        folder.path("t.lines"))
                .exit_code,
            0);
  for (const std::string name : {"t.csv", "t.lines"}) {
    const Outcome read = run_program("trace --l2-bytes 200KiB --read " + folder.path(name));
    ASSERT_EQ(read.exit_code, 0) << read.err;
    EXPECT_THAT(last_line_from(read.out, counters), StartsWith(expected + ",")) << name;
  }
}

TEST(Trace, AnotherCapacityIsAnotherPoint) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program("trace " + point + "--write " + folder.path("t")).exit_code, 0);
  EXPECT_EQ(run_program("trace --read " + folder.path("t") + " --l2-bytes 300K").out,
            run_program("simulate --quiet --l2 lru " + schedule + "--l2-bytes 300K").out);
  // A GPU brings its own capacity.
  EXPECT_EQ(run_program("trace --read " + folder.path("t") + " --gpu gb10").out,
            run_program("simulate --quiet --l2 lru " + schedule).out);
}

TEST(Trace, OtherModelsOfL2GiveTheRowsOfSimulate) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program("trace " + point + "--write " + folder.path("t")).exit_code, 0);
  for (const std::string model :
       {"--l2 opt", "--l2 sets --l2-ways 8 --l2-policy fifo --l2-hash modulo",
        "--l2 sets --l2-ways 8 --l2-policy random --seed 3"}) {
    const Outcome read = run_program("trace --read " + folder.path("t") + " --csv - " + model);
    ASSERT_EQ(read.exit_code, 0) << read.err;
    EXPECT_EQ(read.out, run_program("simulate --quiet " + point + model).out) << model;
  }
}

struct TraceMistake {
  const char* options;  // T is a trace, X a file that is none, C a CSV
  const char* message;  // in the one line on standard error
};

class BadTrace : public testing::TestWithParam<TraceMistake> {};

TEST_P(BadTrace, GivesOneLineAndExitTwoAndWritesNothing) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program("trace --gpu gb10 --seq 64 --write " + folder.path("T")).exit_code, 0);
  const std::string trace = folder.read("T");
  folder.write("X", "SAWTRACE" + std::string(8, '\x01'));
  folder.write("S", trace.substr(0, trace.size() - 9));
  folder.write("C", "line\n1\n2\n");
  const Outcome outcome =
      run_program("trace " + std::string(GetParam().options), "cd " + folder.path("") + " && ");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith("sawtooth: "));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(folder.files(), 4u);
}

TEST(Trace, APipeIsRefusedAtOnce) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const Outcome named =
      run_program("trace --l2-bytes 1M --read " + folder.path("pipe"), "timeout 20 ");
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_THAT(named.err, HasSubstr("pipe: is no regular file"));
  const Outcome piped = run_program("trace --l2-bytes 1M --read /dev/stdin", "echo | ");
  EXPECT_EQ(piped.exit_code, 2);
  EXPECT_THAT(piped.err, HasSubstr("/dev/stdin: is no regular file"));
}

TEST(Trace, AByteOrderMarkInFrontOfACsvChangesNothing) {
  const TemporaryFolder folder;
  const std::string rows = "line\n0\n1\n0\n";
  const std::string read = "trace --l2-bytes 1M --experiment e --read ";
  const Outcome plain = run_program(read + folder.write("plain", rows));
  const Outcome marked = run_program(read + folder.write("marked", "\xEF\xBB\xBF" + rows));
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(marked.exit_code, 0) << marked.err;
  EXPECT_EQ(marked.out, plain.out);
}

INSTANTIATE_TEST_SUITE_P(
    Options, BadTrace,
    testing::Values(
        TraceMistake{"--gpu gb10 --seq 64", "--write: not given"},
        TraceMistake{"--gpu gb10 --seq 64,128 --write n", "a trace is of one point"},
        TraceMistake{"--gpu gb10 --seq 64 --write n --csv r", "--csv: needs --read"},
        TraceMistake{"--gpu h200 --seq 64 --l2 halves --write n",
                     "l2: a trace is written without a model of L2"},
        TraceMistake{"--gpu h200 --seq 64 --timing timed --write n", "timing: traces are written"},
        TraceMistake{"--read T --seq 64", "--seq: has no effect with --read"},
        TraceMistake{"--read T --l2 halves",
                     "--l2: halves needs a schedule; allowed with --read: lru, sets, opt"},
        TraceMistake{"--read T --l2-ways 4", "--l2-ways: has no effect without l2 = sets"},
        TraceMistake{"--read T --l2 opt --miss-curve X",
                     "--miss-curve: l2 = opt counts at one capacity; allowed: l2 = lru"},
        TraceMistake{"--read C", "--l2-bytes: not given, and C does not say it"},
        TraceMistake{"--read none --l2-bytes 1M", "none: cannot be read"},
        TraceMistake{"--read X --csv r", "X: is a trace of version 16843009"},
        TraceMistake{"--read S --csv r --histogram h", "S: block 2: the file ends here"},
        TraceMistake{"--read S --write n", "S: block 2: the file ends here"},
        TraceMistake{"--read C --l2-bytes 1M --csv r --most-atoms 1",
                     "C:3: more than 1 different tiles or lines; --most-atoms"},
        TraceMistake{"--read . --l2-bytes 1M", ".: "},
        TraceMistake{"--read T --csv no/such/r", "no/such/r: cannot be written"},
        TraceMistake{"--read T --write T --format ini", "--format: 'ini' is not allowed"}));

}  // namespace
}  // namespace sawtooth::test
