// Every value of a profile has a least and a most: what is beyond is refused by name, and with what
// is within a timed prediction ends with a time, or says by name what forbids it.
#include <cmath>
#include <fstream>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;
using testing::AnyOf;
using testing::HasSubstr;

struct Limits {
  const char* file;  // of experiments/profiles; the value replaces the one that it has
  const char* key;
  const char* least;
  const char* most;
  const char* below;
  const char* above;
};

void PrintTo(const Limits& limits, std::ostream* out) {
  *out << limits.key;
}

constexpr const char* gpu = "gpus/h200";
constexpr const char* kernel = "kernels/mma-h200";
constexpr const char* die = "dies/h200-judgement";
const std::string profiles = SAWTOOTH_EXPERIMENTS_DIR "/profiles/";

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The shipped file with `value`: in all sections that have the key, else in the last one.
std::string with(const Limits& limits, const std::string& value) {
  const std::string text = text_of(profiles + limits.file + ".ini");
  std::string list = value;  // of a die, where one value stands for all SMs
  const bool of_sms = limits.file == die && std::string_view(limits.key) != "ticket-half";
  for (int sm = 1; of_sms && sm < 132; ++sm) list += "," + value;
  const std::string line = std::string(limits.key) + " = " + list + "; assumed; test";
  const std::regex found("(^|\n)" + std::string(limits.key) + " = [^\n]*");
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
  if (limits.file == die) set("die", path);
  for (const auto& [key, text] : {std::pair{"seq", "1K"},
                                  {"heads", "4"},
                                  {"head-dim", "64"},
                                  {"tile-q", "128"},
                                  {"tile-kv", "128"},
                                  {"timing", "timed"},
                                  {"prefetch", "2"},
                                  {"scan", "sawtooth"}})
    set(key, text);
  if (std::string_view(limits.key) == "step-ns") set("ctas-per-sm", "2");
  Catalog catalog;
  return resolve(settings, catalog);
}

class ProfileLimits : public testing::TestWithParam<Limits> {};

TEST_P(ProfileLimits, WhatIsBeyondIsRefusedByName) {
  const TemporaryFolder folder;
  for (const char* value : {GetParam().below, GetParam().above}) {
    const std::string message =
        message_of<UsageError>([&] { point_with(folder, GetParam(), value); });
    EXPECT_THAT(message, HasSubstr(std::string(GetParam().key) + ": ")) << value;
    EXPECT_THAT(message, HasSubstr("allowed: ")) << value;
  }
}

