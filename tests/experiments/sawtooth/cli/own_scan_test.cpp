// The walk-through docs/guide/tutorial.md: its code is the header that is compiled here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/schedule.hpp"
#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::test {
namespace {

using testing::HasSubstr;

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(OwnScan, ThePageShowsTheHeaderThatIsCompiled) {
  const std::string page = read(SAWTOOTH_DOCS "/guide/tutorial.md");
  const std::string header = read(SAWTOOTH_DOCS "/guide/middle_out_scan.hpp");
  ASSERT_FALSE(header.empty());
  const std::string opening = "```cpp\n";
  const size_t begin = page.find(opening) + opening.size();
  EXPECT_EQ(page.substr(begin, page.find("```", begin) - begin), header);
}

TEST(OwnScan, VisitsFiveTilesFromTheMiddleOutwards) {
  std::vector<int64_t> positions;
  for (int64_t step = 0; step < 5; ++step) {
    positions.push_back(scan_position(scan_id<MiddleOutScan>, {.tiles = 5}, step));
  }
  EXPECT_EQ(positions, (std::vector<int64_t>{2, 3, 1, 4, 0}));
}

TEST(OwnScan, VisitsEveryTileExactlyOnce) {
  for (int64_t tiles = 1; tiles <= 257; ++tiles) {
    std::vector<int> visits(static_cast<size_t>(tiles), 0);
    for (int64_t step = 0; step < tiles; ++step) {
      const int64_t at = scan_position(scan_id<MiddleOutScan>, {.tiles = tiles}, step);
      ASSERT_GE(at, 0);
      ASSERT_LT(at, tiles);
      ++visits[static_cast<size_t>(at)];
    }
    EXPECT_EQ(visits, std::vector<int>(static_cast<size_t>(tiles), 1)) << tiles;
  }
}

TEST(OwnScan, TheProgramListsItAndRunsIt) {
  EXPECT_THAT(run_program("schedules").out, HasSubstr("middle-out"));
  const Outcome outcome =
      run_program("simulate --gpu gb10 --seq 1K --mask causal --scan middle-out --csv -");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(",middle-out,"));
}

}  // namespace
}  // namespace sawtooth::test
