// What an order of a problem would change against the order that it has today: DRAM reads, time,
// and why, from predictions of the timed model.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/sawtooth/inputs/point.hpp"

namespace sawtooth::experiments {

/// Times of a launch in microseconds.
struct OrderForecast {
  int64_t dram_read_sectors = 0;
  double time_us = 0;  // of the median seed
  double low_us = 0;   // over the seeds, and as far as what a miss costs is known
  double high_us = 0;
  // These parts of time_us are those of the mean CTA.
  double compute_us = 0;  // steps and items
  double latency_us = 0;  // waiting for tiles that nothing delays
  double queues_us = 0;   // waiting for bandwidth of L2, fabric and DRAM
  double idle_us = 0;     // before its start and after its last item
};

/// Predicts `point`, whose timing is timed, with `seeds` seeds from its own on.
OrderForecast forecast(const Point& point, int seeds);

/// In percent of `today`, negative for less. The interval of the change is narrower than that of
/// the times: an error of the step moves both orders.
struct Change {
  double dram_percent = 0;
  double time_percent = 0;
  double low_percent = 0;
  double high_percent = 0;
  std::string why;
};

Change change_of(const OrderForecast& today, const OrderForecast& other, double exposure_error);

}  // namespace sawtooth::experiments
