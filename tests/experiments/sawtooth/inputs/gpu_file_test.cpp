#include "experiments/sawtooth/inputs/gpu_file.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;

const std::string head = "[gpu]\ndescription = a GPU\n";
const std::string sms = "[sms]\nvalue = 4\nsource = datasheet\nnote = n\n";
const std::string l2 = "[l2-bytes]\nvalue = 1 MiB\nsource = assumed\nnote = n\n";

std::string message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.write("mine.ini", text);
  const std::string whole = message_of<UsageError>([&] { read_gpu_file(path); });
  EXPECT_TRUE(whole.starts_with(path)) << whole;
  return whole.substr(path.size());
}

TEST(GpuFile, EveryParameterReachesTheProfileAndUnknownOnesStayEmpty) {
  const TemporaryFolder folder;
  const GpuFile gpu = read_gpu_file(folder.write(
      "mine.ini",
      head + sms + l2 + "[dram-gb-per-s]\nvalue = 4800.5\nsource = measured\nnote = n\n"));
  EXPECT_EQ(gpu.profile.name, "mine");
  EXPECT_EQ(gpu.profile.sms, 4);
  EXPECT_EQ(gpu.profile.l2_bytes, 1 << 20);
  EXPECT_EQ(gpu.profile.dram_gb_per_s, 4800.5);
  EXPECT_EQ(gpu.profile.l2_halves, std::nullopt);
  ASSERT_EQ(gpu.parameters.size(), 3u);
  EXPECT_EQ(gpu.parameters[1].source, "assumed");
}

TEST(GpuFile, AKernelsOwnValueReplacesThatOfTheOthersForItAlone) {
  const TemporaryFolder folder;
  const GpuFile gpu = read_gpu_file(
      folder.write("mine.ini", head + sms + l2 +
                                   "[tpc-spread]\nvalue = 0.1\nsource = measured\nnote = n\n"
                                   "[tpc-spread d64-128x128]\nvalue = -0.2\nsource = measured\n"
                                   "note = n\n"));
  EXPECT_EQ(gpu.profile.tpc_spread, 0.1);
  sim::GpuProfile of_kernel = gpu.profile;
  set_kernel_parameters(gpu, 64, {128, 64}, of_kernel);
  EXPECT_EQ(of_kernel.tpc_spread, 0.1);
  set_kernel_parameters(gpu, 64, {128, 128}, of_kernel);
  EXPECT_EQ(of_kernel.tpc_spread, -0.2);
}

TEST(GpuFile, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(message(head + sms), ": section [l2-bytes] is missing");
  EXPECT_EQ(message(sms + l2), ": [gpu] has no description");
  EXPECT_EQ(
      message(head + "[sms]\nvalue = 4\nsource = rumour\nnote = n\n"),
      ":5: source: 'rumour' is not allowed; allowed: datasheet, measured, published, assumed");
  EXPECT_EQ(message(head + "[sms]\nvalue = 4\nsource = measured\n"), ":3: [sms] has no note");
  EXPECT_EQ(message(head + "[sms]\nvalue = 0\nsource = measured\nnote = n\n"),
            ":3: [sms] value: '0' is not allowed; allowed: a whole number from 1 on");
  EXPECT_EQ(message(head + "[sms]\nvalue = 1\nvalue = 2\n"), ":5: value: given twice");
  EXPECT_EQ(message(head + sms + sms), ":7: [sms]: given twice");
  EXPECT_EQ(message(head + "[sms]\nvalu = 1\n"), ":4: valu: unknown; allowed: value, source, note");
  EXPECT_TRUE(
      message(head + "[smms]\n").starts_with(":3: [smms]: unknown parameter; allowed: sms,"));
  EXPECT_EQ(message(head + "[sms d64]\nvalue = 4\nsource = measured\nnote = n\n"),
            ":3: [sms d64]: 'd64' is no kernel; allowed: such as d128-128x64");
  EXPECT_TRUE(message(head + "[tpc-spread]\nvalue = much\nsource = measured\nnote = n\n")
                  .ends_with("[tpc-spread] value: 'much' is not allowed; allowed: a number"));
  EXPECT_TRUE(message("sms = 3\n").starts_with(":1: sms: stands before the first section"));
}

}  // namespace
}  // namespace sawtooth::experiments
