// Every mistake gives one line that names the key and what is allowed, exit 2, and no file.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Mistake {
  const char* options;
  const char* message;  // beginning
};

class BadInput : public testing::TestWithParam<Mistake> {};

TEST_P(BadInput, GivesOneLineAndExitTwoAndWritesNothing) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program("simulate --gpu gb10 --csv " + folder.path("r.csv") + " " + GetParam().options);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith(std::string("sawtooth: ") + GetParam().message));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(folder.files(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Options, BadInput,
    testing::Values(
        Mistake{"--seq 64 --head-dim 0", "--head-dim: '0' is not allowed; allowed: a whole number"},
        Mistake{"--seq 64 --tile-kv 1048577", "--tile-kv: '1048577' is not allowed"},
        Mistake{"--seq 64 --workers 0", "--workers: '0' is not allowed"},
        Mistake{"--seq 64 --l2-bytes '12 bananas'", "--l2-bytes: '12 bananas' is not allowed"},
        Mistake{"--seq 64 --heads 6 --kv-heads 4", "--kv-heads: 4 does not divide heads = 6"},
        Mistake{"--seq 64 --mask window:0", "--mask: 'window:0' is not allowed; allowed: none"},
        Mistake{"--seq 1G --heads 1M", "--seq: batch x heads x seq-q x seq-kv overflows"},
        Mistake{"--seq 64 --scan zigzag",
                "--scan: 'zigzag' is not allowed; allowed: one of linear"},
        Mistake{"--seq 64 --dtype int8", "--dtype: 'int8' is not allowed; allowed: one of bf16"},
        Mistake{"--seq 64 --system nothing", "--system: 'nothing' is not known; allowed: "},
        Mistake{"--seq 64 --die die.ini", "--die: has no effect without timing = timed"},
        Mistake{"--seq 64 --launches 3",
                "--launches: needs timing = timed; the other models are deterministic"},
        Mistake{"--seq 64 --timing timed --die no-such-file.ini",
                "no-such-file.ini: cannot be read"},
        Mistake{"--seq 64 --colour red", "--colour: not an option of simulate"},
        Mistake{"--seq 64 --tolerance 5%", "--tolerance: not an option of simulate"},
        Mistake{"--seq", "--seq: a value is missing"},
        Mistake{"--seq 64,", "--seq: '' is not allowed"},
        Mistake{"--seq -64", "--seq: '-64' is not allowed"},
        Mistake{"--seq 64 -q", "-q: options have two dashes"}, Mistake{"", "seq: not given"},
        Mistake{"--seq 64 --sample 0", "--sample: '0' is not allowed; allowed: a number above 0"},
        Mistake{"--seq 64 --sample 101%", "--sample: '101%' is not allowed"},
        Mistake{"--seq 64 --sample 0.5 --l2 halves", "--sample: only l2 = lru in lockstep follows"},

        Mistake{"--seq 64 --threads 0", "--threads: '0' is not allowed"},
        Mistake{"--seq 64 --by-tensor /no/such/folder/t.csv",
                "/no/such/folder/t.csv: cannot be written"},
        Mistake{"--seq 64 --by-tensor -", "'-': only --csv can go to standard output"},
        Mistake{"--seq 64 --quiet --quiet", "--quiet: given twice"},
        Mistake{"none.ini", "none.ini: cannot be read"},
        Mistake{"--seq 64 --l2 sets --timing timed", "--l2: sets counts in lockstep only; allowed"},
        Mistake{"--seq 64 --l2-ways 8", "--l2-ways: has no effect without l2 = sets"},
        Mistake{"--seq 64 --l2 sets --l2-ways 0",
                "--l2-ways: '0' is not allowed; allowed: a whole"},
        Mistake{"--seq 64 --l2 sets --l2-ways 7",
                "l2-bytes: 25165824 is no whole number of sets of 7 lines of 128 bytes; allowed: "
                "multiples of 896"},
        Mistake{"--seq 64 --l2 sets --l2-policy mru", "--l2-policy: 'mru' is not allowed"},
        Mistake{
            "--seq 64 --l2 sets --l2-policy plru --l2-ways 12",
            "--l2-ways: 12 leaves the tree of l2-policy = plru ragged; allowed: a power of two"},
        Mistake{"--seq 64 --l2 sets --l2-hash xor",
                "--l2-hash: xor needs a power of two of sets, and l2-bytes / (l2-ways x "
                "l2-line-bytes) is 12288; allowed: balanced"},
        Mistake{"--seq 64 --l2 sets --l2-hash-matrix m.txt",
                "--l2-hash-matrix: has no effect with l2-hash = balanced; allowed: xor"},
        Mistake{"--seq 64 --l2 sets --l2-bytes 16MiB --l2-hash xor --l2-hash-matrix none.txt",
                "l2-hash-matrix: none.txt: cannot be read"},
        Mistake{"--seq 64 --l2 sets --l2-line-bytes 48", "--l2-line-bytes: 48 is not allowed"},
        Mistake{"--seq 64 --l2 sets --l2-set-aside 1MiB",
                "--l2-set-aside: has no effect without a tensor that hints keep to the last"},
        Mistake{"--seq 64 --l2 sets --hints k-last-v-last --l2-set-aside 20MiB",
                "--l2-set-aside: 20971520 is not allowed; allowed: up to 3/4 of l2-bytes"},
        Mistake{"--seq 64 --l2 sets --l2-policy opt --hints q-first",
                "--hints: have no effect with l2-policy = opt"},
        Mistake{"--seq 64 --l2 sets --miss-curve c.csv",
                "--miss-curve: l2 = sets counts at one capacity; allowed: l2 = lru"}));

TEST(BadConfiguration, IsNamedWithFileAndLine) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& text) {
    const std::string config = folder.write("c.ini", text);
    const Outcome outcome = run_program("simulate " + config + " --csv " + folder.path("r.csv"));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(folder.files(), 1u);
    EXPECT_THAT(outcome.err, StartsWith("sawtooth: " + config + ":"));
    return outcome.err;
  };
  EXPECT_THAT(message("gpu = gb10\nseq = 64\nhead-dimm = 64\n"),
              HasSubstr(":3: head-dimm: unknown"));
  EXPECT_THAT(message("gpu = gb10\nseq = sixty\n"), HasSubstr(":2: seq: 'sixty' is not allowed"));
  EXPECT_THAT(message("gpu = gb11\nseq = 64\n"), HasSubstr(":1: gpu: 'gb11' is not known"));
  EXPECT_THAT(message("seq\n"), HasSubstr(":1: 'seq' is neither"));
}

TEST(BadCommand, IsNamedWithTheKnownOnes) {
  const Outcome outcome = run_program("simulat");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith("sawtooth: 'simulat' is no command; allowed: simulate"));
}

TEST(BadCompare, NeedsTwoTablesAndKnownCounters) {
  const TemporaryFolder folder;
  const std::string broken = folder.write("b.csv", "a,b\n1\n");
  EXPECT_EQ(run_program("compare " + broken).exit_code, 2);
  const Outcome outcome = run_program("compare " + broken + " " + broken);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("b.csv:2:1: 1 cells; the header has 2"));
  EXPECT_THAT(run_program("compare a b --counters apples").err,
              StartsWith("sawtooth: --counters: 'apples' is no counter; allowed: sm_read_sectors"));
}

}  // namespace
}  // namespace sawtooth::test
