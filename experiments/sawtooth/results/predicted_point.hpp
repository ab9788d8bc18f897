// The prediction of one point: the one path from a resolved point to its row.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "sim/prediction.hpp"
#include "sim/ring/simulate_ring.hpp"

namespace sawtooth::experiments {

/// GPUs of rings that have been replayed, for all rows that need them; for any thread.
class RingReplays {
 public:
  using Steps = std::shared_ptr<const std::vector<sim::RingStep>>;

  /// GPU `rank` of the ring called `name`, which replay() makes where it is not known. Throws what
  /// that throws.
  template <class Replay>
  Steps of(const std::string& name, int64_t rank, Replay replay) {
    std::promise<Steps> promise;
    std::shared_future<Steps> known;
    bool mine = false;
    {
      const std::lock_guard lock(mutex_);
      if (known_.size() >= most_known) known_.clear();
      const auto [at, is_new] = known_.try_emplace({name, rank});
      if (is_new) at->second = promise.get_future().share();
      known = at->second;
      mine = is_new;
    }
    if (mine) {
      try {
        promise.set_value(std::make_shared<const std::vector<sim::RingStep>>(replay()));
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
    }
    return known.get();
  }

 private:
  static constexpr size_t most_known = 4096;  // each some kilobytes a step

  std::mutex mutex_;
  std::map<std::pair<std::string, int64_t>, std::shared_future<Steps>> known_;
};

/// All rows of one ring have the same name, whichever part of it they are.
std::string ring_name(CsvRow key_cells);

/// Ranks, or steps, that a row is about: one, or all of `ranks`.
inline Range ring_parts(const std::optional<int64_t>& part, int64_t ranks) {
  return part ? Range{*part, *part + 1} : Range{0, ranks};
}

struct PredictedResult {
  sim::Prediction prediction;
  double flop = 0;
  std::vector<sim::Prediction> others{};  // of other models, where the point's interval spans them
  std::string left_out{};                 // models of these that cannot predict it, and why

  RowSource source(const Point& point) const {
    return {point, &prediction, flop, &others, left_out};
  }
};

/// What is predicted of a point, and its FLOP. Counters of a ring's parts are summed, and times are
/// those of the GPU that takes longest, whose steps add up. `request` is the point's own, or more
/// than that; `replays` are what rows of one ring share, which `key_cells` name. Throws
/// std::invalid_argument for what the models cannot do.
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

// FLOP of attention: those of each visible pair (Problem::flop_a_pair). Under causal the last key
// that a row sees counts half, so that S queries and S keys are S^2 / 2 pairs, the convention of
// the FlashAttention papers. Packed heads count their positions, head by head.

/// The problem's pass counts.
inline double attention_flop(const Problem& problem, const Tiling& tiling) {
  const int64_t positions = q_positions(problem, tiling);
  double pairs = is_listed(problem.mask) ? problem.mask.listed->pairs
                                         : visible_pairs(problem.mask, positions, problem.seq_kv);
  if (problem.mask.kind == MaskKind::causal) pairs -= double(min_of(positions, problem.seq_kv)) / 2;
  const int64_t heads = problem.batch * problem.heads * tiling.rows_a_position;
  return double(heads) * problem.flop_a_pair() * pairs;
}

/// All sequences count.
inline double attention_flop(const Problem& problem, const Tiling& tiling,
                             const Sequences& sequences) {
  if (sequences.lengths == nullptr) return attention_flop(problem, tiling);
  double flop = 0;
  for (int64_t batch = 0; batch < problem.batch; ++batch) {
    Problem own = sequences.of(problem, batch);
    own.batch = 1;
    flop += attention_flop(own, tiling);
  }
  return flop;
}

}  // namespace sawtooth::experiments
