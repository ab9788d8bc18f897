#include "sim/stack_distance.hpp"

#include <algorithm>

namespace sawtooth::sim {
namespace {

// Slack between the number of atoms and the length of time: compaction costs O(atoms) and comes
// once in that many visits.
constexpr int64_t times_per_atom = 4;
constexpr int64_t shortest_time = 1024;

}  // namespace

StackDistance::StackDistance(std::span<const AtomSize> sizes)
    : sizes_(sizes),
      last_(sizes.size(), 0),
      atom_at_(static_cast<size_t>(
          std::max(shortest_time, times_per_atom * static_cast<int64_t>(sizes.size())) + 1)),
      tree_(atom_at_.size(), 0) {}

void StackDistance::add(int64_t time, int64_t lines) {
  const auto size = static_cast<int64_t>(tree_.size());
  for (; time < size; time += time & -time) tree_[static_cast<size_t>(time)] += lines;
}

int64_t StackDistance::sum_up_to(int64_t time) const {
  int64_t sum = 0;
  for (; time > 0; time -= time & -time) sum += tree_[static_cast<size_t>(time)];
  return sum;
}

int64_t StackDistance::visit(AtomId atom) {
  const int64_t lines = sizes_[atom].lines;
  const int64_t last = last_[atom];
  int64_t distance = 0;
  if (last == now_ && last != 0) return 0;
  if (now_ + 1 == static_cast<int64_t>(tree_.size())) {
    compact();
    return visit(atom);
  }
  if (last == 0) {
    distance = cold;
    live_lines_ += lines;
  } else {
    distance = live_lines_ - sum_up_to(last);
    add(last, -lines);
  }
  ++now_;
  add(now_, lines);
  last_[atom] = now_;
  atom_at_[static_cast<size_t>(now_)] = atom;
  return distance;
}

void StackDistance::compact() {
  int64_t dense = 0;
  for (int64_t time = 1; time <= now_; ++time) {
    const AtomId atom = atom_at_[static_cast<size_t>(time)];
    if (last_[atom] != time) continue;
    last_[atom] = ++dense;
    atom_at_[static_cast<size_t>(dense)] = atom;
  }
  now_ = dense;
  std::fill(tree_.begin(), tree_.end(), 0);
  for (int64_t time = 1; time <= now_; ++time) {
    tree_[static_cast<size_t>(time)] = sizes_[atom_at_[static_cast<size_t>(time)]].lines;
  }
  const auto size = static_cast<int64_t>(tree_.size());
  for (int64_t time = 1; time < size; ++time) {
    const int64_t parent = time + (time & -time);
    if (parent < size) tree_[static_cast<size_t>(parent)] += tree_[static_cast<size_t>(time)];
  }
}

}  // namespace sawtooth::sim
