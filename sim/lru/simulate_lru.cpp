#include "sim/lru/simulate_lru.hpp"

#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/lru/period.hpp"
#include "sim/lru/stack_distance.hpp"
#include "sim/schedule/merged_visits.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {
namespace {

// Fills a histogram with the distance of every visit, many visits at a time.
class HistogramBuilder {
 public:
  HistogramBuilder(const AtomTable& atoms, DistanceHistogram& histogram)
      : atoms_(atoms), histogram_(histogram), stack_(atoms.sizes()) {
    visits_.reserve(visits_at_a_time);
    visited_.reserve(visits_at_a_time);
    distances_.resize(visits_at_a_time);
  }

  void visit(const Visit& visit) {
    visits_.push_back(visit);
    visited_.push_back(visit.atom);
    if (visits_.size() == visits_at_a_time) flush();
  }

  void flush() {
    stack_.visit(visited_, distances_);
    for (size_t i = 0; i < visits_.size(); ++i) count(visits_[i], distances_[i]);
    visits_.clear();
    visited_.clear();
  }

  int64_t visits() const { return count_; }

 private:
  // Enough to fetch ahead, few enough for the first-level cache.
  static constexpr size_t visits_at_a_time = 512;

  void count(const Visit& visit, int64_t others) {
    const AtomSize size = atoms_.size(visit.atom);
    DistanceClass& distances = histogram_.of(atoms_.tensor_of(visit.atom), visit.access);
    if (others == StackDistance::cold) {
      distances.add_cold(size.sectors);
    } else {
      distances.add(line_distance(others, size.lines, 0, false), size.sectors);
    }
    if (visit.times > 1) {
      distances.add(line_distance(0, size.lines, 0, false),
                    int64_t{size.sectors} * (visit.times - 1));
    }
    count_ += visit.times;
  }

  const AtomTable& atoms_;
  DistanceHistogram& histogram_;
  StackDistance stack_;
  std::vector<Visit> visits_;
  std::vector<AtomId> visited_;
  std::vector<int64_t> distances_;
  int64_t count_ = 0;
};

}  // namespace

Counters count_lru(const DistanceHistogram& histogram, Tensor tensor, int64_t capacity_lines) {
  const DistanceClass& reads = histogram.of(tensor, Access::read);
  const DistanceClass& prefetches = histogram.of(tensor, Access::prefetch);
  const DistanceClass& writes = histogram.of(tensor, Access::write);
  Counters counters;
  counters.sm_read_sectors = reads.sectors();
  counters.l2_read_sectors = reads.sectors() + prefetches.sectors();
  counters.l2_read_miss_sectors = reads.misses(capacity_lines) + prefetches.misses(capacity_lines);
  counters.l2_write_sectors = writes.sectors();
  counters.l2_write_miss_sectors = writes.misses(capacity_lines);
  counters.dram_read_sectors = counters.l2_read_miss_sectors;
  counters.cold_read_sectors = reads.cold_sectors() + prefetches.cold_sectors();
  return counters;
}

void count_all(Prediction& prediction, int64_t capacity_lines) {
  for (int t = 0; t < tensor_count; ++t) {
    const Counters counters =
        count_lru(prediction.histogram, static_cast<Tensor>(t), capacity_lines);
    prediction.by_tensor[static_cast<size_t>(t)] = counters;
    add(prediction.total, counters);
  }
}

Prediction simulate_lru(const Request& request) {
  const AtomTable atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  Prediction prediction;
  if (request.use_period && has_rounds(request)) {
    const RoundReplay replay = replay_rounds(request, atoms, prediction.histogram);
    prediction.steps = replay.steps;
    prediction.tile_visits = replay.tile_visits;
  } else {
    HistogramBuilder builder(atoms, prediction.histogram);
    MergedVisits<HistogramBuilder> visits(builder, request.merge_lockstep);
    LockstepWavefront wavefront(request, atoms, visits);
    wavefront.run();
    visits.flush();
    builder.flush();
    prediction.steps = wavefront.steps();
    prediction.tile_visits = builder.visits();
  }
  count_all(prediction, request.l2_bytes / line_bytes);
  return prediction;
}

}  // namespace sawtooth::sim
