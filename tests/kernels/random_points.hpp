// What random points of both passes draw alike, and how a point is described.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"
#include "tests/kernels/device_attention.hpp"
#include "tests/kernels/host_lists.hpp"

namespace sawtooth::kernels {

class Draws {
 public:
  explicit Draws(uint64_t seed) : generator_(seed) {}
  /// The number is one of [low, high].
  int64_t operator()(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator_);
  }

 private:
  std::mt19937_64 generator_;
};

/// Scan, order and workers of a schedule.
inline void draw_order(Schedule& schedule, Draws& pick) {
  schedule.scan.index = int(pick(0, Scans::size - 1));
  schedule.order.q_order.index = int(pick(0, QOrders::size - 1));
  schedule.order.section = pick(1, 5);
  schedule.order.head_order = pick(0, 1) == 0 ? HeadOrder::batch_major : HeadOrder::head_major;
  schedule.workers = pick(1, 20);
}

template <class Policies>
std::string_view name_of(int index) {
  return index < 0 ? "automatic" : Policies::info()[size_t(index)].name;
}

/// Problem, tile and the parts of a schedule that both passes have.
inline void describe(std::ostream& text, const Problem& problem, const Tiling& tiling,
                     const Schedule& schedule) {
  constexpr const char* mask_names[] = {"none", "causal", "window", "lists"};
  text << " B" << problem.batch << " H" << problem.heads << "/" << problem.kv_heads << " Sq"
       << problem.seq_q << " Skv" << problem.seq_kv << " D" << problem.head_dim
       << (problem.dtype == ElementType::bf16 ? " bf16 " : " fp16 ")
       << mask_names[size_t(problem.mask.kind)] << ":" << problem.mask.window << " tile "
       << tiling.q_rows << "x" << tiling.kv_rows << " " << name_of<Launches>(schedule.launch.index)
       << " W" << schedule.workers << " " << name_of<Scans>(schedule.scan.index) << " "
       << name_of<QOrders>(schedule.order.q_order.index) << " section " << schedule.order.section;
}

// Random attention problems with random schedules, and the judgement of a kernel's results.

struct RandomPoint {
  AttentionForward call;
  std::shared_ptr<const HostLists> lists = nullptr;  // of the call's mask
  Layout layout = Layout::contiguous;
  float spread = 1;  // of the inputs: large spreads make the softmax sharp
};

/// Point number `seed`; every variant of the build, mask, launch, scan, order occurs.
RandomPoint random_point(uint64_t seed);

/// One line that names all parameters.
std::string describe(const RandomPoint& point);

/// ||out - ref|| / ||ref|| that is allowed: 5e-3 for bf16, 1e-3 for fp16.
double allowed_error(ElementType dtype);

/// Empty when results on these inputs agree with the reference and, where it was traced, the order
/// with the schedule (judge_trace); else what is wrong.
std::string judge_point(const RandomPoint& point, const AttentionInputs& inputs,
                        const AttentionResults& results);

/// Runs a point with trace on inputs of `seed` and judges it. `worst` takes the relative error.
std::string run_and_judge(const RandomPoint& point, uint64_t seed, double& worst);

// The covering set: a few problems for tools that slow kernels down, such as compute-sanitizer;
// every kernel, mask and schedule meets the code paths it has.

struct LaunchAndSplit {
  LaunchId launch;
  bool split = false;
};

/// What the kernels of this variant's family run: all, but `balanced` cuts without split only where
/// pieces are merged.
std::vector<LaunchAndSplit> launches_of(const KernelVariant& variant);

/// Whether some worker has more than one item: a first item alone shows no launch at work.
bool has_second_items(const RandomPoint& point);

/// Points over `variants`: every tiling of every family with every mask, both element types of it
/// where it has them, every (launch, scan, split or whole) that is on the lists, with and without
/// prefetch, every layout, and every launch of every family with second items, split and whole.
/// Three points a tiling, and more of the last tilings when the schedules are not all through.
/// Kernels for lists of tiles meet every kind of list, launch, split and scan among them.
/// Lengths are ragged, below three tiles, but for kernels under a mask that begin at more keys.
std::vector<RandomPoint> covering_points(std::span<const KernelVariant> variants);

}  // namespace sawtooth::kernels
