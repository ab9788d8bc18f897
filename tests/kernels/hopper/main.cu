// Checks every variant of the Hopper kernel against a double-precision reference on the GPU, then
// times it. Needs an sm_90 device. Exit code 1 when a check fails.
//   hopper_check [check|time|all] [part of a variant's name]
// Every variant is checked and timed in a process of its own with a deadline, so that one that
// hangs takes nothing with it.
#include <csignal>
#include <cstdio>
#include <string>

#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/attention/variants.hpp"
#include "tests/kernels/hopper/correctness.hpp"
#include "tests/kernels/hopper/timing.hpp"

namespace {

using namespace sawtooth::kernels;
using namespace sawtooth::kernels::hopper;

/// Runs `work` in a process of its own; its exit code, or 1 when it died.
template <class Work>
int apart(const KernelVariant& variant, Work work) {
  constexpr unsigned deadline_s = 30;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(deadline_s);
    const int code = work(variant);
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::printf("%-16s died of signal %d%s\n", variant.name, WTERMSIG(status),
              WTERMSIG(status) == SIGALRM ? " (a hang)" : "");
  return 1;
}

int require_device() {
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) == cudaSuccess && device.major == 9) {
    std::printf("%s, %d SMs\n", device.name, device.multiProcessorCount);
    return 0;
  }
  std::printf("hopper_check needs an sm_90 device\n");
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const std::string_view only = argc > 2 ? argv[2] : "";
  if (const int code = apart({}, [](const KernelVariant&) { return require_device(); })) {
    return code;
  }
  int failures = 0;
  const auto each = [&](auto work) {
    for (const KernelVariant& variant : built_variants()) {
      const bool named = std::string_view(variant.name).find(only) != std::string_view::npos;
      if (named && std::string_view(variant.family).starts_with("hopper"))
        failures += apart(variant, work);
    }
  };
  if (what != "time") each(check_variant);
  if (what != "check") {
    std::printf(
        "TFLOP/s, batch max(1, 16384 / S), 16 heads (2 at the last length), "
        "causal counts half\n%-51s",
        "");
    for (const int64_t s : timed_lengths()) std::printf(" %6d", int(s));
    std::printf("\n");
    each([](const KernelVariant& variant) {
      time_variant(variant);
      return 0;
    });
  }
  return failures == 0 ? 0 : 1;
}
