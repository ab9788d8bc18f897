// Checks the attention kernels on a GPU against the double-precision reference without a test
// framework: results, log-sum-exp, memory that must stay untouched, and the recorded order.
// Exit 0 all right, 1 a check failed, 2 wrong usage, 3 no GPU.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/dq_names.hpp"
#include "tests/kernels/backward_points.hpp"
#include "tests/kernels/covering_points.hpp"
#include "tests/kernels/random_points.hpp"

namespace {

using namespace sawtooth::kernels;

constexpr const char* usage =
    "attention_check [points] [first seed] [FAMILY]: random problems and schedules (300 from seed\n"
    "0); of a family alone those of its kernels\n"
    "attention_check --covering [FAMILY]: the covering set, small enough for compute-sanitizer\n"
    "attention_check --pass backward [--kernel FAMILY] [--launch NAME] [--head-dim N] [--dq NAME]\n"
    "[--verbose] [points] [first seed], or the same with --covering: of the backward pass; of a "
    "family\n"
    "its kernels alone, of a launch, head dim or dq those points that have it; --verbose names "
    "each "
    "point\n"
    "on stderr before it runs\n";

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

struct BackwardTally {
  std::string_view family;  // empty: every one but those of studies
  std::string_view launch;  // empty: every one
  int64_t head_dim = 0;     // 0: every one
  std::string_view dq;      // empty: all
  bool verbose = false;
  int points = 0;
  int failures = 0;
  GradientErrors worst[3]{};  // by element type

  void run(const BackwardPoint& point, uint64_t seed) {
    constexpr int shown_failures = 20;
    const auto of_point = size_t(point.call.schedule.launch.index);
    if (!launch.empty() && launch != sawtooth::Launches::info()[of_point].name) return;
    if (head_dim > 0 && head_dim != point.call.problem.head_dim) return;
    if (!dq.empty() && dq != sawtooth::dq_names[size_t(point.call.schedule.dq)].name) return;
    ++points;
    if (verbose)
      std::fprintf(stderr, "%llu %s\n", static_cast<unsigned long long>(seed),
                   describe(point).c_str());
    const std::string wrong = run_and_judge(point, seed, worst[size_t(point.call.problem.dtype)]);
    if (!wrong.empty() && ++failures <= shown_failures) show_failure(seed, wrong);
  }
};

/// Of arguments that are no option: a number of points and a first seed, or --covering.
int check_backward(BackwardTally tally, std::span<char*> arguments) {
  if (!arguments.empty() && std::string_view(arguments[0]) == "--covering") {
    const std::vector<BackwardPoint> points = covering_backward_points(tally.family);
    for (size_t i = 0; i < points.size(); ++i) {
      show_progress(i, points.size());
      tally.run(points[i], i);
    }
  } else {
    const uint64_t points = !arguments.empty() ? std::strtoull(arguments[0], nullptr, 10) : 300;
    const uint64_t first = arguments.size() > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
    for (uint64_t seed = first; seed < first + points; ++seed) {
      show_progress(seed - first, points);
      tally.run(random_backward_point(seed, tally.family), seed);
    }
  }
  std::printf(
      "%d points of the backward pass, %d failed; worst relative errors of dQ, dK, dV: "
      "bf16 %.2e %.2e %.2e, fp16 %.2e %.2e %.2e, fp32 %.2e %.2e %.2e\n",
      tally.points, tally.failures, tally.worst[0][0], tally.worst[0][1], tally.worst[0][2],
      tally.worst[1][0], tally.worst[1][1], tally.worst[1][2], tally.worst[2][0], tally.worst[2][1],
      tally.worst[2][2]);
  return tally.points > 0 && tally.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool backward =
      argc > 2 && std::string_view(argv[1]) == "--pass" && std::string_view(argv[2]) == "backward";
  BackwardTally backward_tally;
  if (backward) {
    argc -= 2;
    argv += 2;
    for (;;) {
      const std::string_view option = argc > 1 ? argv[1] : "";
      const bool launch = option == "--launch" && argc > 2;
      const bool kernel = option == "--kernel" && argc > 2;
      const bool head_dim = option == "--head-dim" && argc > 2;
      const bool dq = option == "--dq" && argc > 2;
      const bool takes_value = launch || kernel || head_dim || dq;
      if (launch) backward_tally.launch = argv[2];
      if (kernel) backward_tally.family = argv[2];
      if (dq) backward_tally.dq = argv[2];
      if (head_dim) backward_tally.head_dim = std::strtoll(argv[2], nullptr, 10);
      backward_tally.verbose |= option == "--verbose";
      if (!takes_value && option != "--verbose") break;
      argc -= takes_value ? 2 : 1;
      argv += takes_value ? 2 : 1;
    }
  }
  const std::string_view first = argc > 1 ? argv[1] : "300";
  const bool covering = first == "--covering";
  if (!covering && first.find_first_not_of("0123456789") != std::string_view::npos) {
    std::fputs(usage, stderr);
    return 2;
  }
  std::string reason;
  if (!device_available(reason)) {
    std::fprintf(stderr, "attention_check: %s\n", reason.c_str());
    return 3;
  }
  Tally tally;
  try {
    if (backward) return check_backward(backward_tally, std::span(argv, size_t(argc)).subspan(1));
    if (covering)
      run_covering(tally, argc > 2 ? argv[2] : "");
    else
      run_random(tally, std::strtoull(first.data(), nullptr, 10),
                 argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0, argc > 3 ? argv[3] : "");
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  std::printf("%d points, %d failed; worst relative error bf16 %.2e, fp16 %.2e, fp32 %.2e\n",
              tally.points, tally.failures, tally.worst[0], tally.worst[1], tally.worst[2]);
  return tally.points > 0 && tally.failures == 0 ? 0 : 1;
}
