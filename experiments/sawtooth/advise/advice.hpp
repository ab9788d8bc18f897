// What an order of a problem would change against the order that it has today: DRAM reads, time,
// and why, from predictions of the timed model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"

namespace sawtooth::experiments {

/// Below it models do not tell DRAM reads apart.
inline constexpr double same_reads_percent = 5;

/// Times of a launch in microseconds.
struct OrderForecast {
  int64_t dram_read_sectors = 0;          // of the default model
  std::vector<int64_t> other_dram_reads;  // of the models that its range spans
  int64_t reads_in_time = 0;              // of the median seed
  double time_us = 0;                     // likewise
  double spread_us = 0;                   // half of how far the seeds differ
  /// h of the time, measured in time_us x exp(-h) to time_us x exp(h) in 90 % of points, where the
  /// model was judged on this GPU and kernel.
  std::optional<double> half_width;
  /// 90 % of errors of how times of two schedules of one problem differ, a share, where such were
  /// judged: narrower than both widths, as an error of a step moves both times.
  std::optional<double> change_error;
  // These parts of time_us are those of the mean CTA.
  double compute_us = 0;  // steps and items
  double latency_us = 0;  // waiting for tiles that nothing delays
  double queues_us = 0;   // waiting for bandwidth of L2, fabric and DRAM
  double idle_us = 0;     // before its start and after its last item
};

/// Predicts `point`, whose timing is timed, with `seeds` seeds from its own on; reads where
/// `usual`, the same with the default model, is of another one, as `simulate` does.
OrderForecast forecast(const Point& point, const Point& usual, int seeds);

/// What may be said of a change of time: pays or costs where its whole interval lies beyond 1 %,
/// same where it lies within, open where it reaches across, unknown without an interval.
enum class Effect : uint8_t { unknown, open, same, pays, costs };
std::string_view name_of(Effect verdict);

/// In percent, negative for less.
struct Percent {
  double value = 0;
  std::optional<double> low{}, high{};
};

struct Change {
  Percent dram;  // where no model was judged with the range over the models of time
  /// 90 %: errors of judged changes, the seeds, and of a taught kernel what is not known of what a
  /// miss costs; none elsewhere.
  Percent time;
  Effect verdict = Effect::unknown;
  std::string why{};
};

/// An order of a problem; `change` is against the order of today.
struct Advised {
  Point point, usual;  // as forecast() takes them
  OrderForecast forecast{};
  Change change{};
};

/// How many K/V heads may be in flight before DRAM reads leave compulsory, by lockstep with the
/// `l2` of the GPU: what libraries set by hand (an "L2 budget" of 32 to 50 MiB).
struct L2Budget {
  std::string_view l2{};
  int64_t kv_heads = 0, all_kv_heads = 0;  // 0: not even of one; that the problem has
  int64_t kv_bytes = 0;                    // K and V of kv_heads
  double one_more_reads = 1;               // DRAM reads of one head more, over compulsory ones
};

/// Throws std::invalid_argument as the models do.
L2Budget l2_budget(const Point& point);

/// Against itself an order changes nothing.
Change change_of(const Advised& today, const Advised& other);

}  // namespace sawtooth::experiments
