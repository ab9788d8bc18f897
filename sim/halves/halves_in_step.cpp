#include "sim/halves/halves_in_step.hpp"

#include <algorithm>
#include <cmath>

#include "scheduler/memory_units.hpp"
#include "sim/schedule/live_atoms.hpp"

namespace sawtooth::sim {

void HalvesInStep::visit(const HalfVisit& visit) {
  visits_ += visit.all_times();
  const double asked = double(size(visit.atom).sectors) * visit.all_times();
  Tally& tally = tally_of(visit.atom);
  if (visit.access == Access::write) {
    tally.written += asked;
    write(visit.atom, {visit.times[0] > 0, visit.times[1] > 0});
    return;
  }
  if (visit.access == Access::reduce) return reduce(visit.atom, visit.times);
  const bool two = parameters().halves == 2;
  // One read finds what all find, unless the tile exceeds a half: then each drives out the next's.
  const bool fits = size(visit.atom).lines <= parameters().capacity_lines;
  const uint32_t readers = two ? std::max(visit.times[0], visit.times[1]) : visit.all_times();
  for (uint32_t i = 0; i < (fits ? 1 : readers); ++i)
    count_read(visit, read(visit.atom, {!two || visit.times[0] > i, two && visit.times[1] > i}, {},
                           visit.access));
  if (visit.access == Access::read) tally.received += asked;
  // What a half looks up has passed, however many requests merge.
  const int halves = two ? (visit.times[0] > 0) + (visit.times[1] > 0) : 1;
  const double looked_up =
      double(size(visit.atom).sectors) * double(fits ? halves : visit.all_times());
  tally.passed +=
      std::max(looked_up, asked * passed_share(coalescer_, visit.all_times(), running_));
}

void HalvesInStep::count_read(const HalfVisit& visit, const TwoHalves::MissedByHome& missed) {
  const HalvesParameters& l2 = parameters();
  const double far_first =
      l2.far_first_waiting + (l2.far_first_running - l2.far_first_waiting) * running_;
  if (visit.access == Access::read)
    far_first_[static_cast<size_t>(tensor_of(visit.atom))] +=
        far_first * double(missed[0].both_asked + missed[1].both_asked);
  const AtomSize atom = size(visit.atom);
  const double pace =
      std::min(1.0, double(atom.lines) / (l2.running_share * double(l2.capacity_lines)));
  const double hit = 1 - sectors_of(missed[0].at_home + missed[1].at_home) / double(atom.sectors);
  running_ += (hit - running_) * pace;
}

Tally HalvesInStep::tally(Tensor tensor) {
  settle();
  Tally tally = TwoHalves::tally(tensor);
  tally.write_backs = true;
  tally.fabric_misses += sectors_of(std::llround(far_first_[static_cast<size_t>(tensor)]));
  return tally;
}

namespace {

struct LiveConsumer {
  HalvesInStep& l2;
  HeldHeads<HalvesInStep> heads;

  void visit(const HalfVisit& visit) {
    heads.begin();
    l2.visit(visit);
  }
  void settle() { heads.settle(); }
};

}  // namespace

HalvesModel halves_model(const Request& request, const Gpu& gpu) {
  HalvesModel model;
  HalvesParameters& l2 = model.l2;
  l2.halves = gpu.l2_halves.value_or(1) == 2 ? 2 : 1;
  l2.capacity_lines = request.l2_bytes / line_bytes / l2.halves;
  if (l2.halves == 1) return model;
  if (gpu.l2_ways && gpu.l2_reserved_share) {
    l2.ways = static_cast<int>(*gpu.l2_ways);
    l2.dirty_ways = static_cast<int>(gpu.l2_dirty_ways.value_or(0));
    l2.reserved = *gpu.l2_reserved_share;
    l2.scattered = gpu.l2_scattered_share.value_or(0);
  }
  l2.far_first_waiting = gpu.far_first_waiting_share.value_or(l2.far_first_waiting);
  l2.far_first_running = gpu.far_first_running_share.value_or(l2.far_first_running);
  l2.running_share = gpu.l2_running_share.value_or(l2.running_share);
  if (gpu.coalescer_waiting_share && gpu.coalescer_running_share)
    model.coalescer = {.sms = gpu.sms,
                       .waiting_share = *gpu.coalescer_waiting_share,
                       .running_share = *gpu.coalescer_running_share};
  return model;
}

Prediction simulate_halves(const Request& request, const HalvesParameters& parameters,
                           const CoalescerParameters& coalescer) {
  LiveAtoms atoms(request);
  HalvesInStep l2(parameters, &atoms, coalescer);
  LiveConsumer consumer{l2, {atoms, l2}};
  HalfVisits<LiveConsumer> visits(consumer, atoms.sizes(), parameters, request.merge_lockstep);
  LockstepWavefront wavefront(request, atoms, visits);
  wavefront.run();
  visits.flush();
  Prediction prediction;
  prediction.steps = wavefront.steps();
  prediction.tile_visits = l2.visits();
  set_counters(
      prediction, [&](Tensor tensor) { return l2.counters(tensor); }, request.bulk_loads);
  if (request.problem.pass == Pass::backward) know_reductions(prediction);
  return prediction;
}

}  // namespace sawtooth::sim
