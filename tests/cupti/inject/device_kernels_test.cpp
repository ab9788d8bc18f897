#include "cupti/inject/device_kernels.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace sawtooth::inject {
namespace {

TEST(DeviceKernels, TheAssemblerTakesThemForTheOldestAndTheNewestArchitecture) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no ptxas on PATH";
  const auto folder = std::filesystem::path(testing::TempDir());
  const auto source = folder / "device_kernels.ptx", binary = folder / "device_kernels.cubin";
  std::ofstream(source) << device_kernels();
  for (const std::string architecture : {"sm_75", "sm_90", "sm_121"}) {
    const std::string command =
        "ptxas -arch " + architecture + " '" + source.string() + "' -o '" + binary.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream file(binary, std::ios::binary);
    const std::string code{std::istreambuf_iterator<char>(file), {}};
    // The names that ContextRecorder asks for; .text.NAME is the section of a kernel's code.
    for (const std::string name : {"sawtooth_write", "sawtooth_read", "sawtooth_wait"})
      EXPECT_NE(code.find(".text." + name), std::string::npos) << architecture << ' ' << name;
    std::filesystem::remove(binary);
  }
  std::filesystem::remove(source);
}

}  // namespace
}  // namespace sawtooth::inject
