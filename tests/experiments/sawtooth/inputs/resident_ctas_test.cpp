// What is known of this project's kernels and not of others: how many CTAs an SM holds, by the
// kernels themselves too, and values of the GPU's profile.
#include "experiments/sawtooth/inputs/resident_ctas.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/point.hpp"
#if defined(SAWTOOTH_HAVE_KERNELS)
#include "kernels/attention/variants.hpp"
#endif

namespace sawtooth::experiments {
namespace {

Point point(std::vector<std::pair<std::string, std::string>> options) {
  Settings given;
  assign(given, "gpu", "h200", {});
  assign(given, "seq", "16384", {});
  assign(given, "timing", "timed", {});
  for (const auto& [key, value] : options) assign(given, key, value, {});
  Catalog catalog;
  return resolve(given, catalog);
}

sim::Request request(std::vector<std::pair<std::string, std::string>> options) {
  return point(std::move(options)).request;
}

TEST(ResidentCtas, AreThoseOfTheTileWhateverTheLaunchAsksFor) {
  const sim::Request three =
      request({{"tile-q", "128"}, {"tile-kv", "64"}, {"ctas-per-sm", "3"}, {"launch", "static"}});
  EXPECT_EQ(three.schedule.workers, 396);
  EXPECT_EQ(three.resident_ctas, 2);
  EXPECT_EQ(three.speed.age_bias, 0.0);
  const sim::Request large = request({{"tile-q", "128"}, {"tile-kv", "128"}});
  EXPECT_EQ(large.resident_ctas, 2);
  EXPECT_FALSE(large.speed.age_bias.has_value());
  EXPECT_EQ(request({{"tile-q", "32"}, {"tile-kv", "32"}}).resident_ctas, 0);
}

TEST(ResidentCtas, OfOtherKernelsAreNotKnown) {
  EXPECT_EQ(request({{"system", "triton-tutorial"}}).resident_ctas, 0);
  EXPECT_EQ(request({{"kernel", "hopper"}, {"tile-q", "128"}, {"tile-kv", "128"}}).resident_ctas,
            0);
}

TEST(KernelParameters, AreThoseOfTheTileForThisProjectsKernelsAlone) {
  const auto tpc_spread = [](std::vector<std::pair<std::string, std::string>> options) {
    options.insert(options.end(), {{"head-dim", "128"}, {"tile-q", "128"}, {"tile-kv", "64"}});
    return point(std::move(options)).gpu.tpc_spread;
  };
  EXPECT_EQ(tpc_spread({}), 0.0);
  const auto of_others = tpc_spread({{"kernel", "hopper"}});
  EXPECT_GT(of_others, 0.0);
  EXPECT_EQ(tpc_spread({{"system", "triton-tutorial"}}), of_others);
}

TEST(ResidentCtas, AKnownAgeBiasOfThePointIsKept) {
  EXPECT_EQ(request({{"tile-q", "128"}, {"tile-kv", "64"}, {"age-bias", "0.2"}}).speed.age_bias,
            0.2);
}

#if defined(SAWTOOTH_HAVE_KERNELS)
TEST(ResidentCtas, AreWhatTheRegistersOfTheBuiltVariantsWereLimitedFor) {
  size_t found = 0;
  for (const kernels::KernelVariant& variant : kernels::kernel_variants()) {
    if (std::string_view(variant.family) != "mma" || variant.dtype != ElementType::bf16) continue;
    const ResidentCtas* row = resident_ctas(variant.head_dim, variant.tiling);
    ASSERT_NE(row, nullptr) << variant.head_dim << " " << variant.tiling.q_rows;
    EXPECT_EQ(row->ctas, variant.ctas_per_sm) << variant.head_dim << " " << variant.tiling.q_rows;
    ++found;
  }
  EXPECT_EQ(found, resident_ctas_table.size());
}
#endif

}  // namespace
}  // namespace sawtooth::experiments
