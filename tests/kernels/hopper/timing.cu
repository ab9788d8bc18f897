#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/attention/launch.hpp"
#include "tests/kernels/hopper/tensors.hpp"
#include "tests/kernels/hopper/timing.hpp"

namespace sawtooth::kernels::hopper {

namespace {

double median(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return double(values[values.size() / 2]);
}

/// Median time in ms of each schedule, interleaved, so that clocks and heat meet all alike.
std::vector<double> median_ms(const KernelVariant& variant, Tensors& t,
                              const std::vector<Schedule>& schedules, int repetitions) {
  cudaEvent_t start, stop;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  std::vector<std::vector<float>> times(schedules.size());
  constexpr int warm_up = 2;
  for (int i = -warm_up; i < repetitions; ++i) {
    for (size_t s = 0; s < schedules.size(); ++s) {
      t.arguments.schedule = schedules[s];
      t.reset_state();
      PreparedLaunch launch;
      Outcome outcome = prepare_launch(variant, t.arguments, 0, current_device(), launch);
      CHECK_CUDA(cudaEventRecord(start));
      if (outcome) outcome = enqueue(launch, nullptr);
      if (!outcome) throw std::runtime_error(outcome.message);
      CHECK_CUDA(cudaEventRecord(stop));
      CHECK_CUDA(cudaEventSynchronize(stop));
      float ms;
      CHECK_CUDA(cudaEventElapsedTime(&ms, start, stop));
      if (i >= 0) times[s].push_back(ms);
    }
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::vector<double> medians;
  for (const auto& one : times) medians.push_back(median(one));
  return medians;
}

double tflops(const Problem& p, double ms) {
  const double flop = 4.0 * double(p.batch * p.heads * p.head_dim) * double(p.seq_q) *
                      double(p.seq_kv) / (p.mask.kind == MaskKind::causal ? 2 : 1);
  return flop / ms * 1e-9;
}

struct NamedSchedule {
  const char* name;
  Schedule schedule;
};

/// What is worth timing without a mask and with a causal one.
std::vector<NamedSchedule> timed_schedules(const Problem& p) {
  Schedule base;
  base.workers = 132;
  base.scan = scan_id<ReverseScan>;
  const auto with = [&](auto launch, auto scan, int64_t prefetch) {
    Schedule s = base;
    s.launch = launch;
    s.scan = scan;
    s.prefetch = prefetch;
    return s;
  };
  constexpr auto grid = launch_id<GridLaunch>;
  constexpr auto fixed = launch_id<StaticLaunch>;
  constexpr auto dynamic = launch_id<DynamicLaunch>;
  if (p.mask.kind == MaskKind::none) {
    return {{"grid", with(grid, base.scan, 0)},
            {"static", with(fixed, base.scan, 0)},
            {"dynamic", with(dynamic, base.scan, 0)},
            {"static linear prefetch 2", with(fixed, scan_id<LinearScan>, 2)},
            {"static sawtooth", with(fixed, scan_id<SawtoothScan>, 0)},
            {"static sawtooth prefetch 2", with(fixed, scan_id<SawtoothScan>, 2)}};
  }
  base.order.q_order = q_order_id<DescendingQ>;
  constexpr int64_t l2_share_bytes = int64_t(32) << 20;
  base.order.section = std::min(p.batch * p.heads, auto_section(p, l2_share_bytes));
  return {{"grid", with(grid, base.scan, 0)},
          {"dynamic", with(dynamic, base.scan, 0)},
          {"dynamic linear", with(dynamic, scan_id<LinearScan>, 0)},
          {"dynamic sawtooth", with(dynamic, scan_id<SawtoothScan>, 0)}};
}

constexpr int64_t lengths[] = {512, 1024, 2048, 4096, 8192, 16384, 32768, 131072};

}  // namespace

std::span<const int64_t> timed_lengths() {
  return lengths;
}

void time_variant(const KernelVariant& variant) {
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
    std::vector<std::string> lines;
    for (const int64_t s : lengths) {
      Problem p{.batch = std::max<int64_t>(1, 16384 / s),
                .heads = 16,
                .kv_heads = 16,
                .seq_q = s,
                .seq_kv = s,
                .head_dim = variant.head_dim,
                .dtype = variant.dtype};
      p.mask.kind = mask;
      auto named = timed_schedules(p);
      if (lines.empty()) {
        for (const auto& one : named) {
          char text[96];
          std::snprintf(text, sizeof text, "%-16s %-6s %-27s", variant.name,
                        mask == MaskKind::none ? "none" : "causal", one.name);
          lines.push_back(text);
        }
      }
      if (variant.rung && s > 16384) continue;
      if (s > 65536) p.heads = p.kv_heads = 2;
      Tensors t(p, Layout::bhsd, 5);
      std::vector<Schedule> schedules;
      for (const auto& one : named) schedules.push_back(one.schedule);
      const int repetitions = s > 16384 ? 5 : 9;
      const auto times = median_ms(variant, t, schedules, repetitions);
      for (size_t i = 0; i < lines.size(); ++i) {
        char text[16];
        std::snprintf(text, sizeof text, " %6.1f", tflops(p, times[i]));
        lines[i] += text;
      }
    }
    for (const std::string& line : lines) std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
}

}  // namespace sawtooth::kernels::hopper
