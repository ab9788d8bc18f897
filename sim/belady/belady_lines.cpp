#include "sim/belady/belady_lines.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace sawtooth::sim {

BeladyLines::BeladyLines(const std::vector<AtomSize>& sizes, int64_t capacity_lines)
    : sizes_(sizes),
      capacity_(capacity_lines),
      unused_(capacity_lines - 1),  // one is kept for the line that passes by
      last_(sizes.size(), never),
      slots_(initial_slots),
      with_places_(initial_slots) {
  if (capacity_lines < 1)
    throw std::invalid_argument("opt: a cache of " + std::to_string(capacity_lines) +
                                " lines; allowed: 1 or more");
}

BeladyLines::Missed BeladyLines::visit(AtomId atom, uint32_t times) {
  // If the atom fits, it is there whole after the first of several visits in direct succession, and
  // the third leaves what the second has left.
  if (atom >= last_.size()) last_.resize(sizes_.size(), never);
  const uint32_t distinct = sizes_[atom].lines <= capacity_ ? std::min(times, 2U) : times;
  Missed all;
  for (uint32_t i = 0; i < distinct; ++i) {
    const Missed once = visit_once(atom);
    all.lines += once.lines;
    all.last_lines += once.last_lines;
  }
  return all;
}

void BeladyLines::forget(AtomRange atoms) {
  if (atoms.end > last_.size()) last_.resize(sizes_.size(), never);
  std::fill(last_.begin() + atoms.begin, last_.begin() + atoms.end, never);
}

BeladyLines::Missed BeladyLines::visit_once(AtomId atom) {
  const uint32_t lines = sizes_[atom].lines;
  const uint32_t before = last_[atom];
  // Between two accesses to one line with no other in between nothing has to be kept.
  const bool kept = lines == 1 && before != never && before + 1 == now_;
  if (kept) return {};
  if (now_ == slots_.size()) make_room();
  before_ = last_[atom];
  slot_ = last_[atom] = now_++;
  if (before_ == never) return {lines, 1};
  hits_.clear();
  own_.clear();
  for (Slot& own = slots_[before_]; own.highest_run != no_run; pop_run(own))
    own_.push_back(runs_[own.highest_run]);
  // Line i can have a place that came free up to the access after its own, so that of line i + 1.
  Missed missed;
  uint32_t line = 0;
  for (size_t run = own_.size(); run-- > 0;) {
    missed.lines += fill(line, own_[run].begin - 1);
    hit(own_[run].begin - 1, own_[run].end - 1);
    line = own_[run].end - 1;
  }
  missed.lines += fill(line, lines - 1);
  if (std::exchange(slots_[before_ + 1].first_line, false)) {
    forget_if_empty(before_ + 1);
    hit(lines - 1, lines);
  } else {
    missed.last_lines = fill(lines - 1, lines);
    missed.lines += missed.last_lines;
  }
  forget_if_empty(before_);
  for (const Run& run : hits_) push_run(slots_[slot_], run.begin, run.end);
  if (slots_[slot_].first_line || !hits_.empty()) with_places_.insert(slot_);
  return missed;
}

// Lines [begin, end) hit; the places that were kept for them are free again from now on.
void BeladyLines::hit(uint32_t begin, uint32_t end) {
  if (begin < end && begin == 0) {
    slots_[slot_].first_line = true;
    ++begin;
  }
  if (begin == end) return;
  if (!hits_.empty() && hits_.back().end == begin)
    hits_.back().end = end;
  else
    hits_.push_back({begin, end});
}

// Lines [begin, end) hit as long as places are left from before; returns how many miss.
int64_t BeladyLines::fill(uint32_t begin, uint32_t end) {
  if (begin == end) return 0;
  const int64_t wanted = int64_t{end} - begin;
  int64_t missing = wanted;
  if (std::exchange(slots_[before_].first_line, false)) --missing;
  while (missing > 0) {
    const uint32_t slot = with_places_.latest_before(before_);
    if (slot == TimeSet::none) break;
    missing -= take_from(slots_[slot], missing);
    forget_if_empty(slot);
  }
  const int64_t never_used = std::min(missing, unused_);
  unused_ -= never_used;
  missing -= never_used;
  hit(begin, begin + static_cast<uint32_t>(wanted - missing));
  return missing;
}

// Up to `most` places of a slot, those that came free last; returns how many.
int64_t BeladyLines::take_from(Slot& slot, int64_t most) {
  int64_t taken = 0;
  while (taken < most && slot.highest_run != no_run) {
    Run& run = runs_[slot.highest_run];
    const int64_t part = std::min<int64_t>(most - taken, run.end - run.begin);
    run.end -= static_cast<uint32_t>(part);
    taken += part;
    if (run.begin == run.end) pop_run(slot);
  }
  if (taken < most && std::exchange(slot.first_line, false)) ++taken;
  return taken;
}

void BeladyLines::forget_if_empty(uint32_t slot) {
  if (slot != slot_ && is_empty(slots_[slot])) with_places_.erase(slot);
}

void BeladyLines::push_run(Slot& slot, uint32_t begin, uint32_t end) {
  if (spare_.empty()) {
    spare_.push_back(static_cast<uint32_t>(runs_.size()));
    runs_.emplace_back();
  }
  runs_[spare_.back()] = {begin, end, slot.highest_run};
  slot.highest_run = spare_.back();
  spare_.pop_back();
}

void BeladyLines::pop_run(Slot& slot) {
  spare_.push_back(slot.highest_run);
  slot.highest_run = runs_[slot.highest_run].lower;
}

// Drops the slots without places whose atoms were visited later. What follows a slot matters to it:
// where slots were dropped, an empty one stands for them.
void BeladyLines::make_room() {
  std::vector<uint32_t> number(slots_.size(), never);
  for (const uint32_t slot : last_)
    if (slot != never) number[slot] = 0;
  bool gap = false;
  std::vector<Slot> kept;
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    const bool keeps = number[slot] != never || !is_empty(slots_[slot]);
    if (keeps || !gap) kept.push_back(slots_[slot]);
    if (keeps) number[slot] = static_cast<uint32_t>(kept.size()) - 1;
    gap = !keeps;
  }
  now_ = static_cast<uint32_t>(kept.size());
  if (kept.size() >= most_slots / 2)
    throw std::invalid_argument("opt: more than " + std::to_string(most_slots / 2) +
                                " tiles were visited; use larger tiles");
  slots_ = std::move(kept);
  slots_.resize(std::max(number.size(), 2 * slots_.size()));
  with_places_ = TimeSet(slots_.size());
  for (uint32_t slot = 0; slot < now_; ++slot)
    if (!is_empty(slots_[slot])) with_places_.insert(slot);
  for (uint32_t& slot : last_)
    if (slot != never) slot = number[slot];
}

}  // namespace sawtooth::sim
