// The L2 model `sets` as a user meets it: options, the cell of the results, the note, the matrix.
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::test {
namespace {

using testing::HasSubstr;

constexpr std::string_view small = "simulate --gpu gb10 --seq 2K --workers 8 --l2-bytes 256KiB ";

TEST(SetsOptions, EachGeometryIsARowWithACellOfItsOwn) {
  const Outcome outcome =
      run_program(std::string(small) + "--l2 lru,sets --l2-ways 8,16 --l2-policy lru,plru");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto cells = [&](const char* name) { return column(outcome.out, name); };
  using testing::ElementsAre;
  EXPECT_THAT(cells("l2"), ElementsAre("lru", "sets", "sets", "sets", "sets"));
  EXPECT_THAT(cells("l2_ways"), ElementsAre("", "8", "8", "16", "16"));
  EXPECT_THAT(cells("l2_hash"), ElementsAre("", "balanced", "balanced", "balanced", "balanced"));
  EXPECT_THAT(cells("l2_policy"), ElementsAre("", "lru", "plru", "lru", "plru"));
  const auto ids = cells("run_id");
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(SetsOptions, NoteSaysHowLinesWereCounted) {
  // 128 sets: two groups of 64 for aligned tiles of 64 lines under xor, four chunks of 32 under
  // balanced.
  EXPECT_THAT(run_program(std::string(small) + "--l2 sets --l2-hash xor").err,
              HasSubstr("note: sets l2_ways 16 l2_line_bytes 128 l2_hash xor l2_policy lru: "
                        "tile-granular, 2 groups of sets (1 point)"));
  EXPECT_THAT(run_program(std::string(small) + "--l2 sets --scan linear,sawtooth").err,
              HasSubstr("split: tiles of 64 lines into 2 parts, 4 groups of sets (2 points)"));
  EXPECT_THAT(run_program(std::string(small) + "--l2 sets --l2-policy random").err,
              HasSubstr("line by line, because every set draws random victims of its own"));
  EXPECT_EQ(run_program(std::string(small) + "--l2 sets --quiet").err, "");
}

TEST(SetsOptions, IdentityMatrixCountsLikeModulo) {
  const TemporaryFolder folder;
  std::string rows = "# 128 sets\n";
  for (int bit = 0; bit < 7; ++bit) rows += std::to_string(1 << bit) + "\n";
  const std::string file = folder.write("identity.txt", rows);
  const Outcome matrix =
      run_program(std::string(small) + "--l2 sets --l2-hash xor --l2-hash-matrix " + file);
  const Outcome modulo = run_program(std::string(small) + "--l2 sets --l2-hash modulo");
  ASSERT_EQ(matrix.exit_code, 0) << matrix.err;
  EXPECT_EQ(column(matrix.out, "l2_read_miss_sectors"), column(modulo.out, "l2_read_miss_sectors"));
  EXPECT_EQ(column(matrix.out, "l2_hash").front(), "xor");
  EXPECT_EQ(column(matrix.out, "l2_hash_matrix").front(), file);
}

TEST(SetsOptions, BadMatrixIsNamedWithItsLine) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& rows) {
    const Outcome outcome =
        run_program(std::string(small) + "--l2 sets --l2-hash xor --l2-hash-matrix " +
                    folder.write("m.txt", rows));
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(message("1\n2\nfour\n"), HasSubstr("m.txt:3: 'four' is not allowed"));
  EXPECT_THAT(message("1\n2\n"), HasSubstr("2 rows for 128 sets; allowed: log2"));
  EXPECT_THAT(message("1\n2\n4\n8\n16\n32\n63\n"), HasSubstr("row 7 is a sum of the rows before"));
  EXPECT_THAT(message("# none\n"), HasSubstr("has no rows"));
}

TEST(SetsOptions, HintsKeepTensorsInTheSetAside) {
  // Cyclic scans would miss in any set-aside that K and V do not fit into.
  const std::string kept = std::string(small) + "--scan sawtooth --l2 sets --hints k-last-v-last";
  const Outcome most = run_program(kept);
  const Outcome little = run_program(kept + " --l2-set-aside 16KiB");
  ASSERT_EQ(most.exit_code, 0) << most.err;
  ASSERT_EQ(little.exit_code, 0) << little.err;
  EXPECT_EQ(column(little.out, "l2_set_aside").front(), "16384");
  EXPECT_LT(std::stoll(column(most.out, "l2_read_miss_sectors").front()),
            std::stoll(column(little.out, "l2_read_miss_sectors").front()));
}

}  // namespace
}  // namespace sawtooth::test
