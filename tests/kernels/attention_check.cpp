// Checks the attention kernels on a GPU against the double-precision reference without a test
// framework: attention_check [points] [first seed]. Exit 0 all right, 1 a check failed, 3 no GPU.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tests/kernels/random_points.hpp"

int main(int argc, char** argv) {
  using namespace sawtooth::kernels;
  const uint64_t points = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  constexpr int shown_failures = 20;
  constexpr uint64_t progress_every = 50;
  std::string reason;
  if (!device_available(reason)) {
    std::fprintf(stderr, "attention_check: %s\n", reason.c_str());
    return 3;
  }
  int failures = 0;
  double worst[2] = {0, 0};
  try {
    for (uint64_t seed = first; seed < first + points; ++seed) {
      if ((seed - first) % progress_every == 0) {
        std::fprintf(stderr, "point %llu of %llu\n", static_cast<unsigned long long>(seed - first),
                     static_cast<unsigned long long>(points));
      }
      const auto dtype = size_t(random_point(seed).call.problem.dtype);
      const std::string wrong = run_and_judge(seed, worst[dtype]);
      if (wrong.empty()) continue;
      if (++failures <= shown_failures)
        std::printf("FAILED %llu %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
    }
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  std::printf("%llu points, %d failed; worst relative error bf16 %.2e, fp16 %.2e\n",
              static_cast<unsigned long long>(points), failures, worst[0], worst[1]);
  return failures == 0 ? 0 : 1;
}
