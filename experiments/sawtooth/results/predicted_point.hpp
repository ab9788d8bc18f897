// The prediction of one point: the one path from a resolved point to its row.
#pragma once

#include <atomic>
#include <optional>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/results/predicted_ring.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

/// `request` is the point's own, or more than that; `replays` are what rows of one ring share.
/// Throws std::invalid_argument for what the models cannot do.
PredictedResult predict(const Point& point, const sim::Request& request, const CsvRow& key_cells,
                        RingReplays* replays = nullptr);

struct PredictedPoint {
  CsvRow row;                                 // without counters where there is no prediction
  std::optional<sim::Prediction> prediction;  // empty: the row's status and message say why
};

/// `key_cells` are the point's; `items_begun`, where given, is counted up meanwhile.
PredictedPoint predict_point(const Point& point, const CsvRow& key_cells,
                             std::atomic<int64_t>* items_begun = nullptr,
                             RingReplays* replays = nullptr);

}  // namespace sawtooth::experiments
