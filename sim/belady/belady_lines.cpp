#include "sim/belady/belady_lines.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sawtooth::sim {

BeladyLines::BeladyLines(std::span<const AtomSize> sizes, int64_t capacity_lines,
                         std::span<const BeladyVisit> visits)
    : sizes_(sizes),
      visits_(visits),
      capacity_(capacity_lines),
      free_(capacity_lines),
      next_visit_(visits.size()),
      held_(sizes.size()),
      times_(visits.size()) {
  if (capacity_lines < 1) {
    throw std::invalid_argument("opt: a cache of " + std::to_string(capacity_lines) +
                                " lines; allowed: 1 or more");
  }
  if (visits.size() >= never) {
    throw std::invalid_argument("opt: " + std::to_string(visits.size()) +
                                " visits of tiles; allowed: fewer than 2^32 - 1");
  }
  std::vector<uint32_t> later(sizes.size(), never);
  for (size_t i = visits.size(); i-- > 0;) {
    next_visit_[i] = later[visits[i].atom];
    later[visits[i].atom] = static_cast<uint32_t>(i);
  }
}

void BeladyLines::Held::add(uint32_t begin, uint32_t end) {
  lines += end - begin;
  if (!runs.empty() && runs.back().end == begin) {
    runs.back().end = end;
  } else {
    runs.push_back({begin, end});
  }
}

void BeladyLines::Held::drop_highest(int64_t count) {
  lines -= count;
  while (count > 0) {
    Run& highest = runs.back();
    const int64_t part = std::min<int64_t>(count, highest.end - highest.begin);
    highest.end -= static_cast<uint32_t>(part);
    if (highest.begin == highest.end) runs.pop_back();
    count -= part;
  }
}

BeladyLines::Missed BeladyLines::next() {
  const BeladyVisit& visit = visits_[now_];
  const uint32_t needed = next_visit_[now_];
  if (held_[visit.atom].lines > 0) times_.erase(now_);
  Missed missed;
  // Visits that are followed by another to the same atom at once need its lines before all others.
  // If the atom fits it is there whole after the first, and the rest hit.
  const uint32_t distinct = sizes_[visit.atom].lines <= capacity_ ? 1 : visit.times;
  for (uint32_t i = 0; i < distinct; ++i) {
    const Missed once = visit_once(visit.atom, i + 1 < visit.times ? now_ : needed);
    missed.lines += once.lines;
    missed.last_lines += once.last_lines;
  }
  if (held_[visit.atom].lines > 0) {
    if (needed == never) {
      unneeded_.push_back(visit.atom);
    } else {
      times_.insert(needed);
    }
  }
  ++now_;
  return missed;
}

BeladyLines::Missed BeladyLines::visit_once(AtomId atom, uint32_t needed) {
  const uint32_t lines = sizes_[atom].lines;
  std::swap(untouched_, held_[atom]);
  touched_.runs.clear();
  touched_.lines = 0;
  Missed missed;
  size_t run = 0;  // of untouched_, whose highest lines may leave meanwhile
  for (uint32_t place = 0; place < lines;) {
    const bool more = run < untouched_.runs.size();
    const uint32_t next_hit = more ? untouched_.runs[run].begin : lines;
    if (place < next_hit) {
      missed.lines += next_hit - place;
      missed.last_lines += next_hit == lines ? 1 : 0;
      fill(place, next_hit, needed);
      place = next_hit;
    } else {
      const Run hit = untouched_.runs[run++];
      untouched_.lines -= hit.end - hit.begin;
      touched_.add(hit.begin, hit.end);
      place = hit.end;
    }
  }
  untouched_.runs.clear();
  std::swap(held_[atom], touched_);
  return missed;
}

// Puts lines [begin, end) of the atom at hand in, one after the other. Other atoms are needed after
// this visit and its own untouched lines within it, so these leave only where nothing else is left.
void BeladyLines::fill(uint32_t begin, uint32_t end, uint32_t needed) {
  while (begin < end) {
    int64_t lines = std::min<int64_t>(free_, end - begin);
    if (lines > 0) {
      free_ -= lines;
    } else {
      const Farthest other = farthest_other();
      const bool own_is_farther = !other.exists || needed > other.needed;
      if (own_is_farther && touched_.lines > 0) {
        // The highest touched line leaves for `begin`, which leaves for the next one, and so on.
        touched_.drop_highest(1);
        touched_.add(end - 1, end);
        return;
      }
      // One line at a time where that line may be the next to leave.
      lines = own_is_farther ? 1 : std::min<int64_t>(held_[other.atom].lines, end - begin);
      if (other.exists) {
        take_from(other, lines);
      } else {
        untouched_.drop_highest(lines);
      }
    }
    touched_.add(begin, begin + static_cast<uint32_t>(lines));
    begin += static_cast<uint32_t>(lines);
  }
}

BeladyLines::Farthest BeladyLines::farthest_other() const {
  if (!unneeded_.empty()) return {true, unneeded_.back(), never};
  if (times_.empty()) return {};
  const uint32_t time = times_.latest();
  return {true, visits_[time].atom, time};
}

void BeladyLines::take_from(const Farthest& other, int64_t lines) {
  Held& held = held_[other.atom];
  held.drop_highest(lines);
  if (held.lines > 0) return;
  if (other.needed == never) {
    unneeded_.pop_back();
  } else {
    times_.erase(other.needed);
  }
}

}  // namespace sawtooth::sim
