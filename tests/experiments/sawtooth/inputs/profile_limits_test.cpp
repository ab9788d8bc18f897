// Every value of a profile has a least and a most: what is beyond is refused by name, and with what
// is within a timed prediction ends with a time, or says by name what forbids it.
#include <cmath>
#include <fstream>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;
using testing::AnyOf;
using testing::HasSubstr;

struct Limits {
  std::string file;  // of experiments/profiles; the value replaces the one that it has
  std::string key;
  std::string least;
  std::string most;
  std::string below;
  std::string above;
};

void PrintTo(const Limits& limits, std::ostream* out) {
  *out << limits.key;
}

constexpr const char* gpu = "gpus/h200";
constexpr const char* kernel = "kernels/mma-h200";
const std::string profiles = SAWTOOTH_EXPERIMENTS_DIR "/profiles/";

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The shipped file with `value`: in all sections that have the key, else in the last one.
std::string with(const Limits& limits, const std::string& value) {
  const std::string text = text_of(profiles + limits.file + ".ini");
  const std::string line = limits.key + " = " + value + "; assumed; test";
  const std::regex found("(^|\n)" + limits.key + " = [^\n]*");
  if (std::regex_search(text, found)) return std::regex_replace(text, found, "$1" + line);
  const size_t kernels = text.find("\n[every]");
  const std::string place = kernels == std::string::npos ? text + "\n" : text.substr(0, kernels);
  return limits.file == gpu || kernels == std::string::npos
             ? text + "\n" + line + "\n"
             : place + "\n[every]\n" + line + text.substr(kernels + 8);
}

Point point_with(const TemporaryFolder& folder, const Limits& limits, const std::string& value) {
  const std::string path = folder.write("mine.ini", with(limits, value));
  Settings settings;
  const auto set = [&](const std::string& key, const std::string& text) {
    assign(settings, key, text, {});
  };
  set("gpu", limits.file == gpu ? path : profiles + "gpus/h200.ini");
  if (limits.file == kernel) {
    std::string text = text_of(profiles + "gpus/h200.ini");
    const size_t pace = text.find("[pace]");
    text.erase(pace, text.find("[judged]") - pace);
    text.replace(text.find("mma-h200"), 8, path);
    settings["gpu"].values = {folder.write("gpu.ini", text)};
  }
  for (const auto& [key, text] : {std::pair{"seq", "1K"},
                                  {"heads", "4"},
                                  {"head-dim", "64"},
                                  {"tile-q", "128"},
                                  {"tile-kv", "128"},
                                  {"timing", "timed"},
                                  {"prefetch", "2"},
                                  {"scan", "sawtooth"}})
    set(key, text);
  if (limits.key == "step-ns") set("ctas-per-sm", "2");
  Catalog catalog;
  return resolve(settings, catalog);
}

class ProfileLimits : public testing::TestWithParam<Limits> {};

TEST_P(ProfileLimits, WhatIsBeyondIsRefusedByName) {
  const TemporaryFolder folder;
  for (const std::string& value : {GetParam().below, GetParam().above}) {
    const std::string message =
        message_of<UsageError>([&] { point_with(folder, GetParam(), value); });
    EXPECT_THAT(message, HasSubstr(GetParam().key + ": ")) << value;
    EXPECT_THAT(message, HasSubstr("allowed: ")) << value;
  }
}

