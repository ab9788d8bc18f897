#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/layers.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;

const std::string head = "[system]\ndescription = a system\n";

SystemFile parsed(const std::string& text) {
  const TemporaryFolder folder;
  return read_system_file(folder.write("mine.ini", text));
}

std::string message(const std::string& text) {
  const std::string whole = message_of<UsageError>([&] { parsed(text); });
  const size_t end = whole.find("mine.ini") + std::string("mine.ini").size();
  return whole.substr(end);
}

Settings problem(const std::string& mask, const std::string& head_dim) {
  return test::given({{"mask", mask}, {"head-dim", head_dim}}, {});
}

std::string tile_kv(const SystemFile& system, const Settings& problem) {
  const Settings settings = guarded_settings(system, problem);
  return settings.contains("tile-kv") ? settings.at("tile-kv").values.front() : "none";
}

TEST(SystemFile, TheMostSpecificSectionThatHoldsWins) {
  const SystemFile system = parsed(head +
                                   "[mask=causal]\ntile-kv = 1\n"
                                   "[mask=causal head-dim=128]\ntile-kv = 2\n"
                                   "[head-dim=64|256]\ntile-kv = 3\n");
  EXPECT_EQ(tile_kv(system, problem("causal", "32")), "1");
  EXPECT_EQ(tile_kv(system, problem("causal", "128")), "2");
  EXPECT_EQ(tile_kv(system, problem("none", "64")), "3");
  EXPECT_EQ(tile_kv(system, problem("none", "256")), "3");
  EXPECT_EQ(tile_kv(system, problem("none", "128")), "none");
}

TEST(SystemFile, ATieIsAnErrorUnlessBothSayTheSameOrAMoreSpecificSectionDecides) {
  const std::string tied = head + "[mask=causal]\ntile-kv = 1\n[head-dim=64]\ntile-kv = 2\n";
  const SystemFile tie = parsed(tied);
  const auto both = problem("causal", "64");
  EXPECT_NE(message_of<UsageError>([&] {
              guarded_settings(tie, both);
            }).find("tile-kv: [mask=causal] and [head-dim=64] both hold"),
            std::string::npos);
  EXPECT_EQ(tile_kv(tie, problem("causal", "32")), "1");
  EXPECT_EQ(tile_kv(parsed(tied + "[mask=causal head-dim=64]\ntile-kv = 3\n"), both), "3");
  EXPECT_EQ(
      tile_kv(parsed(head + "[mask=causal]\ntile-kv = 1\n[head-dim=64]\ntile-kv = 1\n"), both),
      "1");
}

TEST(SystemFile, WindowStandsForEveryWindow) {
  const SystemFile system =
      parsed(head + "[mask=window]\ntile-kv = 1\n[mask=window:8 head-dim=64]\ntile-kv = 2\n");
  EXPECT_EQ(tile_kv(system, problem("window:5", "64")), "1");
  EXPECT_EQ(tile_kv(system, problem("window:8", "64")), "2");
  EXPECT_EQ(tile_kv(system, problem("causal", "64")), "none");
}

TEST(SystemFile, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(message("tile-q = 64\n"), ": [system] has no description");
  EXPECT_EQ(message(head + "colour = red\n"),
            ":3: colour: unknown; allowed: description, limits, alias-of");
  EXPECT_TRUE(
      message(head + "[tile-q=64]\n").starts_with(":3: [tile-q=64]: 'tile-q=64' is no condition"));
  EXPECT_TRUE(
      message(head + "[head-dim=x]\n").starts_with(":3: [head-dim=x]: head-dim: 'x' is not"));
  EXPECT_EQ(message("scan = linear, reverse\n" + head), ":1: scan: a system gives one value a key");
  EXPECT_EQ(message(head + "[mask=none]\nhead-dim = 64\n"),
            ":4: head-dim: a guarded section cannot set a key that conditions can test");
  EXPECT_EQ(message("gpu = gb10\n" + head), ":1: gpu: a system cannot set this key");
  EXPECT_EQ(message("csv = x\n" + head), ":1: csv: a system cannot set this key");
  EXPECT_EQ(message("tile-q = 64\n" + head + "alias-of = cudnn\n"),
            ": an alias has no keys of its own; they are those of cudnn");
}

}  // namespace
}  // namespace sawtooth::experiments
