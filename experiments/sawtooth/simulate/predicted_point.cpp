#include "experiments/sawtooth/simulate/predicted_point.hpp"

#include <new>
#include <stdexcept>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/results/forward_flop.hpp"

namespace sawtooth::experiments {

PredictedPoint predict_point(const Point& point, const CsvRow& key_cells,
                             std::atomic<int64_t>* items_begun) {
  const auto without = [&](std::string_view status, const std::string& message) {
    return PredictedPoint{row_without_result(key_cells, status, message), {}};
  };
  if (!point.refusal.empty()) return without(status_refused, point.refusal);
  try {
    sim::Request request = point.request;
    request.items_begun = items_begun;
    sim::Prediction prediction = predict(request, point.gpu, *point.keys.l2);
    if (point.hides_time) prediction.time_us.reset();
    CsvRow row = predicted_row(key_cells, prediction,
                               attention_flop(request.problem, request.tiling, request.sequences),
                               point.judgement.intervals);
    return {std::move(row), std::move(prediction)};
  } catch (const std::invalid_argument& error) {  // what a model cannot do
    return without(status_refused, error.what());
  } catch (const std::bad_alloc&) {
    return without(status_failed, "the memory is too small");
  }
}

}  // namespace sawtooth::experiments