TEST_P(ProfileLimits, WhatIsWithinGivesATimeOrIsRefusedByAName) {
  const TemporaryFolder folder;
  for (const std::string& value : {GetParam().least, GetParam().most}) {
    try {
      const Point point = point_with(folder, GetParam(), value);
      const sim::Prediction made = predict(point.request, point.gpu, *point.keys.l2);
      ASSERT_TRUE(made.time_us.has_value()) << value;
      EXPECT_TRUE(std::isfinite(*made.time_us) && *made.time_us > 0) << value << *made.time_us;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), AnyOf(HasSubstr("allowed: "), HasSubstr("gpc-sms: "))) << value;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("allowed: ")) << value;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gpus, ProfileLimits,
    testing::Values(Limits{gpu, "sms", "1", "1024", "0", "1025"},
                    Limits{gpu, "l2-bytes", "64KiB", "64GiB", "63KiB", "65GiB"},
                    Limits{gpu, "l2-halves", "1", "2", "0", "3"},
                    Limits{gpu, "l2-ways", "1", "90", "0", "257"},
                    Limits{gpu, "l2-dirty-ways", "1", "16", "0", "17"},
                    Limits{gpu, "l2-line-bytes", "32", "128", "48", "256"},
                    Limits{gpu, "shared-memory-block-bytes", "1KiB", "64MiB", "1", "65MiB"},
                    Limits{gpu, "l2-reserved-share", "0", "0.0624", "-0.1", "0.0625"},
                    Limits{gpu, "l2-scattered-share", "0", "1", "-0.1", "1.1"},
                    Limits{gpu, "l2-running-share", "0.001", "1", "0", "1.1"},
                    Limits{gpu, "far-first-waiting-share", "0", "1", "-1", "2"},
                    Limits{gpu, "far-first-running-share", "0", "1", "-1", "2"},
                    Limits{gpu, "coalescer-waiting-share", "0.001", "1", "0", "2"},
                    Limits{gpu, "coalescer-running-share", "0.001", "1", "0", "2"},
                    Limits{gpu, "coalescer-sms", "1", "64", "0", "65"},
                    Limits{gpu, "dram-gb-per-s", "1", "1e6", "0", "inf"},
                    Limits{gpu, "l2-gb-per-s", "1", "1e6", "0", "nan"},
                    Limits{gpu, "tile-gb-per-s", "0.1", "1e5", "0", "1e300"},
                    Limits{gpu, "sm-clock-mhz", "10", "1e5", "0", "1e9"},
                    Limits{gpu, "bf16-tflops", "0.01", "1e6", "0", "1e9"},
                    Limits{gpu, "mma-share", "0.01", "1", "0", "1.1"},
                    Limits{gpu, "latency-near-ns", "1", "246", "0", "1e6"},
                    Limits{gpu, "latency-far-ns", "154", "1e5", "153", "1e6"},
                    Limits{gpu, "latency-dram-ns", "1", "1e5", "0", "1e9"},
                    Limits{gpu, "gpc-sms", "16,16,16,16,16,16,18,18", "16,16,16,16,16,18,16,18",
                           "16,16,16,16,16,16,18,18,0", "16,16,16,16,15,17,18,18"},
                    Limits{gpu, "gpc-half", "0,0,0,0,0,0,0,0", "1,1,1,1,1,1,1,1", "-1", "0,1,2"},
                    Limits{gpu, "cta-order", "0,1,2,3,4,5,6,7", "7,6,5,4,3,2,1,0", "0:5-4",
                           "0:0-2147483647,1,2,3,4,5,6,7"},
                    Limits{gpu, "tpc-turns", "0,1,2,3,4,5,6,7", "7,6,5,4,3,2,1,0", "0,0,1",
                           "0,1,2,3,4,5,6,2147483647"},
                    Limits{gpu, "sm-spread", "0", "0.1", "-0.1", "0.2"},
                    Limits{gpu, "launch-ns", "0", "1e6", "-1", "1e7"},
                    Limits{gpu, "start-spread-ns", "0", "1e6", "-1", "1e7"},
                    Limits{gpu, "start-uneven-share", "0", "1", "-1", "1.1"},
                    Limits{gpu, "refill-ns", "0", "1e6", "-1", "1e7"},
                    Limits{gpu, "ticket-hop-ns", "0", "1e5", "-1", "1e6"}));

// Every number of a kernel's costs has limits.
std::vector<Limits> limits_of_kernels() {
  std::vector<Limits> all;
  for (const auto& key : sim::kernel_cost_keys) {
    const std::string name(key.name);
    if (key.unit == sim::ProfileUnit::flag) {
      all.push_back({kernel, name, "off", "on", "0", "yes"});
      continue;
    }
    const double beyond = key.unit == sim::ProfileUnit::real ? 0.1 : 1;
    all.push_back({kernel, name, shortest(key.low), shortest(key.high), shortest(key.low - beyond),
                   shortest(key.high + beyond)});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kernels, ProfileLimits, testing::ValuesIn(limits_of_kernels()));

}  // namespace
}  // namespace sawtooth::experiments
