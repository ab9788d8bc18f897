#include "sim/halves/lru_sets.hpp"

#include <algorithm>
#include <utility>

namespace sawtooth::sim {

LruSets::LruSets(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
                 uint32_t uses)
    : ways_(ways),
      dirty_ways_(dirty_ways),
      uses_(uses),
      lines_(size_t{sets} * ways, no_line),
      rings_(sets) {
  for (uint32_t set = 0; set < sets; ++set)
    rings_[set].ways = static_cast<uint16_t>(ways - (set < reduced_sets ? 1 : 0));
  grow(0);
}

void LruSets::grow(size_t lines) {
  last_use_.resize(std::max(last_use_.size(), lines));
  marks_.resize(last_use_.size() / 64 + 2);
}

PieceMask LruSets::touch_each(const uint16_t* set_of, uint32_t first, PieceMask which,
                              Access access) {
  // Rings lie anywhere: those of all lines that are missing are asked for at once.
  for_each_piece(which & ~marked(&Marks::held, first),
                 [&](uint32_t i) { __builtin_prefetch(lines_of(set_of[first + i])); });
  PieceMask found = 0;
  for (PieceMask left = which; left != 0; left &= left - 1) {
    const uint32_t line = first + static_cast<uint32_t>(std::countr_zero(left));
    Marks& marks = marks_[line / 64];
    const uint64_t bit = uint64_t{1} << line % 64;
    if ((marks.held & bit) == 0) {
      take(set_of[line], line);
      marks.held |= bit;
    } else {
      found |= left & -left;
      if ((marks.dirty & bit) != 0) write_back_if_old(set_of[line], line);
      marks.used_again |= bit;
    }
    last_use_[line] = uses_;
    if (changes(access)) {
      marks.dirty |= bit;
      mark(&Marks::reduced, line, access == Access::reduce);
    }
  }
  return found;
}

// Gives a missing line a way of its set: an empty one, or that of the line used longest ago.
inline void LruSets::take(uint32_t set, uint32_t line) {
  Ring& ring = rings_[set];
  const uint32_t* const lines = lines_of(set);
  uint32_t oldest = lines[ring.first];
  while (oldest != no_line && (is(&Marks::used_again, oldest) || is(&Marks::dirty, oldest))) {
    if (!is(&Marks::used_again, oldest) && is(&Marks::reduced, oldest)) {
      spare_reduced(set);
    } else {
      prepare_first(set);
    }
    oldest = lines[ring.first];
  }
  if (oldest != no_line) mark(&Marks::held, oldest, false);
  lines_of(set)[ring.first] = line;
  ring.first = static_cast<uint16_t>(ring.after(ring.first));
}

// The first line of a set, used longest ago, is dirty from a reduction: it is written back and
// stays, as are all such lines older than the oldest other one, which leaves.
[[gnu::noinline]] void LruSets::spare_reduced(uint32_t set) {
  const uint32_t* const lines = lines_of(set);
  const uint32_t* const end = lines + rings_[set].ways;
  const auto spared = [&](uint32_t line) {
    return is(&Marks::dirty, line) && is(&Marks::reduced, line);
  };
  const uint32_t* leaves = end;
  for (const uint32_t* line = lines; line != end; ++line) {
    if (!spared(*line) && (leaves == end || last_use(*line) < last_use(*leaves))) leaves = line;
  }
  if (leaves == end) return write_back(lines[rings_[set].first]);
  const uint32_t left = *leaves;
  for (const uint32_t* line = lines; line != end; ++line) {
    if (spared(*line) && last_use(*line) < last_use(left)) write_back(*line);
  }
  if (is(&Marks::dirty, left)) write_back(left);
  take_out(set, left);
}

// Puts the first line behind all that were used before it, if it has been used again. Else it is
// to leave, and is written back.
[[gnu::noinline]] void LruSets::prepare_first(uint32_t set) {
  Ring& ring = rings_[set];
  uint32_t* const lines = lines_of(set);
  uint32_t way = ring.first;
  const uint32_t line = lines[way];
  if (!is(&Marks::used_again, line)) return write_back(line);
  mark(&Marks::used_again, line, false);
  ring.first = static_cast<uint16_t>(ring.after(way));
  const uint64_t own = last_use(line);
  for (uint32_t last = ring.before(way); way != ring.first && last_use(lines[last]) > own;
       last = ring.before(last)) {
    lines[way] = lines[last];
    way = last;
  }
  lines[way] = line;
}

void LruSets::write_back_if_old(uint32_t set, uint32_t line) {
  if (is(&Marks::reduced, line)) return;
  const uint32_t* const lines = lines_of(set);
  const auto younger = std::count_if(lines, lines + rings_[set].ways, [&](uint32_t other) {
    return other != no_line && last_use(other) > last_use(line);
  });
  if (younger >= dirty_ways_) write_back(line);
}

void LruSets::write_back(uint32_t line) {
  mark(&Marks::dirty, line, false);
  written_back_.push_back(line);
}

void LruSets::drop(const uint16_t* set_of, uint32_t line) {
  if (!holds(line)) return;
  const uint32_t set = set_of[line];
  const Ring& ring = rings_[set];
  uint32_t* const lines = lines_of(set);
  // Those that are old while the line is there.
  for (uint32_t way = 0; way < ring.ways; ++way) {
    if (lines[way] != no_line && is(&Marks::dirty, lines[way])) write_back_if_old(set, lines[way]);
  }
  take_out(set, line);
}

// An empty way is the first one: those before the line's move on by one.
void LruSets::take_out(uint32_t set, uint32_t line) {
  const Ring& ring = rings_[set];
  uint32_t* const lines = lines_of(set);
  uint32_t moved = no_line;
  uint32_t way = ring.first;
  do {
    std::swap(lines[way], moved);
    way = ring.after(way);
  } while (moved != line);
  mark(&Marks::held, line, false);
  mark(&Marks::used_again, line, false);
}

void LruSets::settle(const uint16_t* set_of) {
  for (uint32_t first = 0; first < last_use_.size(); first += pieces_a_mask) {
    for_each_piece(marked(&Marks::dirty, first),
                   [&](uint32_t i) { write_back_if_old(set_of[first + i], first + i); });
  }
}

// Only the order in a set matters.
void LruSets::count_uses_anew() {
  for (uint32_t set = 0; set < rings_.size(); ++set) {
    uint32_t* const end = lines_of(set) + rings_[set].ways;
    uint32_t* const held =
        std::partition(lines_of(set), end, [](uint32_t line) { return line == no_line; });
    std::sort(held, end, [&](uint32_t a, uint32_t b) { return last_use(a) < last_use(b); });
    uint32_t place = 0;
    std::for_each(held, end, [&](uint32_t line) { last_use_[line] = ++place; });
    rings_[set].first = 0;
  }
  for (Marks& marks : marks_) marks.used_again = 0;
  uses_ = ways_ + 1;
}

}  // namespace sawtooth::sim
