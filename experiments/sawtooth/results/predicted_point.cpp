#include "experiments/sawtooth/results/predicted_point.hpp"

#include <new>
#include <stdexcept>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/results/forward_flop.hpp"

namespace sawtooth::experiments {
namespace {

// Several GPUs share the heads. The whole exchange is waited for: the projections before need it,
// and those behind.
double exchange_us(const Keys& keys, const sim::LinkRates& link) {
  const Problem whole{.batch = keys.batch,
                      .heads = keys.heads,
                      .kv_heads = *keys.kv_heads,
                      .seq_q = *keys.seq_q,
                      .seq_kv = *keys.seq_kv,
                      .head_dim = keys.head_dim,
                      .dtype = keys.dtype,
                      .head_dim_v = static_cast<int32_t>(keys.head_dim_v.value_or(0))};
  const HeadShards shards{*keys.head_shards, keys.exchange};
  constexpr double ns_a_us = 1000;
  return double(shards.bytes(whole)) / sim::link_bytes_a_ns(link, shards.message_bytes(whole)) /
         ns_a_us;
}

std::vector<sim::Prediction> other_models(const Point& point, sim::Request request) {
  std::vector<sim::Prediction> others;
  if (!point.spans_models()) return others;
  request.items_begun = nullptr;
  for (const TimingModel& model : timing_models) {
    if (model.timing == point.request.timing) continue;
    request.timing = model.timing;
    const bool timed = model.timing == sim::Timing::timed;
    try {
      others.push_back(
          predict(request, point.gpu, timed ? model_named(l2_models, "halves") : *point.keys.l2));
    } catch (const std::invalid_argument&) {  // what this one cannot do
    }
  }
  return others;
}

}  // namespace

PredictedResult predict(const Point& point, const sim::Request& request, const CsvRow& key_cells,
                        RingReplays* replays) {
  RingReplays alone;
  PredictedResult result =
      point.ring
          ? predict_ring(point, request, key_cells, replays == nullptr ? alone : *replays)
          : PredictedResult{predict(request, point.gpu, *point.keys.l2),
                            attention_flop(request.problem, request.tiling, request.sequences),
                            other_models(point, request)};
  sim::Prediction& prediction = result.prediction;
  if (point.keys.head_shards && !point.gpu.link_nccl.empty())
    prediction.transfer_us = prediction.exposed_us = exchange_us(point.keys, point.gpu.link_nccl);
  if (point.hides_time) {
    prediction.time_us.reset();
    prediction.exposed_us.reset();
  }
  return result;
}

PredictedPoint predict_point(const Point& point, const CsvRow& key_cells,
                             std::atomic<int64_t>* items_begun, RingReplays* replays) {
  const auto without = [&](std::string_view status, const std::string& message) {
    return PredictedPoint{row_without_result(key_cells, status, message), {}};
  };
  if (!point.refusal.empty()) return without(status_refused, point.refusal);
  try {
    sim::Request request = point.request;
    request.items_begun = items_begun;
    PredictedResult result = predict(point, request, key_cells, replays);
    CsvRow row = predicted_row(key_cells, {point, &result.prediction, result.flop, &result.others});
    return {std::move(row), std::move(result.prediction)};
  } catch (const std::invalid_argument& error) {  // what a model cannot do
    return without(status_refused, error.what());
  } catch (const std::bad_alloc&) {
    return without(status_failed, "the memory is too small");
  }
}

}  // namespace sawtooth::experiments
