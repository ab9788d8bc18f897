#include "sim/timed/memory.hpp"

#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {

TimedMemory::TimedMemory(const L2Parameters& parameters, int64_t sms, const LiveAtoms& heads,
                         bool merging)
    : parameters_(parameters),
      placed_(placed_sms(sms, parameters.lines.halves, parameters.layout)),
      merging_(merging && parameters.coalescer_sms > 1),
      l2_lines_(parameters.lines, &heads),
      ready_(static_cast<size_t>(parameters.lines.halves)),
      coalescer_of_(coalescers_of(placed_, parameters.coalescer_sms)),
      coalescers_(*std::max_element(coalescer_of_.begin(), coalescer_of_.end()) + 1),
      ports_(static_cast<size_t>(sms), BandwidthQueue(parameters.port_bytes_a_ns)),
      l2_(parameters.l2_bytes_a_ns),
      dram_(parameters.dram_bytes_a_ns),
      dram_reads_(parameters.dram_window_ns) {}

void TimedMemory::begin(const HeadRun& run) {
  l2_lines_.begin(run);
  const auto renew = [&](auto& table, size_t an_atom) {
    const size_t first = run.begin * an_atom, count = run.sizes.size() * an_atom;
    table.resize(std::max(table.size(), first + count));
    std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(first), count,
                typename std::decay_t<decltype(table)>::value_type{});
  };
  const auto halves = static_cast<size_t>(parameters_.lines.halves);
  for (std::vector<double>& ready : ready_) renew(ready, halves);
  renew(far_first_, halves);
  if (merging_) renew(outstanding_, static_cast<size_t>(coalescers_));
}

std::array<TimedMemory::Lacking, 2> TimedMemory::look_up(int half, AtomId atom,
                                                         const AtomPart& part, Access access) {
  const TwoHalves::MissedByHome missed = l2_lines_.read(atom, {half == 0, half == 1}, part, access);
  std::array<Lacking, 2> lacking;
  for (int home = 0; home < 2; ++home) {
    const TwoHalves::Missed& of_home = missed[static_cast<size_t>(home)];
    lacking[static_cast<size_t>(home)] = {
        sectors_of(home == half ? of_home.at_home : of_home.crossed), sectors_of(of_home.at_home),
        sectors_of(of_home.asked)};
  }
  return lacking;
}

double TimedMemory::pass_dram(double now_ns, double sectors, ReadTime& time) {
  time.from_dram = true;
  dram_reads_.add(now_ns, sectors * sector_bytes);
  const double passed = dram_.pass(now_ns, sectors * sector_bytes);
  time.dram_ns = std::max(time.dram_ns, passed - now_ns);
  return passed + parameters_.dram_ns;
}

// Brings the lines of `atom` whose home is `home` to `half`; returns when they are there.
double TimedMemory::fetch(double now_ns, int half, AtomId atom, int home, const Lacking& lacking,
                          Access access, ReadTime& time) {
  const size_t here = entry(atom, home);
  double& ready = ready_[static_cast<size_t>(half)][here];
  if (lacking.here == 0) {
    if (home == half && parameters_.lines.halves == 2 && far_first_[here].sectors > 0) {
      // Had this half asked before the other half's request had crossed the fabric, its own lookup
      // would have missed: the nearer the two, the more lines are counted as this half's miss.
      FarFirst& far = far_first_[here];
      const double hop_ns = parameters_.far_ns - parameters_.near_ns;
      const double gap_ns = now_ns - far.ns;
      if (gap_ns < hop_ns) {
        l2_lines_.tally_of(atom).fabric_misses -= far.sectors * (1 - gap_ns / hop_ns);
      }
      far.sectors = 0;
    }
    return std::max(ready, now_ns + parameters_.near_ns);
  }
  if (home == half) return ready = pass_dram(now_ns, lacking.here, time);
  double& home_ready = ready_[static_cast<size_t>(home)][here];
  if (lacking.anywhere == 0) {
    return ready = std::max(home_ready, now_ns + parameters_.far_ns);
  }
  if (access == Access::read) far_first_[here] = {now_ns, lacking.anywhere};
  home_ready = pass_dram(now_ns, lacking.anywhere, time);
  return ready = home_ready + parameters_.far_ns - parameters_.near_ns;
}

