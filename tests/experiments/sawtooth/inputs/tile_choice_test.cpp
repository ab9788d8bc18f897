// The tile of a point that names none. tests/kernels/variant_list_test.cpp holds the list against
// the kernels that are built.
#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/attention/variants.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"

namespace sawtooth::experiments {
namespace {

std::string tile(const std::string& gpu, const test::Options& options) {
  const Point p = test::point_of(options, {{"gpu", gpu}, {"seq", "1024"}});
  return p.text("tile-q") + "x" + p.text("tile-kv");
}

TEST(TileChoice, GoesByHeadDimAndByTheSharedMemoryOfTheGpu) {
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}}), "128x128");
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}, {"head-dim", "128"}}), "128x64");
  // 128x64 at D = 128 needs 102400 bytes; a block has 101376 of them on compute capability 12.x.
  EXPECT_EQ(tile("gb10", {{"tiles", "kernel"}, {"head-dim", "128"}}), "64x64");
  EXPECT_EQ(tile("gb10", {{"tiles", "kernel"}}), "128x128");
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}, {"kernel", "hopper"}}), "192x128");
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}, {"kernel", "mma-1-stage"}}), "64x64");
}

TEST(TileChoice, LeavesTilesThatAreNamedAndSimulatesUsualOne) {
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}, {"tile-q", "80"}, {"tile-kv", "80"}}), "80x80");
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}, {"tile-q", "128"}}), "128x64");
  EXPECT_EQ(tile("h200", {{"launch", "static"}}), "128x128");
  EXPECT_EQ(tile("h200", {{"tiles", "64x64"}}), "64x64");
  EXPECT_EQ(tile("gb10", {}), "64x64");
  // Kernels have no tile of 64x64 there, and on GB10 none that fits.
  EXPECT_EQ(tile("a100-sxm-40gb", {{"dtype", "fp32"}, {"head-dim", "128"}}), "64x32");
  EXPECT_EQ(tile("gb10", {{"dtype", "fp32"}, {"head-dim", "128"}}), "64x64");
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}, {"system", "flash-attention-3"}}), "192x192");
}

TEST(TileChoice, IsThatOfAKernelForTwoHeadDimsWhereThereIsOne) {
  const auto kernel = [](const std::string& head_dim) {
    return test::point_of({{"head-dim", head_dim}}, {{"gpu", "h200"}, {"seq", "1024"}})
        .text("kernel");
  };
#if defined(SAWTOOTH_HAVE_KERNELS)
  const bool built =
      std::ranges::any_of(kernels::kernel_variants(), [](const kernels::KernelVariant& one) {
        return one.head_dims() == kernels::HeadDims(192, 128);
      });
#else
  const bool built = true;  // a program without kernels predicts all
#endif
  EXPECT_EQ(!kernel("192/128").empty(), built);
  EXPECT_EQ(kernel("576/512"), "");
}

TEST(TileChoice, HasTilesOfItsOwnForTheBackwardPass) {
  const std::pair<std::string, std::string> backward{"pass", "backward"};
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}, backward}), "64x128");
  EXPECT_EQ(tile("h200", {{"tiles", "kernel"}, {"head-dim", "128"}, backward}), "64x128");
  // 99 KiB of shared memory a block.
  EXPECT_EQ(tile("gb10", {{"tiles", "kernel"}, {"head-dim", "128"}, backward}), "32x64");
}

TEST(TileChoice, OfFp32FollowsTheSharedMemoryInTheBackwardPassToo) {
  const auto fp32 = [](const std::string& gpu, const std::string& head_dim) {
    return tile(
        gpu,
        {{"tiles", "kernel"}, {"pass", "backward"}, {"dtype", "fp32"}, {"head-dim", head_dim}});
  };
  EXPECT_EQ(fp32("h200", "32"), "64x64");
  EXPECT_EQ(fp32("h200", "64"), "32x64");
  EXPECT_EQ(fp32("h200", "128"), "32x128");
  EXPECT_EQ(fp32("gb10", "64"), "32x64");
  EXPECT_EQ(fp32("gb10", "128"), "16x32");
}

TEST(TileChoice, RefusesByNameWhatFitsNowhere) {
  const std::string message =
      test::refusal_of({{"gpu", "gb10"}, {"tiles", "kernel"}, {"head-dim", "256"}});
  EXPECT_NE(message.find("--head-dim"), std::string::npos) << message;
  EXPECT_NE(message.find("101376 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("64x64 (167936 bytes)"), std::string::npos) << message;
}

}  // namespace
}  // namespace sawtooth::experiments
