#include "sim/halves/lru_sets.hpp"

#include <algorithm>
#include <numeric>

namespace sawtooth::sim {

LruSets::LruSets(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
                 uint32_t uses)
    : sets_(sets),
      ways_(ways),
      way_bits_(static_cast<uint32_t>(std::bit_width(std::max(ways, row_ways) - 1))),
      dirty_ways_(dirty_ways),
      now_(first_use + ((uses + 1) << way_bits_)),
      rows_((size_t{sets} << way_bits_) * 2 / row_ways) {
  for (uint32_t set = 0; set < sets; ++set) {
    const uint32_t ways_of_set = ways - (set < reduced_sets ? 1 : 0);
    for (uint32_t way = 0; way < 1u << way_bits_; ++way) {
      entry(slots_of(set) + way) = way < ways_of_set ? first_use | way : no_way;
      line_in(slots_of(set) + way) = no_line;
    }
  }
  grow(0);
}

void LruSets::grow(size_t lines) {
  way_of_.resize(std::max(way_of_.size(), lines));
  uses_.resize(way_of_.size());
  states_.resize(way_of_.size() + pieces_a_mask);
}

PieceMask LruSets::touch_runs(const LineSets& sets, uint32_t first, PieceMask which,
                              Access access) {
  enter_hits(sets);
  PieceMask found = 0;
  for (PieceMask left = which; left != 0;) {
    const PieceMask run = sets.run(first, left);
    left &= ~run;
    const Look look = look_at(first, run);
    if (look.dirty != 0) {
      for_each_piece(look.held, [&](uint32_t i) {
        if ((states_[first + i] & dirty) != 0) write_back_if_old(sets, first + i);
      });
    }
    enter(sets, first, look.held, now_);
    place(sets, first, run & ~look.held);
    found |= look.held;
    if (!changes(access)) continue;
    const int state = held | dirty | (access == Access::reduce ? reduced : 0);
    for_each_piece(run, [&](uint32_t i) {
      states_[first + i] = static_cast<uint8_t>(state);
      line_in(slot_of(sets, first + i)) |= changed;
    });
  }
  return found;
}

// Makes the entries of lines that are held those of a touch at `now`.
inline void LruSets::enter(const LineSets& sets, uint32_t first, PieceMask which, uint32_t now) {
  uint32_t* const entries = this->entries();
  for_each_piece(which, [&](uint32_t i) {
    const uint32_t way = way_of_[first + i];
    entries[slots_of(sets.of(first + i)) + way] = use(now, i) | way;
  });
}

// Gives each missing line of a run an empty way of its set, or that of the line used longest ago.
// These are all looked for before the first of them leaves: a CPU need not wait with what it reads
// for where it is going to write.
inline void LruSets::place(const LineSets& sets, uint32_t first, PieceMask which) {
  std::array<uint32_t, pieces_a_mask> slots;
  size_t count = 0;
  if (written_down_)
    for_each_piece(which,
                   [&](uint32_t i) { slots[count++] = compared_oldest(sets.of(first + i)); });
  else
    for_each_piece(which, [&](uint32_t i) { slots[count++] = oldest(sets.of(first + i)); });
  uint32_t* const entries = this->entries();
  uint32_t* const lines = this->lines();
  uint8_t* const way_of = way_of_.data() + first;
  uint8_t* const states = states_.data();
  const uint32_t now = now_;
  const uint32_t way_bits = way_bits_;
  const uint32_t* next = slots.data();
  for_each_piece(which, [&](uint32_t i) {
    uint32_t slot = *next++;
    const uint32_t left = lines[slot];
    if (left > no_line)
      slot = empty_way(sets.of(first + i));
    else if (left != no_line)
      states[left] = missing;
    const uint32_t way = slot & ((1u << way_bits) - 1);
    lines[slot] = first + i;
    way_of[i] = static_cast<uint8_t>(way);
    states[first + i] = held;
    entries[slot] = (now + (i << way_bits)) | way;
  });
}

// The slot of a set's smallest entry: of each four the smaller ones, of these, and so on.
inline uint32_t LruSets::oldest(uint32_t set) const {
  using Four [[gnu::vector_size(16), gnu::may_alias]] = float;
  using Bits [[gnu::vector_size(16)]] = uint32_t;
  const auto less = [](Four a, Four b) { return a < b ? a : b; };
  const auto* const fours = reinterpret_cast<const Four*>(entries() + slots_of(set));
  Four least = less(less(fours[0], fours[1]), less(fours[2], fours[3]));
  for (uint32_t i = row_ways / 4; i < 1u << way_bits_ >> 2; ++i) least = less(least, fours[i]);
  Bits bits = std::bit_cast<Bits>(least);
  least = less(least, std::bit_cast<Four>(Bits{bits[2], bits[3], bits[0], bits[1]}));
  bits = std::bit_cast<Bits>(least);
  least = less(least, std::bit_cast<Four>(Bits{bits[1], bits[0], bits[3], bits[2]}));
  return slots_of(set) + way(std::bit_cast<Bits>(least)[0]);
}

// The slot of an empty way. If there is none, the line used longest ago leaves.
[[gnu::noinline]] uint32_t LruSets::empty_way(uint32_t set) {
  compare(set);
  for (;;) {
    const uint32_t slot = oldest(set);
    const uint32_t line = line_in(slot);
    if (line == no_line) return slot;
    if (line < no_line) {
      states_[line] = missing;
      return slot;
    }
    if ((states_[line & ~changed] & reduced) != 0)
      spare_reduced(set);
    else
      write_back(slot);
  }
}

// The line used longest ago is dirty from a reduction: it is written back and stays, as are all
// such lines older than the oldest other one, which leaves. If there is no other one it leaves.
void LruSets::spare_reduced(uint32_t set) {
  const uint32_t begin = slots_of(set);
  const uint32_t end = begin + ways_;
  const auto spared = [&](uint32_t slot) {
    return line_in(slot) > no_line && (states_[line_in(slot) & ~changed] & reduced) != 0;
  };
  uint32_t leaves = end;
  for (uint32_t slot = begin; slot != end; ++slot) {
    if (entry(slot) == no_way || spared(slot)) continue;
    if (leaves == end || entry(slot) < entry(leaves)) leaves = slot;
  }
  if (leaves == end) return write_back(oldest(set));
  for (uint32_t slot = begin; slot != end; ++slot) {
    if (entry(slot) < entry(leaves) && spared(slot)) write_back(slot);
  }
  if (line_in(leaves) > no_line) write_back(leaves);
  take_out(leaves);
}

// Empties the slot of a clean line.
void LruSets::take_out(uint32_t slot) {
  states_[line_in(slot)] = missing;
  line_in(slot) = no_line;
  entry(slot) = first_use | way(slot);
}

void LruSets::write_back_if_old(const LineSets& sets, uint32_t line) {
  if ((states_[line] & reduced) != 0) return;
  compare(sets.of(line));
  const uint32_t slot = slot_of(sets, line);
  const uint32_t own = entry(slot);
  const uint32_t* const row = entries() + slots_of(sets.of(line));
  const auto younger = std::count_if(
      row, row + ways_, [&](uint32_t other) { return other > own && other != no_way; });
  if (younger >= dirty_ways_) write_back(slot);
}

void LruSets::write_back(uint32_t slot) {
  const uint32_t line = line_in(slot) &= ~changed;
  states_[line] = held;
  written_back_.push_back(line);
}

void LruSets::drop(const LineSets& sets, uint32_t line) {
  if (!holds(line)) return;
  enter_hits(sets);
  const uint32_t begin = slots_of(sets.of(line));
  // Those that are old while the line is there.
  for (uint32_t slot = begin; slot < begin + ways_; ++slot) {
    if (line_in(slot) > no_line) write_back_if_old(sets, line_in(slot) & ~changed);
  }
  take_out(slot_of(sets, line));
}

void LruSets::settle(const LineSets& sets) {
  enter_hits(sets);
  compare_all();  // else each dirty line's row is
  for (uint32_t first = 0; first < way_of_.size(); first += pieces_a_mask) {
    if (look_at(first, ~PieceMask{0}).dirty == 0) continue;
    for (uint32_t line = first; line < first + pieces_a_mask; ++line) {
      if ((states_[line] & dirty) != 0) write_back_if_old(sets, line);
    }
  }
}

// Enters the hits that wait, and what was written down if that is as old as there are ways.
void LruSets::enter_hits(const LineSets& sets) {
  for (size_t i = 0; i < hits_; ++i)
    enter(sets, waiting_[i].first, waiting_[i].which, waiting_[i].now);
  hits_ = 0;
  if (found_old_ > size_t{sets_} * ways_) compare_all();
}

// As oldest(), of a row that may be older than what was written down: so is the entry that is the
// smallest by now, as often as there is one.
uint32_t LruSets::compared_oldest(uint32_t set) {
  for (;;) {
    const uint32_t slot = oldest(set);
    if (line_in(slot) == no_line) return slot;
    const uint32_t written_down = uses_[line_in(slot) & ~changed] | way(slot);
    if (entry(slot) >= written_down) return slot;
    entry(slot) = written_down;
    ++found_old_;
  }
}

// Enters what was written down of a set's lines since they were entered.
void LruSets::compare(uint32_t set) {
  if (!written_down_) return;
  for (uint32_t slot = slots_of(set); slot < slots_of(set) + ways_; ++slot) {
    if (line_in(slot) == no_line) continue;
    entry(slot) = std::max(entry(slot), uses_[line_in(slot) & ~changed] | way(slot));
  }
}

void LruSets::compare_all() {
  if (!written_down_) return;
  for (uint32_t set = 0; set < sets_; ++set) compare(set);
  written_down_ = false;
  found_old_ = 0;
}

// Only the order in a set matters.
void LruSets::count_uses_anew(const LineSets& sets) {
  enter_hits(sets);
  compare_all();
  std::fill(uses_.begin(), uses_.end(), 0);
  std::vector<uint32_t> by_age(ways_);
  for (uint32_t set = 0; set < sets_; ++set) {
    std::iota(by_age.begin(), by_age.end(), slots_of(set));
    std::sort(by_age.begin(), by_age.end(),
              [&](uint32_t a, uint32_t b) { return entry(a) < entry(b); });
    uint32_t place = 0;
    for (const uint32_t slot : by_age) {
      if (line_in(slot) != no_line) entry(slot) = use(first_use, ++place) | way(slot);
    }
  }
  now_ = use(first_use, ways_ + 1);
}

}  // namespace sawtooth::sim
