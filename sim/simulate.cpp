#include "sim/simulate.hpp"

#include "scheduler/memory_units.hpp"
#include "sim/merged_visits.hpp"
#include "sim/period.hpp"
#include "sim/stack_distance.hpp"
#include "sim/wavefront.hpp"

namespace sawtooth::sim {
namespace {

// Fills a histogram with the distance of every visit.
class HistogramBuilder {
 public:
  HistogramBuilder(const AtomTable& atoms, DistanceHistogram& histogram)
      : atoms_(atoms), histogram_(histogram), distances_(atoms.sizes()) {}

  void visit(const Visit& visit) {
    const AtomSize size = atoms_.size(visit.atom);
    DistanceClass& distances = histogram_.of(atoms_.tensor_of(visit.atom), visit.access);
    const int64_t others = distances_.visit(visit.atom);
    if (others == StackDistance::cold) {
      distances.add_cold(size.sectors);
    } else {
      distances.add(others + size.lines - 1, size.sectors);
    }
    if (visit.times > 1) distances.add(size.lines - 1, int64_t{size.sectors} * (visit.times - 1));
    visits_ += visit.times;
  }

  int64_t visits() const { return visits_; }

 private:
  const AtomTable& atoms_;
  DistanceHistogram& histogram_;
  StackDistance distances_;
  int64_t visits_ = 0;
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
  const AtomTable atoms(request.problem, request.tiling, request.schedule.kv_split,
                        request.log_sum_exp);
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
    prediction.steps = wavefront.steps();
    prediction.tile_visits = builder.visits();
  }
  count_all(prediction, request.l2_bytes / line_bytes);
  return prediction;
}

}  // namespace sawtooth::sim
