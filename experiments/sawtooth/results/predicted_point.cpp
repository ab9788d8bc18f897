#include "experiments/sawtooth/results/predicted_point.hpp"

#include <new>
#include <stdexcept>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

// Several GPUs share the heads. The whole exchange is waited for: the projections before need it,
// and those behind.
double exchange_us(const Point& point) {
  const Keys& keys = point.keys;
  const sim::LinkRates& link = point.gpu.link_nccl;
  Problem whole = point.request.problem;
  whole.heads = keys.heads;
  whole.kv_heads = *keys.kv_heads;
  const HeadShards shards{*keys.head_shards, keys.exchange};
  return double(shards.bytes(whole)) / sim::link_bytes_a_ns(link, shards.message_bytes(whole)) /
         ns_a_us;
}

void add_longest(std::optional<double>& longest, const std::optional<double>& other) {
  if (other && (!longest || *other > *longest)) longest = other;
}
void add_to(std::optional<double>& sum, const std::optional<double>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

sim::RingRequest ring_request(const Point& point, const sim::Request& request, const L2Model& l2) {
  const bool nccl = point.keys.ring_mover == RingMover::nccl;
  return {.request = request,
          .ring = *point.ring,
          .link = nccl ? point.gpu.link_nccl : point.gpu.link_copy,
          .halves = l2.halves,
          .copier = nccl ? sim::Copier::sms : sim::Copier::copy_engine};
}

double ring_flop(const Point& point, const sim::RingRequest& ring) {
  const Range ranks = ring_parts(point.keys.ring_rank, ring.ring.ranks);
  const Range steps = ring_parts(point.keys.ring_step, ring.ring.ranks);
  double flop = 0;
  for (int64_t rank = ranks.begin; rank < ranks.end; ++rank)
    for (int64_t step = steps.begin; step < steps.end; ++step)
      flop += attention_flop(sim::step_request(ring, rank, step).problem, point.request.tiling);
  return flop;
}

sim::Prediction predict_parts(const Point& point, const sim::RingRequest& ring,
                              const CsvRow& key_cells, RingReplays& replays) {
  const std::string name = ring_name(key_cells);
  const Range ranks = ring_parts(point.keys.ring_rank, ring.ring.ranks);
  const Range steps = ring_parts(point.keys.ring_step, ring.ring.ranks);
  sim::Prediction sum;
  std::optional<double> end_us;  // of the GPU that ends last, waits included
  for (int64_t rank = ranks.begin; rank < ranks.end; ++rank) {
    const RingReplays::Steps all =
        replays.of(name, rank, [&] { return sim::simulate_rank(ring, point.gpu, rank); });
    std::optional<double> time_us, transfer_us, exposed_us;
    for (int64_t at = steps.begin; at < steps.end; ++at) {
      const sim::RingStep& step = (*all)[static_cast<size_t>(at)];
      add(sum.total, step.total);
      for (size_t t = 0; t < sum.by_tensor.size(); ++t) add(sum.by_tensor[t], step.by_tensor[t]);
      sum.tile_visits += step.tile_visits;
      add_to(time_us, step.time_us);
      add_to(exposed_us, step.exposed_us);
      if (at > 0) add_to(transfer_us, step.transfer_us);
    }
    // What a single step waits for is no part of its own time.
    if (!point.keys.ring_step) add_to(time_us, exposed_us);
    add_longest(end_us, time_us);
    add_longest(sum.transfer_us, transfer_us);
    add_longest(sum.exposed_us, exposed_us);
  }
  sum.time_us = end_us;
  if (point.keys.ring_rank || point.keys.ring_step || !sum.time_us) return sum;
  sim::RingRequest alone = ring;  // with the small kernels of a backward pass
  alone.ring.ranks = 1;
  const auto alone_us = sim::simulate_rank(alone, point.gpu, 0).front().time_us;
  if (alone_us) sum.of_ideal = *alone_us / (double(ring.ring.ranks) * *sum.time_us);
  return sum;
}

// `key_cells` name the model too.
sim::Prediction predict_with(const Point& point, const sim::Request& request, const L2Model& l2,
                             const CsvRow& key_cells, RingReplays& replays) {
  if (!point.ring) return predict(request, point.gpu, l2);
  if (l2.name != "lru" && l2.name != "halves")
    throw std::invalid_argument("l2: a ring takes lru or halves");
  return predict_parts(point, ring_request(point, request, l2), key_cells, replays);
}

// What other models say of the point, where its interval spans them.
void add_others(const Point& point, sim::Request request, CsvRow key_cells, RingReplays& replays,
                PredictedResult& result) {
  request.items_begun = nullptr;
  const auto add = [&](const TimingModel& model) {
    request.timing = model.timing;
    key_cells[result_column("timing")] = model.name;
    const bool timed = model.timing == sim::Timing::timed;
    try {
      result.others.push_back(
          predict_with(point, request, timed ? model_named(l2_models, "halves") : *point.keys.l2,
                       key_cells, replays));
    } catch (const std::invalid_argument& error) {  // what this one cannot do
      result.left_out += result.left_out.empty() ? "X_low, X_high: without " : "; ";
      result.left_out += std::string(model.name) + ": " + error.what();
    }
  };
  if (point.spans_models())
    for (const TimingModel& model : timing_models)
      if (model.timing != point.request.timing) add(model);
  for (const sim::KernelCost& end : point.kernel_ends) {
    request.kernel = end;
    key_cells[result_column("costs")] += " of an end";  // parts of a ring are known by their cells
    add(model_named(timing_models, "timed"));
  }
}

}  // namespace

std::string ring_name(CsvRow key_cells) {
  for (const size_t column :
       {result_column("experiment"), result_column("ring_rank"), result_column("ring_step")})
    key_cells[column].clear();
  return row_key(key_cells);
}

PredictedResult predict(const Point& point, const sim::Request& request, const CsvRow& key_cells,
                        RingReplays* replays) {
  RingReplays alone;
  RingReplays& known = replays == nullptr ? alone : *replays;
  const L2Model& l2 = *point.keys.l2;
  PredictedResult result{predict_with(point, request, l2, key_cells, known),
                         point.ring
                             ? ring_flop(point, ring_request(point, request, l2))
                             : attention_flop(request.problem, request.tiling, request.sequences)};
  add_others(point, request, key_cells, known, result);
  sim::Prediction& prediction = result.prediction;
  if (point.keys.head_shards && !point.gpu.link_nccl.empty())
    prediction.transfer_us = prediction.exposed_us = exchange_us(point);
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
    CsvRow row = predicted_row(key_cells, result.source(point));
    return {std::move(row), std::move(result.prediction)};
  } catch (const std::invalid_argument& error) {  // what a model cannot do
    return without(status_refused, error.what());
  } catch (const std::bad_alloc&) {
    return without(status_failed, "the memory is too small");
  }
}

}  // namespace sawtooth::experiments
