// The prediction of one point: the one path from a resolved point to its row.
#pragma once

#include <atomic>
#include <optional>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/results/predicted_ring.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

struct PredictedPoint {
  CsvRow row;                                 // without counters where there is no prediction
  std::optional<sim::Prediction> prediction;  // empty: the row's status and message say why
};

/// `key_cells` are the point's; `items_begun`, where given, is counted up meanwhile; `replays` are
/// what rows of one ring share.
PredictedPoint predict_point(const Point& point, const CsvRow& key_cells,
                             std::atomic<int64_t>* items_begun = nullptr,
                             RingReplays* replays = nullptr);

}  // namespace sawtooth::experiments
