#include "sim/lru/simulate_lru.hpp"

#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/lru/chunked_histogram.hpp"
#include "sim/lru/count_visit.hpp"
#include "sim/lru/distance_batch.hpp"
#include "sim/lru/period.hpp"
#include "sim/lru/stack_distance.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/merged_visits.hpp"

namespace sawtooth::sim {
namespace {

// Fills a histogram with the distance of every visit, many visits at a time.
class HistogramBuilder {
 public:
  /// `atoms` may grow, and give numbers again that are in no visit of a batch.
  HistogramBuilder(LiveAtoms& atoms, DistanceHistogram& histogram)
      : atoms_(atoms), histogram_(histogram), stack_(std::span<const AtomSize>()) {}

  void visit(const Visit& visit) {
    while (known_ < atoms_.sizes().size()) stack_.add(atoms_.sizes()[known_++].lines);
    batch_.add(visit, stack_, [this](const Visit& at, int64_t others) { count(at, others); });
    if (batch_.empty()) atoms_.recycle([this](AtomRange atoms) { stack_.forget(atoms); });
  }

  void flush() {
    batch_.flush(stack_, [this](const Visit& at, int64_t others) { count(at, others); });
  }

  int64_t visits() const { return count_; }

 private:
  void count(const Visit& visit, int64_t others) {
    count_visit(histogram_, visit, atoms_.size(visit.atom), others);
    count_ += visit.times;
  }

  LiveAtoms& atoms_;
  DistanceHistogram& histogram_;
  StackDistance stack_;
  size_t known_ = 0;  // atoms, to stack_
  DistanceBatch<Visit> batch_;
  int64_t count_ = 0;
};

}  // namespace

Counters count_lru(const DistanceHistogram& histogram, Tensor tensor, int64_t capacity_lines) {
  const DistanceClass& reads = histogram.of(tensor, Access::read);
  const DistanceClass& prefetches = histogram.of(tensor, Access::prefetch);
  const DistanceClass& writes = histogram.of(tensor, Access::write);
  const auto missed = [&](const DistanceClass& distances) {
    return double(distances.misses(capacity_lines));
  };
  const Tally tally{.reads = true,
                    .writes = true,
                    .received = double(reads.sectors()),
                    .passed = double(reads.sectors() + prefetches.sectors()),
                    .cold = double(reads.cold_sectors() + prefetches.cold_sectors()),
                    .dram_reads = missed(reads) + missed(prefetches),
                    .written = double(writes.sectors()),
                    .write_misses = missed(writes)};
  return tally.counters();
}

void count_all(Prediction& prediction, int64_t capacity_lines) {
  set_counters(prediction, [&](Tensor tensor) {
    return count_lru(prediction.histogram, tensor, capacity_lines);
  });
}

Prediction simulate_lru(const Request& request) {
  LiveAtoms atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  Prediction prediction;
  if (request.use_period && has_rounds(request)) {
    const RoundReplay replay = replay_rounds(request, atoms, prediction.histogram);
    prediction.steps = replay.steps;
    prediction.tile_visits = replay.tile_visits;
  } else {
    const auto replay = [&](auto&& histogram) {
      prediction.steps = replay_lockstep(request, atoms, histogram);
      histogram.flush();
      prediction.tile_visits = histogram.visits();
    };
    if (request.threads > 1)
      replay(ChunkedHistogram(atoms, prediction.histogram, request.threads));
    else
      replay(HistogramBuilder(atoms, prediction.histogram));
  }
  count_all(prediction, request.l2_bytes / line_bytes);
  return prediction;
}

}  // namespace sawtooth::sim