ReadTime TimedMemory::read(double now_ns, int64_t sm, AtomId atom) {
  const double sectors = double(l2_lines_.size(atom).sectors);
  const double bytes = sectors * sector_bytes;
  Tally& tally = l2_lines_.tally_of(atom);
  tally.received += sectors;
  ReadTime time;
  double asked_ns = ports_[static_cast<size_t>(sm)].pass(now_ns, bytes);
  Outstanding* last = nullptr;
  if (merging_) {
    const auto at =
        static_cast<int64_t>(atom) * coalescers_ + coalescer_of_[static_cast<size_t>(sm)];
    last = &outstanding_[static_cast<size_t>(at)];
  }
  // Both stream the tile's lines in one order, so every line meets the other's request, or none.
  // One that does is answered with the other, and L2 does not see it.
  const bool merged = last != nullptr && now_ns - last->asked_ns < last->answered_ns;
  double arrival = 0;
  if (merged) {
    arrival = std::max(last->asked_ns + last->answered_ns, now_ns + parameters_.near_ns);
  } else {
    tally.passed += sectors;
    asked_ns = std::max(asked_ns, l2_.pass(now_ns, bytes));
    const int half = placed(sm).half;
    const std::array<Lacking, 2> lacking = look_up(half, atom, {}, Access::read);
    for (int home = 0; home < parameters_.lines.halves; ++home) {
      const Lacking& of_home = lacking[static_cast<size_t>(home)];
      arrival = std::max(arrival, fetch(now_ns, half, atom, home, of_home, Access::read, time));
    }
    if (last != nullptr) *last = {now_ns, arrival - now_ns};
  }
  time.l2_ns = asked_ns - now_ns;
  // Lines stream: the last one is there when the port has passed it and its own latency is over.
  time.arrival_ns = arrival + time.l2_ns;
  time.latency_ns = time.arrival_ns - now_ns - time.l2_ns - time.dram_ns;
  return time;
}

void TimedMemory::prefetch(double now_ns, int64_t sm, AtomId atom, const AtomPart& part) {
  const int half = placed(sm).half;
  const std::array<Lacking, 2> lacking = look_up(half, atom, part, Access::prefetch);
  const double sectors = lacking[0].asked + lacking[1].asked;
  l2_lines_.tally_of(atom).passed += sectors;
  l2_.pass(now_ns, sectors * sector_bytes);
  ReadTime not_waited_for;
  for (int home = 0; home < parameters_.lines.halves; ++home) {
    const Lacking& of_home = lacking[static_cast<size_t>(home)];
    if (of_home.here > 0)
      fetch(now_ns, half, atom, home, of_home, Access::prefetch, not_waited_for);
  }
}

void TimedMemory::write(double now_ns, int64_t sm, AtomId atom) {
  const double sectors = double(l2_lines_.size(atom).sectors);
  l2_lines_.tally_of(atom).written += sectors;
  l2_.pass(ports_[static_cast<size_t>(sm)].pass(now_ns, sectors * sector_bytes),
           sectors * sector_bytes);
  const int half = placed(sm).half;
  l2_lines_.write(atom, {half == 0, half == 1});
}

double TimedMemory::reduce(double now_ns, int64_t sm, AtomId atom) {
  const Tally& tally = l2_lines_.tally_of(atom);
  const double reduced = tally.reduced, filled = tally.fill_reads;
  const int half = placed(sm).half;
  l2_lines_.reduce(atom, {half == 0 ? 1u : 0u, half == 1 ? 1u : 0u});
  const double sectors = double(l2_lines_.size(atom).sectors);
  // Handed over now, not when the port has passed them: what other SMs read meanwhile is not behind
  // them.
  const double passed = ports_[static_cast<size_t>(sm)].pass(now_ns, sectors * sector_bytes);
  const double fill_bytes = (tally.fill_reads - filled) * sector_bytes;
  dram_reads_.add(now_ns, fill_bytes);
  dram_.pass(now_ns, fill_bytes);
  return std::max(passed, l2_.pass(now_ns, (tally.reduced - reduced) * sector_bytes));
}

void TimedMemory::receive(double now_ns, AtomId atom, Copier copier) {
  l2_.pass(now_ns, double(l2_lines_.size(atom).sectors) * sector_bytes);
  l2_lines_.receive(atom, copier);
}

void TimedMemory::send(double now_ns, AtomId atom, Copier copier) {
  const double passed = l2_.pass(now_ns, double(l2_lines_.size(atom).sectors) * sector_bytes);
  dram_.pass(passed, l2_lines_.send(atom, copier) * sector_bytes);
}

double TimedMemory::dram_busy_ns() {
  l2_lines_.settle();
  if (parameters_.dram_bytes_a_ns <= 0) return 0;
  double sectors = 0;
  for (const Tensor tensor : all_tensors) {
    const Tally& tally = l2_lines_.tally(tensor);
    sectors += tally.dram_reads + tally.fill_reads + tally.written_back + tally.sent_misses;
  }
  return sectors * sector_bytes / parameters_.dram_bytes_a_ns;
}

}  // namespace sawtooth::sim
