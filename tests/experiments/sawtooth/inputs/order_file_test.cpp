#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;

// One batch, two heads, two Q tiles: four items.
const Problem problem{.heads = 2, .kv_heads = 2, .seq_q = 128, .seq_kv = 128};
const Tiling tiling{64, 64};

std::vector<WorkCoordinates> read(const std::string& text) {
  const TemporaryFolder folder;
  return read_order_file(folder.write("order", text), problem, tiling, Schedule{});
}

std::string message(const std::string& text) {
  const std::string whole = message_of<UsageError>([&] { read(text); });
  return whole.substr(whole.find("order:") + 5);
}

TEST(OrderFile, ItemsComeInTheOrderOfTheLines) {
  const auto list = read("# batch head q_tile\n0 1 1\n0 0 0 0\n\n0 1 0\n0 0 1 # last\n");
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0], (WorkCoordinates{0, 1, 1, 0}));
  EXPECT_EQ(list[1], (WorkCoordinates{0, 0, 0, 0}));
  EXPECT_EQ(list[3], (WorkCoordinates{0, 0, 1, 0}));
}

// Three workers: the fourth item is a last wave, which is cut into pieces of its own.
TEST(OrderFile, ListsWholeItemsWhereTheLastWaveIsCut) {
  const Schedule balanced{.launch = launch_id<BalancedLaunch>, .workers = 3};
  const TemporaryFolder folder;
  const auto list = read_order_file(folder.write("order", "0 1 1\n0 0 0\n0 1 0\n0 0 1\n"), problem,
                                    tiling, balanced);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[3], (WorkCoordinates{0, 0, 1, 0}));
}

TEST(OrderFile, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(message("0 0 0\n0 0 0\n"), ":2: '0 0 0' is there twice");
  EXPECT_EQ(message("0 0 0\n0 2 0\n"), ":2: head 2 does not exist; allowed: 0 to 1");
  EXPECT_EQ(message("0 0 2\n"), ":1: q_tile 2 does not exist; allowed: 0 to 1");
  EXPECT_EQ(message("0 0 0 1\n"), ":1: part 1 does not exist; allowed: 0 to 0");
  EXPECT_EQ(message("0 0\n"), ":1: 2 numbers; a line is: batch head q_tile [part]");
  EXPECT_EQ(message("0 0 -1\n"), ":1: '-1' is no index; a line is: batch head q_tile [part]");
  EXPECT_EQ(message("0 0 0\n0 0 1\n0 1 0\n"),
            ":3: the order ends after 3 of 4 items; each item must be there once");
}

}  // namespace
}  // namespace sawtooth::experiments
