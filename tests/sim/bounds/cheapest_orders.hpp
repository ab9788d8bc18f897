// The fewest misses that any order, assignment, scan, interleaving and replacement can have, by
// trying them all: shortest paths over all states of a small cache and its workers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace sawtooth::tests {

/// Each item is a set of tiles, as bits of up to `tiles` tiles. A worker that is free takes any
/// item that is left and visits its tiles once, in any order; workers go on in any interleaving. A
/// miss may put its tile into the cache of `capacity` tiles in the place of any other, or leave it
/// out.
inline int fewest_misses(const std::vector<uint32_t>& items, int tiles, int capacity, int workers) {
  const auto item_bits = static_cast<int>(items.size());
  const size_t states = size_t{1} << (tiles * (workers + 1) + item_bits);
  std::vector<int8_t> cost(states, INT8_MAX);
  const size_t mask = (size_t{1} << tiles) - 1;
  const auto place = [&](int worker) { return tiles * (worker + 1); };
  const int left_place = tiles * (workers + 1);
  std::deque<size_t> open;
  const auto reach = [&](size_t state, int misses, bool at_once) {
    if (misses >= cost[state]) return;
    cost[state] = static_cast<int8_t>(misses);
    if (at_once)
      open.push_front(state);
    else
      open.push_back(state);
  };
  reach(((size_t{1} << item_bits) - 1) << left_place, 0, true);
  while (!open.empty()) {
    const size_t state = open.front();
    open.pop_front();
    const int misses = cost[state];
    if (state >> tiles == 0) return misses;  // no item is left or under way
    const size_t cache = state & mask;
    for (int worker = 0; worker < workers; ++worker) {
      const size_t to_visit = state >> place(worker) & mask;
      if (to_visit == 0) {
        for (int item = 0; item < item_bits; ++item) {
          const size_t bit = size_t{1} << (left_place + item);
          if ((state & bit) != 0)
            reach((state ^ bit) | size_t{items[size_t(item)]} << place(worker), misses, true);
        }
        continue;
      }
      for (int tile = 0; tile < tiles; ++tile) {
        const size_t bit = size_t{1} << tile;
        if ((to_visit & bit) == 0) continue;
        const size_t visited = state ^ bit << place(worker);
        if ((cache & bit) != 0) {
          reach(visited, misses, true);
          continue;
        }
        reach(visited, misses + 1, false);
        if (__builtin_popcountll(cache) < capacity) {
          reach(visited | bit, misses + 1, false);
          continue;
        }
        for (int other = 0; other < tiles; ++other)
          if ((cache >> other & 1) != 0)
            reach((visited | bit) ^ size_t{1} << other, misses + 1, false);
      }
    }
  }
  return -1;
}

}  // namespace sawtooth::tests
