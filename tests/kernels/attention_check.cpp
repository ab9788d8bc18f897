// Checks the attention kernels on a GPU against the double-precision reference without a test
// framework: results, log-sum-exp, memory that must stay untouched, and the recorded order.
// Exit 0 all right, 1 a check failed, 2 wrong usage, 3 no GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/attention/variant_list.hpp"
#include "tests/kernels/backward_points.hpp"
#include "tests/kernels/random_points.hpp"

namespace {

using namespace sawtooth::kernels;

constexpr const char* usage =
    "attention_check [--pass backward] [points] [first seed] [FAMILY]: random problems and "
    "schedules\n"
    "(300 from seed 0); of a family alone those of its kernels\n"
    "attention_check [--pass backward] --covering [FAMILY]: the covering set, small enough for\n"
    "compute-sanitizer\n";

constexpr uint64_t progress_every = 50;

void show_progress(uint64_t done, uint64_t points) {
  if (done % progress_every == 0)
    std::fprintf(stderr, "point %llu of %llu\n", static_cast<unsigned long long>(done),
                 static_cast<unsigned long long>(points));
}

/// At once, so that nothing is lost when a later point never ends.
void show_failure(uint64_t seed, const std::string& wrong) {
  std::printf("FAILED %llu %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
  std::fflush(stdout);
}

struct Tally {
  int points = 0;
  int failures = 0;
  double worst[3] = {0, 0, 0};  // relative error, by element type

  void run(const RandomPoint& point, uint64_t seed) {
    constexpr int shown_failures = 20;
    ++points;
    const std::string wrong = run_and_judge(point, seed, worst[size_t(point.call.problem.dtype)]);
    if (!wrong.empty() && ++failures <= shown_failures) show_failure(seed, wrong);
  }
};

void run_random(Tally& tally, uint64_t points, uint64_t first, std::string_view family) {
  for (uint64_t seed = first; seed < first + points; ++seed) {
    show_progress(seed - first, points);
    const RandomPoint point = random_point(seed);
    if (family.empty() || family == point.call.family) tally.run(point, seed);
  }
}

void run_covering(Tally& tally, std::string_view family) {
  std::vector<KernelVariant> variants;
  for (const KernelVariant& variant : kernel_variants())
    if (runs_here(variant) && (family.empty() || family == variant.family))
      variants.push_back(variant);
  for (const RandomPoint& point : covering_points(variants))
    tally.run(point, uint64_t(tally.points));
}

int check_forward(bool covering, uint64_t points, uint64_t first, std::string_view family) {
  Tally tally;
  if (covering)
    run_covering(tally, family);
  else
    run_random(tally, points, first, family);
  std::printf("%d points, %d failed; worst relative error bf16 %.2e, fp16 %.2e, fp32 %.2e\n",
              tally.points, tally.failures, tally.worst[0], tally.worst[1], tally.worst[2]);
  return tally.points > 0 && tally.failures == 0 ? 0 : 1;
}

int check_backward(bool covering, uint64_t points, uint64_t first, std::string_view family) {
  constexpr int shown_failures = 20;
  int failures = 0;
  GradientErrors worst[3]{};  // by element type
  const std::vector<BackwardPoint> all =
      covering ? covering_backward_points(family) : std::vector<BackwardPoint>();
  if (covering) points = all.size();
  for (uint64_t i = 0; i < points; ++i) {
    show_progress(i, points);
    const uint64_t seed = covering ? i : first + i;
    const BackwardPoint point = covering ? all[i] : random_backward_point(seed, family);
    const std::string wrong = run_and_judge(point, seed, worst[size_t(point.call.problem.dtype)]);
    if (!wrong.empty() && ++failures <= shown_failures) show_failure(seed, wrong);
  }
  std::printf(
      "%llu points of the backward pass, %d failed; worst relative errors of dQ, dK, dV: "
      "bf16 %.2e %.2e %.2e, fp16 %.2e %.2e %.2e, fp32 %.2e %.2e %.2e\n",
      static_cast<unsigned long long>(points), failures, worst[0][0], worst[0][1], worst[0][2],
      worst[1][0], worst[1][1], worst[1][2], worst[2][0], worst[2][1], worst[2][2]);
  return points > 0 && failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> words(argv + 1, argv + argc);
  const bool backward = words.size() > 1 && words[0] == "--pass" && words[1] == "backward";
  if (backward) words.erase(words.begin(), words.begin() + 2);
  const bool covering = !words.empty() && words[0] == "--covering";
  uint64_t numbers[] = {300, 0};  // points, first seed
  size_t used = covering ? 1 : 0;
  for (size_t i = 0; !covering && i < 2 && used < words.size(); ++i, ++used) {
    if (words[used].find_first_not_of("0123456789") != std::string_view::npos) break;
    numbers[i] = std::strtoull(words[used].data(), nullptr, 10);
  }
  const std::string_view family = used < words.size() ? words[used++] : std::string_view();
  if (used < words.size() ||
      (!family.empty() && std::ranges::find(family_names, family) == family_names.end())) {
    std::fputs(usage, stderr);
    return 2;
  }
  std::string reason;
  if (!device_available(reason)) {
    std::fprintf(stderr, "attention_check: %s\n", reason.c_str());
    return 3;
  }
  try {
    return (backward ? check_backward : check_forward)(covering, numbers[0], numbers[1], family);
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
}
