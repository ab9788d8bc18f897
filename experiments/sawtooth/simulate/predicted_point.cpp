#include "experiments/sawtooth/simulate/predicted_point.hpp"

#include <new>
#include <stdexcept>

namespace sawtooth::experiments {

PredictedPoint predict_point(const Point& point, const CsvRow& key_cells,
                             std::atomic<int64_t>* items_begun, RingReplays* replays) {
  const auto without = [&](std::string_view status, const std::string& message) {
    return PredictedPoint{row_without_result(key_cells, status, message), {}};
  };
  if (!point.refusal.empty()) return without(status_refused, point.refusal);
  try {
    sim::Request request = point.request;
    request.items_begun = items_begun;
    RingReplays alone;
    PredictedResult result =
        predict_point_or_ring(point, request, key_cells, replays == nullptr ? alone : *replays);
    CsvRow row =
        predicted_row(key_cells, result.prediction, result.flop, point.judgement.intervals);
    return {std::move(row), std::move(result.prediction)};
  } catch (const std::invalid_argument& error) {  // what a model cannot do
    return without(status_refused, error.what());
  } catch (const std::bad_alloc&) {
    return without(status_failed, "the memory is too small");
  }
}

}  // namespace sawtooth::experiments
