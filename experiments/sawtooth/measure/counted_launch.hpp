// One attention launch under counters, as the GPU runs it without them.
//
// The first launch after a pass begins is another one: CTAs come to SMs in another order. On an
// H200 eight SMs get their second CTA 32 numbers after the first instead of 80, so that two long
// items share an SM: a launch of two CTAs an SM took up to 18 % longer and read up to 13 % more
// from DRAM than without counters. So what prepares L2 is launched in the pass, in a range of its
// own that is not read. With state as-is nothing is, and the attention kernel comes first.
#pragma once

#include "cupti/range_profiler.hpp"
#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "kernels/stream/l2_state.hpp"

namespace sawtooth::experiments {

inline kernels::L2StateKind l2_state(L2Content before) {
  switch (before) {
    case L2Content::warm:
      return kernels::L2StateKind::warm;
    case L2Content::as_is:
      return kernels::L2StateKind::as_is;
    case L2Content::cold:
      break;
  }
  return kernels::L2StateKind::cold;
}

struct CountedLaunch {
  cupti::RangeReading range;
  int64_t replay_passes = 0;
};

/// Throws cupti::CounterError, and what a launch throws.
inline CountedLaunch count_launch(cupti::RangeProfiler& profiler, const cupti::MetricPlan& plan,
                                  AttentionOnDevice& attention, kernels::L2State& l2,
                                  kernels::L2StateKind state) {
  const auto launch = [&] { attention.launch(); };
  const cupti::Reading reading = profiler.measure(
      plan, [] {}, {{"prepare", [&] { l2.prepare(state, launch); }}, {"attention", launch}});
  return {reading.ranges.back(), reading.replay_passes};
}

}  // namespace sawtooth::experiments
