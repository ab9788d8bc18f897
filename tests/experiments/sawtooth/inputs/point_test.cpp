#include "experiments/sawtooth/inputs/point.hpp"

#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/inputs/given.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::Options;
using test::point_of;
using test::refusal_of;
using test::TemporaryFolder;

class PointOf : public testing::Test {
 protected:
  PointOf() {
    gpu_ = folder_.write("tiny.ini",
                         "[gpu]\ndescription = tiny\n"
                         "sms = 3; assumed; n\nl2-bytes = 1 MiB; assumed; n\n");
  }
  Point point(const Options& options) { return point_of(options, {{"gpu", gpu_}}); }
  std::string message(const Options& options) { return refusal_of(options, {{"gpu", gpu_}}); }
  std::string system(const std::string& text) {
    return folder_.write("sys.ini", text + "[system]\ndescription = s\n");
  }

  TemporaryFolder folder_;
  std::string gpu_;
};

TEST_F(PointOf, WorkersAndCapacityComeFromTheGpu) {
  const Point p = point({{"seq", "128"}, {"ctas-per-sm", "2"}});
  EXPECT_EQ(p.request.schedule.workers, 6);  // 3 SMs x 2
  EXPECT_EQ(p.request.l2_bytes, 1 << 20);
  EXPECT_EQ(p.text("gpu"), "tiny");
  EXPECT_EQ(p.text("kv-heads"), "1");
}

TEST_F(PointOf, GivenKeysBeatTheSystemAndTheSystemBeatsDefaults) {
  const std::string name = system("tile-q = 32\nscan = reverse\nheads = 4\n");
  const Point p = point({{"seq", "128"}, {"system", name}, {"scan", "sawtooth"}});
  EXPECT_EQ(p.text("scan"), "sawtooth");
  EXPECT_EQ(p.text("tile-q"), "32");
  EXPECT_EQ(p.text("tile-kv"), "64");
  EXPECT_EQ(p.text("kv-heads"), "4");
}

TEST_F(PointOf, GuardsSeeTheResolvedProblem) {
  const std::string name = folder_.write(
      "g.ini",
      "head-dim = 128\n[system]\ndescription = s\n[head-dim=128 seq-kv=256]\ntile-q = 16\n");
  EXPECT_EQ(point({{"seq", "256"}, {"system", name}}).text("tile-q"), "16");
  EXPECT_EQ(point({{"seq", "512"}, {"system", name}}).text("tile-q"), "64");
  EXPECT_EQ(point({{"seq", "256"}, {"system", name}, {"head-dim", "64"}}).text("tile-q"), "64");
}

TEST_F(PointOf, SeqBeatsTheLengthsOfASystem) {
  const std::string name = system("seq-q = 64\nseq-kv = 192\n");
  const Point p = point({{"seq", "128"}, {"system", name}});
  EXPECT_EQ(p.request.problem.seq_q, 128);
  EXPECT_EQ(p.request.problem.seq_kv, 128);
}

// K and V of one head: 2 x 128 rows x 128 bytes = 32 KiB, so 64 KiB hold two K/V heads, and with
// two query heads a K/V head that is a section of four.
TEST_F(PointOf, AutomaticSectionsAreResolvedToHeads) {
  const Point p =
      point({{"seq", "128"}, {"heads", "16"}, {"kv-heads", "8"}, {"section", "auto:64KiB"}});
  EXPECT_EQ(p.request.schedule.order.section, 4);
  EXPECT_EQ(p.text("section"), "4");
  EXPECT_EQ(point({{"seq", "128"}, {"heads", "16"}, {"batch", "2"}, {"section", "all"}})
                .request.schedule.order.section,
            32);
}

TEST_F(PointOf, AnOrderFileReplacesTheOrderKeys) {
  const std::string file = folder_.write("order", "0 0 1\n0 0 0\n");
  const Point p = point({{"seq", "128"}, {"order-file", file}});
  ASSERT_NE(p.request.schedule.order.list, nullptr);
  EXPECT_EQ(p.request.schedule.order.list[0].own_tile, 1);
  EXPECT_EQ(p.text("q-order"), "file:" + file);
  EXPECT_EQ(p.text("section"), "");
  EXPECT_EQ(message({{"seq", "128"}, {"order-file", file}, {"section", "1"}}),
            "--section: has no effect with order-file; leave one of them out");
}

TEST_F(PointOf, ImpossibleProblemsAreNamed) {
  EXPECT_EQ(message({}), "seq: not given; give seq, or seq-q and seq-kv (seq-q is missing)");
  EXPECT_EQ(message({{"seq", "64"}, {"heads", "6"}, {"kv-heads", "4"}}),
            "--kv-heads: 4 does not divide heads = 6; each K/V head serves equally many heads");
  EXPECT_TRUE(
      message({{"seq", "1G"}, {"heads", "1M"}}).starts_with("--seq: batch x heads x seq-q"));
  EXPECT_TRUE(message({{"seq", "1G"}, {"tile-q", "1"}, {"tile-kv", "1"}})
                  .starts_with("--tile-q: the problem has too many tiles"));
  EXPECT_TRUE(message({{"seq", "64"}, {"head-dim", "40"}, {"tile-q", "10"}})
                  .starts_with("--tile-q: tiles of 10 rows x 80 bytes share lines"));
  EXPECT_EQ(message({{"seq", "256"}, {"kv-split", "5"}}),
            "--kv-split: allowed: up to the number of K/V tiles, 4");
  EXPECT_EQ(message({{"seq", "256"}, {"loop", "kv-outer"}, {"prefetch", "1"}}),
            "--prefetch: has no effect with loop = kv-outer");
}

TEST_F(PointOf, WithoutAGpuCapacityAndWorkersMustBeGiven) {
  EXPECT_TRUE(refusal_of({{"seq", "128"}}, {}).starts_with("gpu: not given"));
  EXPECT_EQ(
      point_of({{"seq", "128"}, {"workers", "2"}, {"l2-bytes", "64KiB"}}, {}).request.l2_bytes,
      65536);
}

TEST_F(PointOf, AnAliasHasTheKeysOfTheSystemBehindIt) {
  Catalog catalog;
  Settings given = test::given({{"seq", "256"}, {"gpu", gpu_}, {"system", "xformers"}}, {});
  const Point alias = resolve(given, catalog);
  given.at("system").values = {"flash-attention-2"};
  const Point meant = resolve(given, catalog);
  for (const char* key : {"scan", "launch", "tile-q", "tile-kv", "q-order", "head-order"}) {
    EXPECT_EQ(alias.text(key), meant.text(key)) << key;
  }
  EXPECT_TRUE(catalog.limits().contains("flash-attention-2"));
}

}  // namespace
}  // namespace sawtooth::experiments