TEST_P(ProfileLimits, WhatIsWithinGivesATimeOrIsRefusedByAName) {
  const TemporaryFolder folder;
  for (const char* value : {GetParam().least, GetParam().most}) {
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
                    Limits{gpu, "fabric-gb-per-s", "1", "1e6", "-1", "1e7"},
                    Limits{gpu, "port-gb-per-s", "0.1", "1e5", "0", "1e300"},
                    Limits{gpu, "tile-gb-per-s", "0.1", "1e5", "0", "1e300"},
                    Limits{gpu, "sm-clock-mhz", "10", "1e5", "0", "1e9"},
                    Limits{gpu, "bf16-tflops", "0.01", "1e6", "0", "1e9"},
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

INSTANTIATE_TEST_SUITE_P(
    Kernels, ProfileLimits,
    testing::Values(Limits{kernel, "tensor-tflops", "0.01", "1e6", "0", "1e7"},
                    Limits{kernel, "exp-tera-per-s", "0.001", "1e5", "0", "1e7"},
                    Limits{kernel, "tensor-share", "0", "1", "-1", "1.1"},
                    Limits{kernel, "exp-per-clock", "0", "1024", "-1", "1025"},
                    Limits{kernel, "fixed-ns", "0", "1e6", "-1", "1e7"},
                    Limits{kernel, "exposed-ns", "0", "1e6", "-1", "1e7"},
                    Limits{kernel, "step-ns", "1", "1e9", "0", "1e10"},
                    Limits{kernel, "jitter", "0", "0.2", "-0.1", "1e9"},
                    Limits{kernel, "jitter-shared", "0", "0.2", "-0.1", "1"},
                    Limits{kernel, "jitter-in-step", "0", "0.2", "-0.1", "1"},
                    Limits{kernel, "wrong-phase-slowness", "0", "1", "-0.1", "1.1"},
                    Limits{kernel, "wrong-phase-every-steps", "1", "1e9", "0", "1e10"},
                    Limits{kernel, "wrong-phase-locked-share", "0", "1", "-0.1", "1.1"},
                    Limits{kernel, "wrong-phase-met-share", "0", "1", "-0.1", "1.1"},
                    Limits{kernel, "wrong-phase-steps", "1", "1e6", "0", "1e7"},
                    Limits{kernel, "staggered-share", "0", "1", "-0.1", "1.1"},
                    Limits{kernel, "staggered-finish-share", "0", "1", "-0.1", "1.1"},
                    Limits{kernel, "staggered-kept-share", "0", "1", "-0.1", "1.1"},
                    Limits{kernel, "staggered-gain", "0", "0.5", "-0.1", "0.6"},
                    Limits{kernel, "staggered-gain-spread", "0", "0.1", "-0.1", "0.2"},
                    Limits{kernel, "jitter-by-age", "0", "1", "-0.1", "1.1"},
                    Limits{kernel, "age-bias", "-0.9", "0.9", "-1", "1"},
                    Limits{kernel, "age-bias-prefetch", "-0.9", "0.9", "-1", "1"},
                    Limits{kernel, "keep-step", "off", "on", "0", "yes"},
                    Limits{kernel, "resident-ctas", "1", "32", "0", "33"},
                    Limits{kernel, "sm-spread", "0", "0.1", "-0.1", "0.2"},
                    Limits{kernel, "dram-slowness", "0", "1", "-0.1", "1.1"},
                    Limits{kernel, "dram-late-ns", "0", "1e5", "-1", "1e6"},
                    Limits{kernel, "tpc-spread", "-0.2", "0.2", "-0.3", "0.3"},
                    Limits{kernel, "tpc-spread-prefetch", "-0.2", "0.2", "-0.3", "0.3"},
                    Limits{kernel, "prefetch-step-ns", "-1000", "1e5", "-1e5", "1e6"},
                    Limits{kernel, "prefetch-lines-ns", "-1000", "1e5", "-1e5", "1e6"},
                    Limits{kernel, "prefetch-scan-ns", "-1000", "1e5", "-1e5", "1e6"},
                    Limits{kernel, "prefetch-step-shared-ns", "-1000", "1e5", "-1e5", "1e6"},
                    Limits{kernel, "prefetch-lines-shared-ns", "-1000", "1e5", "-1e5", "1e6"},
                    Limits{kernel, "prefetch-lines-bias", "-0.4", "0.4", "-0.5", "0.5"},
                    Limits{kernel, "item-begin-ns", "0", "1e6", "-1", "1e7"},
                    Limits{kernel, "item-end-ns", "0", "1e6", "-1", "1e7"},
                    Limits{kernel, "item-spread-ns", "-1e6", "1e6", "-1e7", "1e7"},
                    Limits{kernel, "merge-ns", "0", "1e6", "-1", "1e7"},
                    Limits{kernel, "combine-ns", "0", "1e6", "-1", "1e7"},
                    Limits{kernel, "dram-share", "0.01", "1", "0", "1.1"},
                    Limits{kernel, "stages", "1", "8", "0", "9"},
                    Limits{kernel, "lead-k-steps", "0", "7", "-0.1", "7.1"},
                    Limits{kernel, "lead-v-steps", "0", "7", "-0.1", "7.1"},
                    Limits{kernel, "waits-a-tile", "1", "64", "0.9", "65"},
                    Limits{kernel, "exposure-error", "0", "10", "-0.1", "11"},
                    Limits{kernel, "spill-bytes", "1", "1GiB", "0", "2GiB"}));

INSTANTIATE_TEST_SUITE_P(
    Dies, ProfileLimits,
    testing::Values(Limits{die, "slowness", "-0.5", "0.5", "-0.6", "0.6"},
                    Limits{die, "slowness-older", "-0.5", "0.5", "-0.6", "0.6"},
                    Limits{die, "slowness-younger", "-0.5", "0.5", "-0.6", "0.6"},
                    Limits{die, "cta-half", "0", "1", "-1", "2"},
                    Limits{die, "sm-half", "0", "1", "-1", "2"},
                    Limits{die, "ticket-half", "0", "1", "-1", "2"}));

}  // namespace
}  // namespace sawtooth::experiments
