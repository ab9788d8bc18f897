#include "sim/halves/halves_in_step.hpp"

#include <algorithm>
#include <cmath>

namespace sawtooth::sim {

HalvesInStep::HalvesInStep(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes,
                           std::vector<uint8_t> groups, int group_count,
                           const CoalescerParameters& coalescer)
    : l2_(parameters, sizes, std::move(groups), group_count),
      coalescer_(coalescer),
      far_first_(static_cast<size_t>(group_count), 0.0) {}

HalvesInStep::HalvesInStep(const HalvesParameters& parameters, const LiveAtoms& heads,
                           const CoalescerParameters& coalescer)
    : l2_(parameters, heads), coalescer_(coalescer), far_first_(tensor_count, 0.0) {}

void HalvesInStep::visit(const HalfVisit& visit) {
  visits_ += visit.all_times();
  const double asked = double(l2_.size(visit.atom).sectors) * visit.all_times();
  Tally& tally = l2_.tally_of(visit.atom);
  if (visit.access == Access::write) {
    tally.written += asked;
    l2_.write(visit.atom, {visit.times[0] > 0, visit.times[1] > 0});
    return;
  }
  if (visit.access == Access::reduce) return l2_.reduce(visit.atom, visit.times);
  const bool two = l2_.parameters().halves == 2;
  // One read finds what all find, unless the tile exceeds a half: then each drives out the next's.
  const bool fits = l2_.size(visit.atom).lines <= l2_.parameters().capacity_lines;
  const uint32_t readers = two ? std::max(visit.times[0], visit.times[1]) : visit.all_times();
  for (uint32_t i = 0; i < (fits ? 1 : readers); ++i)
    count_read(visit, l2_.read(visit.atom, {!two || visit.times[0] > i, two && visit.times[1] > i},
                               {}, visit.access));
  if (visit.access == Access::read) tally.received += asked;
  // What a half looks up has passed, however many requests merge.
  const int halves = two ? (visit.times[0] > 0) + (visit.times[1] > 0) : 1;
  const double looked_up =
      double(l2_.size(visit.atom).sectors) * double(fits ? halves : visit.all_times());
  tally.passed +=
      std::max(looked_up, asked * passed_share(coalescer_, visit.all_times(), running_));
}

void HalvesInStep::count_read(const HalfVisit& visit, const TwoHalves::MissedByHome& missed) {
  const HalvesParameters& parameters = l2_.parameters();
  const double far_first = parameters.far_first_waiting +
                           (parameters.far_first_running - parameters.far_first_waiting) * running_;
  if (visit.access == Access::read)
    far_first_[l2_.group_of(visit.atom)] +=
        far_first * double(missed[0].both_asked + missed[1].both_asked);
  const AtomSize size = l2_.size(visit.atom);
  const double pace = std::min(
      1.0, double(size.lines) / (parameters.running_share * double(parameters.capacity_lines)));
  const double hit = 1 - sectors_of(missed[0].at_home + missed[1].at_home) / double(size.sectors);
  running_ += (hit - running_) * pace;
}

Tally HalvesInStep::tally(int group) {
  l2_.settle();
  Tally tally = l2_.tally(group);
  tally.write_backs = true;
  tally.fabric_misses += sectors_of(std::llround(far_first_[static_cast<size_t>(group)]));
  return tally;
}

}  // namespace sawtooth::sim
