// Every profile, system and configuration that the project ships can be used as it is.
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/die_file.hpp"
#include "experiments/sawtooth/inputs/gpu_file.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

TEST(ShippedFiles, EveryGpuProfileIsRead) {
  const auto names = resource_names("profiles/gpus");
  ASSERT_GE(names.size(), 7u);
  for (const std::string& name : names) {
    const GpuFile gpu = read_gpu_file(resource_path("profiles/gpus", name, "gpu"));
    EXPECT_EQ(gpu.profile.name, name);
    EXPECT_GT(gpu.profile.sms, 0);
  }
}

// Speeds are shares of the usual one; a GPC of an H200 differs by less than 1 % from it, a TPC that
// is apart by 3 %.
TEST(ShippedFiles, EveryDieIsReadAndIsOfItsGpu) {
  int with_speeds = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(SAWTOOTH_EXPERIMENTS_DIR "/data/h200")) {
    const std::string name = entry.path().filename().string();
    if (name.find("die") == std::string::npos || entry.path().extension() != ".ini") continue;
    const DieFile die = read_die_file(entry.path().string());
    if (die.speeds.slowness.empty()) continue;
    ++with_speeds;
    double sum = 0;
    for (const double slowness : die.speeds.slowness) {
      EXPECT_LT(std::abs(slowness), 0.05) << entry.path();
      sum += slowness;
    }
    EXPECT_NEAR(sum / double(die.speeds.slowness.size()), 0, 1e-3) << entry.path();
    Catalog catalog;
    Settings given;
    for (const auto& [key, value] : {std::pair{"seq", "4K"}, std::pair{"timing", "timed"}})
      assign(given, key, value, {});
    assign(given, "die", entry.path().string(), {});
    assign(given, "gpu", "h200", {});
    EXPECT_EQ(resolve(given, catalog).gpu.sm_slowness, speeds_of(die, 64, {64, 64}).slowness);
    given["gpu"] = {{"gb10"}, {}};
    EXPECT_THROW(resolve(given, catalog), UsageError);
  }
  EXPECT_GE(with_speeds, 2);
}

TEST(ShippedFiles, EverySystemResolvesOnEveryGpuForEveryMaskAndHeadDim) {
  Catalog catalog;
  const auto systems = resource_names("profiles/systems");
  ASSERT_GE(systems.size(), 13u);
  for (const std::string& system : systems) {
    for (const std::string& gpu : resource_names("profiles/gpus")) {
      for (const char* mask : {"none", "causal", "window:1024"}) {
        for (const char* head_dim : {"64", "128", "256"}) {
          Settings given;
          assign(given, "seq", "4K", {});
          assign(given, "system", system, {});
          assign(given, "gpu", gpu, {});
          assign(given, "mask", mask, {});
          assign(given, "head-dim", head_dim, {});
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
    Settings tiles;
    assign(tiles, "tile-q", "64", {});
    assign(tiles, "tile-kv", "64", {});
    for (const Settings& point : expand(read_configuration(entry.path().string()), tiles)) {
      EXPECT_NO_THROW(resolve(point, catalog)) << entry.path();
    }
  }
  EXPECT_GE(configurations, 10);
}

}  // namespace
}  // namespace sawtooth::experiments
