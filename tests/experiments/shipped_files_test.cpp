// Every profile, system and configuration that the project ships can be used as it is.
#include <filesystem>

#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"

namespace sawtooth::experiments {
namespace {

TEST(ShippedFiles, EveryGpuProfileIsRead) {
  const auto names = resource_names("profiles/gpus");
  ASSERT_GE(names.size(), 7u);
  for (const std::string& name : names) {
    const GpuFile gpu = read_gpu_file(resource_path("profiles/gpus", name, "gpu"));
    EXPECT_EQ(gpu.profile.name, name);
    for (const std::string& costs : gpu.kernel_costs)
      EXPECT_NO_THROW(read_kernel_file(resource_path("profiles/kernels", costs, name)));
    EXPECT_GT(gpu.profile.sms, 0);
  }
}

TEST(ShippedFiles, EverySystemResolvesOnEveryGpuForEveryMaskAndHeadDim) {
  Catalog catalog;
  const auto systems = resource_names("profiles/systems");
  ASSERT_GE(systems.size(), 13u);
  for (const std::string& system : systems) {
    for (const std::string& gpu : resource_names("profiles/gpus")) {
      for (const char* mask : {"none", "causal", "window:1024"}) {
        for (const char* head_dim : {"64", "128", "256"}) {
          const Settings given = test::given({{"seq", "4K"},
                                              {"system", system},
                                              {"gpu", gpu},
                                              {"mask", mask},
                                              {"head-dim", head_dim}});
          EXPECT_NO_THROW(resolve(given, catalog)) << system << ' ' << mask << ' ' << head_dim;
        }
      }
    }
  }
}

TEST(ShippedFiles, EveryConfigurationOfThePaperResolves) {
  Catalog catalog;
  int configurations = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SAWTOOTH_EXPERIMENTS_DIR "/studies/paper/lists")) {
    if (entry.path().extension() != ".ini") continue;
    ++configurations;
    const Settings tiles = test::given({{"tile-q", "64"}, {"tile-kv", "64"}}, {});
    for (const Settings& point : expand(read_configuration(entry.path().string()), tiles)) {
      EXPECT_NO_THROW(resolve(point, catalog)) << entry.path();
    }
  }
  EXPECT_GE(configurations, 3);
}

}  // namespace
}  // namespace sawtooth::experiments
