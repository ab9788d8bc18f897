#include "sim/halves/lru_sets.hpp"

#include <algorithm>
#include <utility>

namespace sawtooth::sim {

LruSets::LruSets(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
                 uint32_t uses)
    : ways_(ways),
      dirty_ways_(dirty_ways),
      reduced_sets_(reduced_sets),
      uses_(uses),
      known_(size_t{sets} * ways, empty),
      first_(sets) {
  grow(0);
}

void LruSets::grow(size_t lines) {
  last_use_.resize(std::max(last_use_.size(), lines));
  held_.resize(last_use_.size() / 64 + 2);
  dirty_.resize(held_.size());
  reduced_.resize(held_.size());
}

PieceMask LruSets::touch_each(const uint16_t* set_of, uint32_t first, PieceMask which,
                              Access access) {
  // Rings and uses lie anywhere: those of all lines that are missing are asked for at once.
  const PieceMask missing = which & ~bits(held_, first);
  for_each_piece(missing, [&](uint32_t i) {
    const Ring ring = this->ring(set_of[first + i]);
    __builtin_prefetch(&ring.ways[ring.first]);
  });
  for_each_piece(missing, [&](uint32_t i) {
    const Ring ring = this->ring(set_of[first + i]);
    for (const uint32_t way : {ring.first, ring.after(ring.first)}) {
      const Use known = ring.ways[way];
      if (known != empty) __builtin_prefetch(&last_use_[line_of(known)]);
    }
  });
  PieceMask held = 0;
  for_each_piece(which, [&](uint32_t i) {
    held |= PieceMask{touch_one(set_of[first + i], first + i, access)} << i;
  });
  return held;
}

bool LruSets::touch_one(uint32_t set, uint32_t line, Access access) {
  const bool held = holds(line);
  if (!held) {
    const Ring ring = this->ring(set);
    Use& way = oldest(ring);
    if (way != empty) {
      const uint32_t gone = line_of(way);
      if (bits(dirty_, gone) & 1) write_back(gone);
      flip(held_, gone);
    }
    way = use(uses_, line);
    ring.first = ring.after(ring.first);
    flip(held_, line);
  } else if (bits(dirty_, line) & 1) {
    write_back_if_old(set, line);
  }
  last_use_[line] = uses_;
  if (changes(access)) {
    mark(dirty_, line, true);
    mark(reduced_, line, access == Access::reduce);
  }
  return held;
}

// The way that a new line takes: an empty one, or that of the line used longest ago.
LruSets::Use& LruSets::oldest(Ring ring) {
  while (true) {
    Use& first = ring.ways[ring.first];
    if (first == empty) return first;
    const Use last = last_use(line_of(first));
    if (first == last) return first;
    uint32_t way = ring.first;
    for (uint32_t next = ring.after(way); next != ring.first && ring.ways[next] < last;
         next = ring.after(next)) {
      ring.ways[way] = ring.ways[next];
      way = next;
    }
    ring.ways[way] = last;
  }
}

void LruSets::write_back_if_old(uint32_t set, uint32_t line) {
  if (bits(reduced_, line) & 1) return;
  const Use own = last_use(line);
  const Ring ring = this->ring(set);
  const auto younger = std::count_if(ring.ways, ring.ways + ring.count, [&](Use known) {
    return known != empty && last_use(line_of(known)) > own;
  });
  if (younger >= dirty_ways_) write_back(line);
}

void LruSets::write_back(uint32_t line) {
  flip(dirty_, line);
  written_back_.push_back(line);
}

void LruSets::drop(const uint16_t* set_of, uint32_t line) {
  if (!holds(line)) return;
  const uint32_t set = set_of[line];
  const Ring ring = this->ring(set);
  // Those that are old while the line is there.
  for (uint32_t way = 0; way < ring.count; ++way) {
    const Use known = ring.ways[way];
    if (known != empty && (bits(dirty_, line_of(known)) & 1))
      write_back_if_old(set, line_of(known));
  }
  // An empty way is the first one: those before the line's move on by one.
  Use moved = empty;
  uint32_t way = ring.first;
  do {
    std::swap(ring.ways[way], moved);
    way = ring.after(way);
  } while (line_of(moved) != line);
  flip(held_, line);
}

void LruSets::settle(const uint16_t* set_of) {
  for (uint32_t first = 0; first < last_use_.size(); first += pieces_a_mask) {
    for_each_piece(bits(dirty_, first),
                   [&](uint32_t i) { write_back_if_old(set_of[first + i], first + i); });
  }
}

// Only the order in a set matters.
void LruSets::count_uses_anew() {
  for (uint32_t set = 0; set < first_.size(); ++set) {
    const Ring ring = this->ring(set);
    for (Use* way = ring.ways; way != ring.ways + ring.count; ++way) {
      if (*way != empty) *way = last_use(line_of(*way));
    }
    std::sort(ring.ways, ring.ways + ring.count);
    ring.first = 0;
    uint32_t place = 0;
    for (Use* way = ring.ways; way != ring.ways + ring.count; ++way) {
      if (*way == empty) continue;
      const uint32_t line = line_of(*way);
      last_use_[line] = ++place;
      *way = last_use(line);
    }
  }
  uses_ = ways_ + 1;
}

}  // namespace sawtooth::sim
