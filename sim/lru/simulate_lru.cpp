#include "sim/lru/simulate_lru.hpp"

#include "scheduler/memory_units.hpp"
#include "sim/lru/stack_distance.hpp"
#include "sim/schedule/limits.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {
namespace {

// Fills a histogram with the distance of every visit, many visits at a time.
class HistogramBuilder {
 public:
  /// `atoms` may grow, and give numbers again that are in no visit of a batch. `write_backs`, where
  /// they are counted, is for atoms that keep their numbers.
  HistogramBuilder(LiveAtoms& atoms, DistanceHistogram& histogram, WriteBacks* write_backs)
      : atoms_(atoms),
        histogram_(histogram),
        write_backs_(write_backs),
        stack_(std::span<const AtomSize>()) {}

  void visit(const Visit& visit) {
    while (known_ < atoms_.sizes().size()) stack_.add(atoms_.sizes()[known_++].lines);
    batch_.add(visit, stack_, [this](const Visit& at, int64_t others) { count(at, others); });
    if (batch_.empty()) atoms_.recycle([this](AtomRange atoms) { stack_.forget(atoms); });
  }

  /// Call it after the last visit.
  void flush() {
    batch_.flush(stack_, [this](const Visit& at, int64_t others) { count(at, others); });
    if (write_backs_ != nullptr) write_backs_->finish(stack_.recency_order(), atoms_.sizes());
  }

  int64_t visits() const { return count_; }

 private:
  void count(const Visit& visit, int64_t others) {
    const AtomSize size = atoms_.size(visit.atom);
    histogram_.of(static_cast<Tensor>(size.tensor), visit.access)
        .add_visits(others, size.lines, size.sectors, visit.times);
    if (write_backs_ != nullptr) {
      const bool cold = others == StackDistance::cold;
      write_backs_->visit(visit, size, cold ? others : line_distance(others, size.lines, 0, false));
    }
    count_ += visit.times;
  }

  LiveAtoms& atoms_;
  DistanceHistogram& histogram_;
  WriteBacks* write_backs_;
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
  const DistanceClass& reductions = histogram.of(tensor, Access::reduce);
  const auto missed = [&](const DistanceClass& distances) {
    return double(distances.misses(capacity_lines));
  };
  const Tally tally{
      .reads = true,
      .writes = true,
      .reductions = reductions.sectors() > 0,
      .received = double(reads.sectors()),
      .passed = double(reads.sectors() + prefetches.sectors()),
      .cold = double(reads.cold_sectors() + prefetches.cold_sectors() + reductions.cold_sectors()),
      .dram_reads = missed(reads) + missed(prefetches),
      .written = double(writes.sectors()),
      .write_misses = missed(writes),
      .reduced = double(reductions.sectors()),
      .fill_reads = missed(reductions)};
  return tally.counters();
}

void count_all(Prediction& prediction, int64_t capacity_lines) {
  set_counters(prediction, [&](Tensor tensor) {
    Counters counters = count_lru(prediction.histogram, tensor, capacity_lines);
    if (prediction.write_backs)
      counters.dram_write_sectors = prediction.write_backs->sectors(tensor, capacity_lines);
    return counters;
  });
}

Prediction simulate_lru(const Request& request) {
  require_limits(request);
  LiveAtoms atoms(request);
  const bool backward = request.problem.pass == Pass::backward;
  Prediction prediction;
  if (request.use_period && has_rounds(request)) {
    const RoundReplay replay = replay_rounds(request, atoms, prediction.histogram);
    prediction.steps = replay.steps;
    prediction.tile_visits = replay.tile_visits;
  } else {
    HistogramBuilder builder(atoms, prediction.histogram,
                             backward ? &prediction.write_backs.emplace() : nullptr);
    prediction.steps = replay_lockstep(request, atoms, builder);
    builder.flush();
    prediction.tile_visits = builder.visits();
  }
  count_all(prediction, request.l2_bytes / line_bytes);
  if (backward) know_reductions(prediction);
  return prediction;
}

}  // namespace sawtooth::sim
