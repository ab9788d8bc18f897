// What the kernel of a point costs: of this project's kernels, of others, and as the point has it;
// how many CTAs an SM holds, by the table of kernels too.
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "kernels/attention/variant_list.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"

namespace sawtooth::experiments {
namespace {

using test::Options;

Point point(const Options& options) {
  return test::point_of(options, {{"gpu", "h200"}, {"seq", "16384"}, {"timing", "timed"}});
}

sim::Request request(const Options& options) {
  return point(options).request;
}

TEST(ResidentCtas, AreThoseOfTheTileWhateverTheLaunchAsksFor) {
  const sim::Request three =
      request({{"tile-q", "128"}, {"tile-kv", "64"}, {"ctas-per-sm", "3"}, {"launch", "static"}});
  EXPECT_EQ(three.schedule.workers, 396);
  EXPECT_EQ(three.kernel.resident_ctas, 2);
  EXPECT_TRUE(three.kernel.keep_step);
  const sim::Request large = request({{"tile-q", "128"}, {"tile-kv", "128"}});
  EXPECT_EQ(large.kernel.resident_ctas, 2);
  EXPECT_FALSE(large.kernel.keep_step);
  EXPECT_EQ(request({{"tile-q", "32"}, {"tile-kv", "32"}}).kernel.resident_ctas, 0);
}

TEST(ResidentCtas, OfOtherKernelsAreNotKnown) {
  EXPECT_EQ(request({{"system", "triton-tutorial"}}).kernel.resident_ctas, 0);
  EXPECT_EQ(
      request({{"kernel", "hopper"}, {"tile-q", "128"}, {"tile-kv", "128"}}).kernel.resident_ctas,
      0);
}

TEST(KernelParameters, AreThoseOfTheTileForThisProjectsKernelsAlone) {
  const auto tpc_spread = [](Options options) {
    options.insert(options.end(), {{"head-dim", "128"}, {"tile-q", "128"}, {"tile-kv", "64"}});
    return request(options).kernel.tpc_spread;
  };
  EXPECT_LT(tpc_spread({}), 0.0);
  EXPECT_EQ(tpc_spread({{"kernel", "hopper"}}), 0.0);
  EXPECT_EQ(tpc_spread({{"system", "triton-tutorial"}}), 0.0);
}

// [pace] of profiles/gpus/h100-sxm.ini; costs that a call gives are already those of its GPU.
TEST(KernelCosts, HaveThePaceOfTheirFileOnThisGpuUnlessGiven) {
  const auto pace = [](Options options) {
    options.insert(
        options.end(),
        {{"gpu", "h100-sxm"}, {"head-dim", "128"}, {"tile-q", "128"}, {"tile-kv", "128"}});
    return request(options).kernel.pace;
  };
  const GpuFile h100 =
      read_gpu_file(std::string(SAWTOOTH_EXPERIMENTS_DIR) + "/profiles/gpus/h100-sxm.ini");
  const double of_mma = h100.paces.at("mma-h200"), of_hopper = h100.paces.at("hopper-h200");
  EXPECT_LT(of_mma, of_hopper);
  EXPECT_EQ(pace({{"kernel", "mma"}}), of_mma);
  EXPECT_EQ(pace({{"kernel", "hopper"}}), of_hopper);
  EXPECT_EQ(pace({{"kernel", "hopper"}, {"step-ns", "1500"}}), 1);
  EXPECT_EQ(pace({{"kernel", "hopper"}, {"kernel-costs", "hopper-h200"}}), 1);
}

TEST(KernelCosts, OfTheHopperKernelAreItsOwn) {
  const auto step_ns = [](const char* kernel) {
    return request({{"head-dim", "128"}, {"tile-q", "128"}, {"tile-kv", "128"}, {"kernel", kernel}})
        .kernel.step_ns;
  };
  EXPECT_FALSE(step_ns("mma").has_value());
  // wgmma: two products of 128 x 128 x 128 on an SM at 600 to 800 TFLOP/s take 1.4 to 1.9 us.
  ASSERT_TRUE(step_ns("hopper").has_value());
  EXPECT_GT(*step_ns("hopper"), 1400);
  EXPECT_LT(*step_ns("hopper"), 1900);
}

TEST(KernelCosts, TilesThatComeByTmaCountHalfOfTheFabricMisses) {
  const auto counted = [&](const char* kernel) {
    const Point made = point({{"head-dim", "128"},
                              {"tile-q", "128"},
                              {"tile-kv", "128"},
                              {"seq", "32K"},
                              {"kernel", kernel},
                              {"timing", "lockstep"},
                              {"l2", "halves"},
                              {"l2-bytes", "8MiB"}});
    return predict_halves(made.request, made.gpu).total;
  };
  const sim::Counters loads = counted("mma"), bulk = counted("hopper");
  EXPECT_EQ(loads.dram_read_sectors, bulk.dram_read_sectors);
  EXPECT_EQ(loads.l2_read_miss_sectors, bulk.l2_read_miss_sectors);
  ASSERT_GT(*loads.fabric_read_miss_sectors, 1000);
  EXPECT_EQ(*bulk.fabric_read_miss_sectors, (*loads.fabric_read_miss_sectors + 1) / 2);
}

TEST(ResidentCtas, AKnownAgeBiasOfThePointIsKept) {
  const sim::Request known = request({{"tile-q", "128"}, {"tile-kv", "64"}, {"age-bias", "0.2"}});
  EXPECT_EQ(known.kernel.age_bias, 0.2);
  EXPECT_FALSE(known.kernel.keep_step);
}

TEST(KernelCosts, OfThePointReplaceThoseOfTheFiles) {
  const sim::KernelCost cost = request({{"step-exposed-ns", "0"},
                                        {"age-bias", "0.1"},
                                        {"stages", "3"},
                                        {"step-ns", "900"},
                                        {"spill-bytes", "128"}})
                                   .kernel;
  EXPECT_EQ(cost.exposed_ns, 0);
  EXPECT_EQ(cost.age_bias, 0.1);
  EXPECT_EQ(cost.stages, 3);
  EXPECT_EQ(cost.step_ns, 900);
  EXPECT_EQ(cost.spill_bytes, 128);
}

TEST(KernelCosts, OfAGpuWithoutMeasuredOnesAreTheAssumedOnes) {
  const sim::KernelCost cost = request({{"gpu", "gb10"}}).kernel;
  EXPECT_EQ(cost.tensor_tflops, std::nullopt);
  EXPECT_EQ(cost.tensor_share, 0.8);
  EXPECT_EQ(cost.exposed_ns, 440);
  EXPECT_EQ(cost.resident_ctas, 3) << "of 64x64 at head dim 64, whatever the GPU";
}

TEST(ResidentCtas, AreWhatTheRegistersOfTheVariantsAreLimitedFor) {
  const ProfileFile file = read_kernel_file(SAWTOOTH_EXPERIMENTS_DIR "/profiles/kernels/mma.ini");
  size_t found = 0;
  for (const kernels::VariantRow& variant : kernels::variant_list) {
    if (variant.family != kernels::families::mma) continue;
    sim::KernelCost cost;
    set_kernel_cost(file, {variant.head_dims.of_q, variant.tiling}, cost);
    EXPECT_EQ(cost.resident_ctas, variant.ctas_per_sm)
        << variant.head_dims.text() << " " << variant.tiling.q_rows;
    ++found;
  }
  EXPECT_EQ(found, file.sections.size() - 2) << "[kernel] and [every] are no shapes";
}

}  // namespace
}  // namespace sawtooth::experiments
